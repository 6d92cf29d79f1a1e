// What the tests of teams share. Every rank runs all tests in the same order, each with its own GoogleTest, whose
// checks are local: a test goes on behind a check that fails, for the other ranks wait in the next call. So there is no
// ASSERT here.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cross/handles.h"
#include "cross/random_source.h"
#include "stockade/stockade_mpi.h"

namespace stockade::tests {

// All processes of the program.
stockade_mpi_team* world();
inline uint32_t rank() { return stockade_mpi_rank(world()); }
inline uint32_t ranks() { return stockade_mpi_size(world()); }
// Of several ranks the one that behaves badly: not the one that leads, if there is another.
inline uint32_t odd_one() { return ranks() - 1; }
inline bool is_odd() { return rank() == odd_one(); }

// As scaled(), but less of it where ranks are likely to share cores: MPICH's wait for each other by turning in circles.
inline uint64_t cases(uint64_t count) { return scaled(ranks() > 2 ? (count + 2) / 3 : count); }

// The status of a call, and whether all ranks had the same.
testing::AssertionResult everywhere(stockade_status got, stockade_status expected);

// A piece of `length` bytes for each rank, some of them empty, cut at multiples of `step`. The same on every rank if
// `random` is.
struct Piece {
  uint64_t offset, length;
};
std::vector<Piece> random_pieces(uint64_t length, uint64_t step, RandomSource& random);

// A folder that rank 0 makes and removes with all that is in it.
class SharedFolder {
 public:
  SharedFolder();
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder();
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Names of what is in it.
  std::vector<std::string> names() const;

 private:
  std::string path_;
};

// Nobody goes on before all have come here.
void meet();

}  // namespace stockade::tests
