// What ranks agree on: verdicts, broadcasts, counters, keys, engines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "capi/handles.h"
#include "cipher/key.h"
#include "cross/failing_memory.h"
#include "mpi/communicator.h"
#include "mpi/ranks.h"

namespace stockade::tests {
namespace {

TEST(Team, knows_its_place) {
  EXPECT_LT(rank(), ranks());
  EXPECT_LT(stockade_mpi_local_rank(world()), stockade_mpi_local_size(world()));
  EXPECT_LE(stockade_mpi_local_size(world()), ranks());
  std::vector<uint32_t> all(ranks());
  const uint32_t own = rank();
  EXPECT_TRUE(everywhere(stockade_mpi_gather(world(), &own, sizeof own, all.data()), STOCKADE_OK));
  for (uint32_t i = 0; i < ranks(); ++i) EXPECT_EQ(all[i], i);
  EXPECT_NE(std::string(stockade_mpi_library()), "");
  EXPECT_GT(stockade_mpi_seconds(world()), 0);
  EXPECT_EQ(stockade_mpi_rank(nullptr), 0U);
  EXPECT_EQ(stockade_mpi_size(nullptr), 1U);
}

TEST(Team, agrees_on_what_the_lowest_rank_says) {
  uint32_t whose = 0;
  EXPECT_TRUE(everywhere(stockade_mpi_agree(world(), STOCKADE_OK, &whose), STOCKADE_OK));
  EXPECT_EQ(whose, UINT32_MAX);
  for (uint32_t first = 0; first < ranks(); ++first) {
    const stockade_status mine = rank() < first    ? STOCKADE_OK
                                 : rank() == first ? STOCKADE_ERROR_IO
                                                   : STOCKADE_ERROR_MEMORY;
    errno = rank() == first ? ENOSPC : EAGAIN;
    EXPECT_TRUE(everywhere(stockade_mpi_agree(world(), mine, &whose), STOCKADE_ERROR_IO));
    EXPECT_EQ(whose, first);
  }
  errno = rank() == odd_one() ? ENOSPC : 0;
  const stockade_status agreed = stockade_mpi_agree(world(), is_odd() ? STOCKADE_ERROR_IO : STOCKADE_OK, nullptr);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(agreed, STOCKADE_ERROR_IO);
  EXPECT_EQ(stockade_mpi_agree(nullptr, STOCKADE_OK, nullptr), STOCKADE_ERROR_NULL_POINTER);
}

TEST(Team, broadcasts_from_any_rank) {
  RandomSource random;
  for (uint32_t root = 0; root < ranks(); ++root) {
    const Bytes sent = random.bytes(random.below(100000));
    Bytes got = rank() == root ? sent : Bytes(sent.size());
    EXPECT_TRUE(everywhere(stockade_mpi_broadcast(world(), root, got.data(), got.size()), STOCKADE_OK));
    EXPECT_EQ(got, sent);
  }
  uint8_t byte = 0;
  EXPECT_TRUE(everywhere(stockade_mpi_broadcast(world(), ranks(), &byte, 1), STOCKADE_ERROR_ARGUMENT));
  EXPECT_TRUE(
      everywhere(stockade_mpi_broadcast(world(), 0, is_odd() ? nullptr : &byte, 1), STOCKADE_ERROR_NULL_POINTER));
  if (ranks() > 1) {
    EXPECT_TRUE(everywhere(stockade_mpi_broadcast(world(), 0, &byte, is_odd() ? 0 : 1), STOCKADE_ERROR_MISMATCH));
  }
}

TEST(Team, refuses_to_gather_too_much) {
  Bytes all(ranks());
  EXPECT_TRUE(everywhere(stockade_mpi_gather(world(), all.data(), (1 << 20) + 1, all.data()), STOCKADE_ERROR_ARGUMENT));
  uint8_t byte = 0;
  EXPECT_TRUE(
      everywhere(stockade_mpi_gather(world(), &byte, 1, is_odd() ? nullptr : all.data()), STOCKADE_ERROR_NULL_POINTER));
}

TEST(Team, of_another_build_is_refused) {
  mpi::Communicator team;
  const stockade_status opened = team.open(MPI_COMM_WORLD, is_odd() ? 2 : 1);
  EXPECT_TRUE(everywhere(opened, ranks() == 1 ? STOCKADE_OK : STOCKADE_ERROR_MISMATCH));
}

TEST(Team, is_made_of_what_can_be_a_team) {
  stockade_mpi_team* team = nullptr;
  EXPECT_EQ(stockade_mpi_team_create(&team, MPI_COMM_NULL), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(stockade_mpi_team_create(nullptr, MPI_COMM_WORLD), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(team, nullptr);
  EXPECT_TRUE(everywhere(stockade_mpi_team_create(&team, MPI_COMM_WORLD), STOCKADE_OK));
  stockade_mpi_team_free(team);
  // A team of its own for each rank: a call of one does not wait for the others.
  team = nullptr;
  EXPECT_TRUE(everywhere(stockade_mpi_team_create(&team, MPI_COMM_SELF), STOCKADE_OK));
  EXPECT_EQ(stockade_mpi_size(team), 1U);
  for (uint32_t i = 0; i < rank(); ++i) EXPECT_EQ(stockade_mpi_agree(team, STOCKADE_OK, nullptr), STOCKADE_OK);
  stockade_mpi_team_free(team);
  stockade_mpi_team_free(nullptr);
}

TEST(Team, of_an_intercommunicator_is_refused) {
  if (ranks() == 1) return;
  MPI_Comm half, between;
  const int first = rank() < ranks() / 2 ? 1 : 0;
  EXPECT_EQ(MPI_Comm_split(MPI_COMM_WORLD, first, 0, &half), MPI_SUCCESS);
  EXPECT_EQ(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first != 0 ? static_cast<int>(ranks() / 2) : 0, 1, &between),
            MPI_SUCCESS);
  stockade_mpi_team* team = nullptr;
  EXPECT_TRUE(everywhere(stockade_mpi_team_create(&team, between), STOCKADE_ERROR_ARGUMENT));
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

TEST(TeamShare, covers_everything_once) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(200); ++i) {
    const uint64_t items = random.one_in(3) ? random.below(10) : random.next() >> random.below(64);
    const auto count = static_cast<uint32_t>(random.between(1, 20));
    uint64_t before = 0;
    for (uint32_t index = 0; index < count; ++index) {
      uint64_t begin = 0, end = 0;
      EXPECT_EQ(stockade_mpi_share(items, index, count, &begin, &end), STOCKADE_OK);
      EXPECT_EQ(begin, before);
      EXPECT_TRUE(end - begin == items / count || end - begin == items / count + 1);
      before = end;
    }
    EXPECT_EQ(before, items);
  }
  uint64_t begin, end;
  EXPECT_EQ(stockade_mpi_share(1, 1, 1, &begin, &end), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(stockade_mpi_share(1, 0, 0, &begin, &end), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(stockade_mpi_share(1, 0, 1, nullptr, &end), STOCKADE_ERROR_NULL_POINTER);
}

TEST(TeamCounter, gives_each_number_once) {
  constexpr uint64_t each = 50;
  stockade_mpi_counter* counter = nullptr;
  EXPECT_TRUE(everywhere(stockade_mpi_counter_create(&counter, world()), STOCKADE_OK));
  uint64_t own[each];
  for (uint64_t& number : own) EXPECT_EQ(stockade_mpi_counter_next(counter, &number), STOCKADE_OK);
  EXPECT_TRUE(std::is_sorted(own, own + each));
  EXPECT_EQ(stockade_mpi_counter_next(counter, nullptr), STOCKADE_ERROR_NULL_POINTER);
  std::vector<uint64_t> all(each * ranks()), expected(all.size());
  EXPECT_TRUE(everywhere(stockade_mpi_gather(world(), own, sizeof own, all.data()), STOCKADE_OK));
  std::sort(all.begin(), all.end());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
  stockade_mpi_counter_free(counter);
  EXPECT_TRUE(
      everywhere(stockade_mpi_counter_create(is_odd() ? nullptr : &counter, world()), STOCKADE_ERROR_NULL_POINTER));
}

TEST(TeamKey, is_what_the_root_has) {
  RandomSource random;
  for (const stockade_mode mode : {STOCKADE_ECB, STOCKADE_XTS, STOCKADE_GCM}) {
    const auto root = static_cast<uint32_t>(random.below(ranks()));
    const Bytes bytes = random.bytes(key_bytes(mode, 256)), block = random.bytes(16), iv = random.bytes(iv_bytes(mode));
    const bool leads = rank() == root;
    stockade_key* made = nullptr;
    EXPECT_TRUE(everywhere(stockade_mpi_key_create(&made, world(), root, leads ? mode : STOCKADE_OFB,
                                                   leads ? bytes.data() : nullptr, leads ? bytes.size() : 7, nullptr),
                           STOCKADE_OK));
    const Key key(made), expected = make_key(mode, bytes);
    EXPECT_EQ(stockade_key_mode(made), mode);
    uint8_t out[16] = {}, own[16] = {}, tag[16] = {}, own_tag[16] = {};
    if (mode == STOCKADE_GCM) {
      stockade_seal(expected.get(), iv.data(), iv.size(), nullptr, 0, block.data(), 16, out, tag, 16, nullptr);
      EXPECT_EQ(stockade_seal(made, iv.data(), iv.size(), nullptr, 0, block.data(), 16, own, own_tag, 16, nullptr),
                STOCKADE_OK);
    } else {
      stockade_encrypt(expected.get(), iv.data(), iv.size(), block.data(), 16, out, nullptr);
      EXPECT_EQ(stockade_encrypt(made, iv.data(), iv.size(), block.data(), 16, own, nullptr), STOCKADE_OK);
    }
    EXPECT_EQ(std::memcmp(out, own, 16), 0);
    EXPECT_EQ(std::memcmp(tag, own_tag, 16), 0);
  }
}

TEST(TeamKey, fails_everywhere_or_nowhere) {
  const Bytes bytes(32, 7);
  stockade_key* key = nullptr;
  const auto create = [&](stockade_key** to, uint32_t root, stockade_mode mode, uint64_t length, const char* force) {
    return stockade_mpi_key_create(to, world(), root, mode, length == 0 ? nullptr : bytes.data(), length, force);
  };
  EXPECT_TRUE(everywhere(create(&key, odd_one(), STOCKADE_CTR, 17, nullptr), STOCKADE_ERROR_KEY_LENGTH));
  EXPECT_TRUE(everywhere(create(&key, 0, STOCKADE_CTR, 65, nullptr), STOCKADE_ERROR_KEY_LENGTH));
  EXPECT_TRUE(everywhere(create(&key, 0, STOCKADE_XTS, 32, nullptr), STOCKADE_ERROR_WEAK_KEY));
  EXPECT_TRUE(
      everywhere(create(&key, 0, STOCKADE_CTR, 32, is_odd() ? "aes:abacus" : nullptr), STOCKADE_ERROR_UNKNOWN_NAME));
  EXPECT_TRUE(everywhere(create(&key, 0, out_of_range<stockade_mode>(7), 32, nullptr), STOCKADE_ERROR_ARGUMENT));
  EXPECT_TRUE(everywhere(create(&key, ranks(), STOCKADE_CTR, 32, nullptr), STOCKADE_ERROR_ARGUMENT));
  EXPECT_TRUE(everywhere(create(is_odd() ? nullptr : &key, 0, STOCKADE_CTR, 32, nullptr), STOCKADE_ERROR_NULL_POINTER));
  if (ranks() > 1) {
    EXPECT_TRUE(everywhere(create(&key, is_odd() ? 1 : 0, STOCKADE_CTR, 32, nullptr), STOCKADE_ERROR_MISMATCH));
  }
  stockade_status status;
  {
    const FailingMemory memory(is_odd() ? 0 : UINT64_MAX);
    status = create(&key, 0, STOCKADE_CTR, 32, nullptr);
  }
  EXPECT_TRUE(everywhere(status, STOCKADE_ERROR_MEMORY));
  EXPECT_EQ(key, nullptr);
}

TEST(TeamEngine, shares_the_cores_of_a_machine) {
  stockade_engine* engine = nullptr;
  EXPECT_TRUE(everywhere(stockade_mpi_engine_create(&engine, world(), "threads", 0), STOCKADE_OK));
  stockade_machine machine;
  EXPECT_EQ(stockade_machine_get(&machine), STOCKADE_OK);
  std::vector<uint32_t> threads(ranks());
  const uint32_t own = engine == nullptr ? 0 : engine->wish.threads;
  EXPECT_TRUE(everywhere(stockade_mpi_gather(world(), &own, sizeof own, threads.data()), STOCKADE_OK));
  EXPECT_GE(own, 1U);
  EXPECT_LE(own, std::max<uint32_t>(1, machine.cores));
  // On one machine no core has two of them, unless there are more ranks than cores.
  const bool one_machine = stockade_mpi_local_size(world()) == ranks();
  if (one_machine && std::getenv("OMP_NUM_THREADS") == nullptr && std::getenv("STOCKADE_THREADS") == nullptr) {
    EXPECT_LE(std::accumulate(threads.begin(), threads.end(), 0U), std::max(ranks(), machine.cores));
  }
  stockade_engine_free(engine);
  engine = nullptr;
  EXPECT_TRUE(everywhere(stockade_mpi_engine_create(&engine, world(), "threads", 3), STOCKADE_OK));
  EXPECT_EQ(engine->wish.threads, 3U);
  stockade_engine_free(engine);
  engine = nullptr;
  EXPECT_TRUE(everywhere(stockade_mpi_engine_create(&engine, world(), is_odd() ? "abacus" : "auto", 0),
                         STOCKADE_ERROR_UNKNOWN_NAME));
  EXPECT_TRUE(everywhere(stockade_mpi_engine_create(is_odd() ? nullptr : &engine, world(), "auto", 0),
                         STOCKADE_ERROR_NULL_POINTER));
  EXPECT_EQ(engine, nullptr);
}

}  // namespace
}  // namespace stockade::tests
