// One message by many ranks is the message that OpenSSL makes, however it is cut and wherever it lies; and what is
// wrong on one rank is wrong on all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cross/failing_memory.h"
#include "cross/message.h"
#include "mpi/message.h"
#include "mpi/ranks.h"

namespace stockade::tests {
namespace {

constexpr stockade_mode team_modes[] = {STOCKADE_ECB, STOCKADE_CTR, STOCKADE_GCM};

// What a rank passes to one of the functions of either kind; `root` UINT32_MAX for a message that is distributed.
struct Call {
  stockade_mpi_team* team = world();
  stockade_direction direction = STOCKADE_ENCRYPT;
  uint32_t root = UINT32_MAX;
  bool sealed = false;
  const stockade_key* key = nullptr;
  const uint8_t* iv = nullptr;
  uint64_t iv_length = 0;
  const uint8_t* aad = nullptr;
  uint64_t aad_length = 0;
  const uint8_t* in = nullptr;
  uint64_t length = 0;
  uint8_t* out = nullptr;
  uint8_t* tag = nullptr;
  uint64_t tag_length = 0;
  const stockade_engine* engine = nullptr;
};

stockade_status call_distributed(const Call& c) {
  stockade_mpi_team* const all = c.team;
  if (!c.sealed) {
    const auto run = c.direction == STOCKADE_ENCRYPT ? stockade_mpi_encrypt : stockade_mpi_decrypt;
    return run(all, c.key, c.iv, c.iv_length, c.in, c.length, c.out, c.engine);
  }
  if (c.direction == STOCKADE_ENCRYPT) {
    return stockade_mpi_seal(all, c.key, c.iv, c.iv_length, c.aad, c.aad_length, c.in, c.length, c.out, c.tag,
                             c.tag_length, c.engine);
  }
  return stockade_mpi_open(all, c.key, c.iv, c.iv_length, c.aad, c.aad_length, c.in, c.length, c.out, c.tag,
                           c.tag_length, c.engine);
}

stockade_status call(const Call& c) {
  if (c.root == UINT32_MAX) return call_distributed(c);
  stockade_mpi_team* const all = c.team;
  if (!c.sealed) {
    const auto run = c.direction == STOCKADE_ENCRYPT ? stockade_mpi_root_encrypt : stockade_mpi_root_decrypt;
    return run(all, c.root, c.key, c.iv, c.iv_length, c.in, c.length, c.out, c.engine);
  }
  if (c.direction == STOCKADE_ENCRYPT) {
    return stockade_mpi_root_seal(all, c.root, c.key, c.iv, c.iv_length, c.aad, c.aad_length, c.in, c.length, c.out,
                                  c.tag, c.tag_length, c.engine);
  }
  return stockade_mpi_root_open(all, c.root, c.key, c.iv, c.iv_length, c.aad, c.aad_length, c.in, c.length, c.out,
                                c.tag, c.tag_length, c.engine);
}

// A rank's side of a message that is the same on all: its buffers, and the call for them. What only the leading rank
// has to give, others give as nothing.
struct Part {
  Call arguments;
  Bytes buffer, out, tag;
  Piece piece;
  const Message& message;
  stockade_direction direction;

