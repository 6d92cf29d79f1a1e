// Entry of a test program that mpirun starts: one seed for all ranks; rank 0 reports, the others only what fails; and
// the program fails everywhere if a rank has failed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "mpi/ranks.h"

namespace stockade::tests {
namespace {

stockade_mpi_team* team = nullptr;

class FailuresOnly final : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %u: %s:%d: %s\n", rank(), result.file_name(), result.line_number(), result.message());
  }
};

// The seed of rank 0 for all, before anybody else draws from one.
void share_seed() {
  uint64_t seed = rank() == 0 ? test_seed() : 0;
  if (stockade_mpi_broadcast(team, 0, &seed, sizeof seed) != STOCKADE_OK) throw std::runtime_error("no common seed");
  setenv("STOCKADE_TEST_SEED", std::to_string(seed).c_str(), 1);
  if (rank() != 0) return;
  std::printf("%s, %u ranks, STOCKADE_TEST_SEED=%llu STOCKADE_TEST_SCALE=%llu\n", stockade_mpi_library(), ranks(),
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(test_scale()));
}

int run_tests(int argc, char** argv) {
  if (const stockade_status status = stockade_mpi_team_start(&team, &argc, &argv); status != STOCKADE_OK) {
    std::fprintf(stderr, "no team: %s\n", stockade_status_text(status));
    return EXIT_FAILURE;
  }
  share_seed();
  testing::InitGoogleTest(&argc, argv);
  if (rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  const bool passed = RUN_ALL_TESTS() == 0;
  const stockade_status all = stockade_mpi_agree(team, passed ? STOCKADE_OK : STOCKADE_ERROR_STATE, nullptr);
  stockade_mpi_team_free(team);
  return all == STOCKADE_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

stockade_mpi_team* world() { return team; }

testing::AssertionResult everywhere(stockade_status got, stockade_status expected) {
  std::vector<stockade_status> all(ranks());
  if (stockade_mpi_gather(team, &got, sizeof got, all.data()) != STOCKADE_OK) {
    return testing::AssertionFailure() << "the ranks cannot be asked";
  }
  if (std::all_of(all.begin(), all.end(), [&](stockade_status status) { return status == expected; })) {
    return testing::AssertionSuccess();
  }
  auto failure = testing::AssertionFailure() << "expected " << stockade_status_name(expected) << ", got";
  for (const stockade_status status : all) failure << " " << stockade_status_name(status);
  return failure;
}

std::vector<Piece> random_pieces(uint64_t length, uint64_t step, RandomSource& random) {
  std::vector<uint64_t> cuts;
  for (uint32_t i = 1; i < ranks(); ++i) {
    // Some coincide with another or with an end.
    const bool repeats = random.one_in(4);
    cuts.push_back(repeats && !cuts.empty() ? cuts.back() : random.below(length / step + 1) * step);
  }
  if (random.one_in(4)) std::fill(cuts.begin(), cuts.end(), random.one_in(2) ? 0 : length / step * step);
  std::sort(cuts.begin(), cuts.end());
  cuts.push_back(length);
  std::vector<Piece> pieces;
  uint64_t begin = 0;
  for (const uint64_t end : cuts) {
    pieces.push_back({begin, end - begin});
    begin = end;
  }
  return pieces;
}

SharedFolder::SharedFolder() {
  char name[64] = "/tmp/stockade-team-XXXXXX";
  const bool made = rank() != 0 || mkdtemp(name) != nullptr;
  if (stockade_mpi_agree(team, made ? STOCKADE_OK : STOCKADE_ERROR_IO, nullptr) != STOCKADE_OK ||
      stockade_mpi_broadcast(team, 0, name, sizeof name) != STOCKADE_OK) {
    throw std::runtime_error("no common folder");
  }
  path_ = name;
}

SharedFolder::~SharedFolder() {
  meet();
  std::error_code ignored;
  if (rank() == 0) std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> SharedFolder::names() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    found.push_back(entry.path().filename().string());
  return found;
}

void meet() { EXPECT_EQ(stockade_mpi_agree(team, STOCKADE_OK, nullptr), STOCKADE_OK); }

}  // namespace stockade::tests

int main(int argc, char** argv) { return stockade::tests::run_tests(argc, argv); }