  Part(const Message& message_, stockade_direction direction_, uint32_t root, Piece piece_, const stockade_key* key,
       bool in_place)
      : piece(piece_), message(message_), direction(direction_) {
    const bool distributed = root == UINT32_MAX, leads = rank() == (distributed ? 0 : root);
    const Bytes& input = message.input(direction);
    const auto begin = input.begin() + static_cast<ptrdiff_t>(piece.offset);
    if (distributed || leads) buffer.assign(begin, begin + static_cast<ptrdiff_t>(piece.length));
    out.assign(in_place ? 0 : buffer.size(), 0xee);
    tag.assign(message.tag.size(), 0xee);
    if (leads && direction == STOCKADE_DECRYPT) tag = message.tag;
    arguments.direction = direction;
    arguments.root = root;
    arguments.sealed = message.mode == STOCKADE_GCM;
    arguments.key = key;
    arguments.in = buffer.data();
    arguments.length = buffer.size();
    arguments.out = in_place ? buffer.data() : out.data();
    arguments.tag = tag.data();
    if (leads) {
      arguments.iv = message.iv.data();
      arguments.iv_length = message.iv.size();
      arguments.aad = message.aad.data();
      arguments.aad_length = message.aad.size();
      arguments.tag_length = tag.size();
    }
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // Whether output and tag are those of the message.
  testing::AssertionResult is_right() const {
    const Bytes& expected = message.output(direction);
    if (message.mode == STOCKADE_GCM && (arguments.root == UINT32_MAX || rank() == arguments.root) &&
        direction == STOCKADE_ENCRYPT && tag != message.tag) {
      return testing::AssertionFailure() << "another tag";
    }
    if (buffer.empty()) return testing::AssertionSuccess();
    return same_bytes(arguments.out, expected.data() + piece.offset, piece.length);
  }
  bool out_is(uint8_t byte) const {
    return std::all_of(arguments.out, arguments.out + arguments.length, [=](uint8_t b) { return b == byte; });
  }
};

// The same on all ranks.
Message any_message(stockade_mode mode, uint64_t length, RandomSource& random) {
  const auto bits = key_sizes(mode);
  return random_message(mode, bits[random.below(bits.size())], allowed_length(mode, length), random);
}

TEST(Distributed, is_one_message_however_it_is_cut) {
  RandomSource random;
  for (uint64_t i = 0; i < cases(24); ++i) {
    const stockade_mode mode = team_modes[i % 3];
    const Message message = any_message(mode, random.one_in(3) ? random.below(400000) : random.below(2000), random);
    const auto pieces = random_pieces(message.length(), 16, random);
    const Key key = make_key(mode, message.key);
    const auto& engines = all_engines();
    for (const stockade_direction direction : both_directions) {
      Part part(message, direction, UINT32_MAX, pieces[rank()], key.get(), random.one_in(2));
      part.arguments.engine = engines[random.below(engines.size())].engine;
      EXPECT_TRUE(everywhere(call(part.arguments), STOCKADE_OK));
      EXPECT_TRUE(part.is_right()) << message.describe(direction) << ", piece " << part.piece.offset << " + "
                                   << part.piece.length;
    }
  }
}

TEST(FromRoot, is_one_message_whoever_has_it) {
  RandomSource random;
  for (uint64_t i = 0; i < cases(15); ++i) {
    const stockade_mode mode = team_modes[i % 3];
    const Message message = any_message(mode, random.one_in(3) ? random.below(100) : random.below(6 << 20), random);
    const auto root = static_cast<uint32_t>(random.below(ranks()));
    const Key key = make_key(mode, message.key);
    for (const stockade_direction direction : both_directions) {
      Part part(message, direction, root, {0, message.length()}, key.get(), random.one_in(2));
      EXPECT_TRUE(everywhere(call(part.arguments), STOCKADE_OK));
      EXPECT_TRUE(part.is_right()) << message.describe(direction) << ", root " << root;
    }
  }
}

// Long enough for all pieces that can be on their way, several times, and for a last one that is no whole block. The
// root is the slowest, so that it pays to give pieces away to the end.
TEST(FromRoot, goes_round_all_slots) {
  RandomSource random;
  const uint64_t length = 5 * mpi::pieces_in_flight * ranks() * (uint64_t{64} << 10) + 5;
  const Message message = random_message(STOCKADE_GCM, 256, length, random);
  const uint32_t root = odd_one();
  const Key key = make_key(STOCKADE_GCM, message.key, rank() == root ? "gcm:portable" : "");
  for (const bool in_place : {false, true}) {
    Part part(message, STOCKADE_ENCRYPT, root, {0, length}, key.get(), in_place);
    EXPECT_TRUE(everywhere(call(part.arguments), STOCKADE_OK));
    EXPECT_TRUE(part.is_right());
  }
}

TEST(FromRoot, is_cut_into_whole_blocks) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(100); ++i) {
    const uint64_t piece =
        mpi::sent_piece_bytes(random.next() >> random.below(64), static_cast<uint32_t>(random.between(1, 5000)));
    EXPECT_EQ(piece % 16, 0U);
    EXPECT_GE(piece, uint64_t{64} << 10);
    EXPECT_LE(piece, mpi::longest_piece);
  }
}

// Both kinds of call for one message that is not authentic, with a change that only one rank knows of.
TEST(TeamOpening, releases_nothing_that_is_not_authentic) {
  RandomSource random;
  const Message message = any_message(STOCKADE_GCM, 300000, random);
  const Key key = make_key(STOCKADE_GCM, message.key);
  const auto pieces = random_pieces(message.length(), 16, random);
  for (const uint32_t root : {UINT32_MAX, odd_one()}) {
    const Piece piece = root == UINT32_MAX ? pieces[rank()] : Piece{0, message.length()};
    for (const bool in_place : {false, true}) {
      Part part(message, STOCKADE_DECRYPT, root, piece, key.get(), in_place);
      part.tag[0] ^= 1;
      EXPECT_TRUE(everywhere(call(part.arguments), STOCKADE_ERROR_AUTHENTICATION));
      EXPECT_TRUE(part.out_is(0));
    }
    // Of the rank that has the last byte; the hash of all is another then.
    Part part(message, STOCKADE_DECRYPT, root, piece, key.get(), false);
    if (piece.length != 0 && piece.offset + piece.length == message.length() && !part.buffer.empty()) {
      part.buffer.back() ^= 0x80;
    }
    EXPECT_TRUE(everywhere(call(part.arguments), STOCKADE_ERROR_AUTHENTICATION));
    EXPECT_TRUE(part.out_is(0));
    // And the message itself still opens.
    Part intact(message, STOCKADE_DECRYPT, root, piece, key.get(), false);
    EXPECT_TRUE(everywhere(call(intact.arguments), STOCKADE_OK));
    EXPECT_TRUE(intact.is_right());
  }
}

// What is refused before the work leaves the output alone, on all ranks.
class TeamRefusal : public testing::Test {
 protected:
  // Calls with what `change` makes of this rank's arguments.
  template <typename Change>
  void refuses(stockade_status expected, stockade_mode mode, uint32_t root, Change&& change,
               stockade_direction direction = STOCKADE_ENCRYPT) {
    const Message message = any_message(mode, uint64_t{1000} * ranks() / 16 * 16, random_);
    const Key key = make_key(mode, message.key);
    const uint64_t each = message.length() / ranks() / 16 * 16;
    const Piece piece = root == UINT32_MAX ? Piece{rank() * each, is_odd() ? message.length() - rank() * each : each}
                                           : Piece{0, message.length()};
    Part part(message, direction, root, piece, key.get(), false);
    Call arguments = part.arguments;
    change(arguments);
    EXPECT_TRUE(everywhere(call(arguments), expected));
    EXPECT_TRUE(part.out_is(0xee));
  }

  RandomSource random_;
};

TEST_F(TeamRefusal, of_what_is_missing_on_one_rank) {
  for (const uint32_t root : {UINT32_MAX, odd_one()}) {
    const auto expect_null = [&](auto&& change) {
      refuses(STOCKADE_ERROR_NULL_POINTER, STOCKADE_GCM, root, [&](Call& c) {
        if (is_odd()) change(c);
      });
    };
    expect_null([](Call& c) { c.key = nullptr; });
    expect_null([](Call& c) { c.in = nullptr; });
    expect_null([](Call& c) { c.out = nullptr; });
  }
  EXPECT_EQ(stockade_mpi_encrypt(nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr),
            STOCKADE_ERROR_NULL_POINTER);
}

TEST_F(TeamRefusal, of_what_the_leader_is_wrong_in) {
  for (const uint32_t root : {UINT32_MAX, odd_one()}) {
    const auto leads = [=] { return rank() == (root == UINT32_MAX ? 0 : root); };
    const auto expect = [&](stockade_status expected, stockade_mode mode, auto&& change) {
      refuses(expected, mode, root, [&](Call& c) {
        if (leads()) change(c);
      });
    };
    expect(STOCKADE_ERROR_NULL_POINTER, STOCKADE_GCM, [](Call& c) { c.iv = nullptr; });
    expect(STOCKADE_ERROR_NULL_POINTER, STOCKADE_GCM, [](Call& c) { c.tag = nullptr; });
    expect(STOCKADE_ERROR_IV_LENGTH, STOCKADE_GCM, [](Call& c) { c.iv_length = 0; });
    expect(STOCKADE_ERROR_IV_LENGTH, STOCKADE_CTR, [](Call& c) { c.iv_length = 12; });
    expect(STOCKADE_ERROR_TAG_LENGTH, STOCKADE_GCM, [](Call& c) { c.tag_length = 11; });
    expect(STOCKADE_ERROR_TAG_LENGTH, STOCKADE_GCM, [](Call& c) { c.tag_length = 0; });
  }
}

TEST_F(TeamRefusal, of_modes_that_are_not_for_teams) {
  for (const uint32_t root : {UINT32_MAX, odd_one()}) {
    for (const stockade_mode mode : {STOCKADE_CBC, STOCKADE_CFB, STOCKADE_OFB, STOCKADE_XTS}) {
      refuses(STOCKADE_ERROR_MODE, mode, root, [](Call&) {});
    }
    refuses(STOCKADE_ERROR_MODE, STOCKADE_CTR, root, [](Call& c) { c.sealed = true; });
    refuses(STOCKADE_ERROR_MODE, STOCKADE_GCM, root, [](Call& c) { c.sealed = false; });
  }
}

TEST_F(TeamRefusal, of_ranks_that_do_different_things) {
  if (ranks() == 1) return;
  const Key other = make_key(STOCKADE_CTR, Bytes(32, 1));
  for (const uint32_t root : {UINT32_MAX, 0U}) {
    const auto expect = [&](stockade_mode mode, auto&& change) {
      refuses(STOCKADE_ERROR_MISMATCH, mode, root, [&](Call& c) {
        if (is_odd()) change(c);
      });
    };
    expect(STOCKADE_CTR, [&](Call& c) { c.key = other.get(); });
    expect(STOCKADE_CTR, [&](Call& c) { c.direction = STOCKADE_DECRYPT; });
    expect(STOCKADE_GCM, [&](Call& c) {
      c.key = other.get();
      c.sealed = false;
    });
  }
  refuses(STOCKADE_ERROR_MISMATCH, STOCKADE_ECB, 0, [](Call& c) {
    if (is_odd()) c.root = UINT32_MAX;
  });
  refuses(STOCKADE_ERROR_MISMATCH, STOCKADE_ECB, 0, [](Call& c) {
    if (is_odd()) c.root = 1 % ranks();
  });
  refuses(STOCKADE_ERROR_ARGUMENT, STOCKADE_ECB, 0, [](Call& c) { c.root = ranks(); });
}

TEST_F(TeamRefusal, of_bytes_that_overlap_or_do_not_fit) {
  refuses(STOCKADE_ERROR_OVERLAP, STOCKADE_CTR, UINT32_MAX, [](Call& c) {
    if (is_odd()) c.in = c.out + 16;
  });
  refuses(STOCKADE_ERROR_DATA_LENGTH, STOCKADE_ECB, UINT32_MAX, [](Call& c) {
    if (is_odd()) c.length -= 1;
  });
  if (ranks() == 1) return;
  // A piece that ends within a block and is not the last.
  for (const stockade_mode mode : {STOCKADE_CTR, STOCKADE_GCM}) {
    refuses(STOCKADE_ERROR_DATA_LENGTH, mode, UINT32_MAX, [](Call& c) {
      if (rank() == 0) c.length -= 1;
    });
  }
  // Each piece could be a message, and all together cannot. Nobody looks at memory that is not there.
  auto* const nowhere = reinterpret_cast<uint8_t*>(uintptr_t{1} << 62);
  refuses(STOCKADE_ERROR_DATA_TOO_LONG, STOCKADE_GCM, UINT32_MAX, [&](Call& c) {
    c.in = c.out = nowhere;
    c.length = (uint64_t{1} << 36) - 64;
  });
}

// The last one in a message may be the only one with bytes that fill no block.
TEST(Distributed, may_end_with_empty_pieces) {
  RandomSource random;
  for (uint32_t holder = 0; holder < ranks(); ++holder) {
    const Message message = any_message(STOCKADE_GCM, 16 * random.below(10) + 5, random);
    const Key key = make_key(STOCKADE_GCM, message.key);
    const Piece piece = {rank() <= holder ? 0 : message.length(), rank() == holder ? message.length() : 0};
    Part part(message, STOCKADE_ENCRYPT, UINT32_MAX, piece, key.get(), false);
    EXPECT_TRUE(everywhere(call(part.arguments), STOCKADE_OK));
    EXPECT_TRUE(part.is_right()) << message.describe(STOCKADE_ENCRYPT);
  }
}

TEST(FromRoot, says_on_all_ranks_that_one_has_no_memory) {
  RandomSource random;
  const Message message = any_message(STOCKADE_GCM, 500000, random);
  const Key key = make_key(STOCKADE_GCM, message.key);
  Part part(message, STOCKADE_ENCRYPT, 0, {0, message.length()}, key.get(), false);
  // One that has kept no memory from a call before.
  stockade_mpi_team* fresh = nullptr;
  EXPECT_TRUE(everywhere(stockade_mpi_team_create(&fresh, MPI_COMM_WORLD), STOCKADE_OK));
  part.arguments.team = fresh;
  stockade_status status;
  {
    const FailingMemory memory(is_odd() ? 0 : UINT64_MAX);
    status = call(part.arguments);
  }
  stockade_mpi_team_free(fresh);
  // A root that is alone needs none.
  EXPECT_TRUE(everywhere(status, ranks() == 1 ? STOCKADE_OK : STOCKADE_ERROR_MEMORY));
  if (ranks() > 1) {
    EXPECT_TRUE(part.out_is(0xee));
  }
}

}  // namespace
}  // namespace stockade::tests
