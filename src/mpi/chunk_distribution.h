// One plaintext that ranks have in pieces, cut anywhere, and its chunks: who seals which, and what of the plaintext
// must be sent to whom for that. A chunk is sealed by the rank that has its first byte; so no rank sends more than the
// beginning of its piece, less than a chunk, and to one other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"

namespace stockade::mpi {

struct Extent {
  uint64_t offset, length;
  uint64_t end() const { return offset + length; }
};

class ChunkDistribution {
 public:
  // The pieces of all ranks, in their order, must cover the plaintext from 0 on, each byte once. ARGUMENT,
  // TOO_MANY_CHUNKS; throws std::bad_alloc.
  Status make(std::vector<Extent> pieces);

  uint64_t length() const { return length_; }
  // The last one is shorter than the others, and may be empty.
  uint64_t chunks() const;
  const Extent& piece(uint32_t rank) const { return pieces_[rank]; }

  // The chunks that a rank seals: those from `first` to before `end`.
  struct Duty {
    uint64_t first, end;
  };
  Duty duty(uint32_t rank) const;

  // Bytes of the plaintext that a rank has and another needs.
  struct Fragment {
    uint32_t rank;  // the other
    uint64_t offset, length;
  };
  // What this rank has of a chunk that another one seals; a length of 0 for nothing.
  Fragment head(uint32_t rank) const;
  // What other ranks have of the last chunk that this one seals. Throws std::bad_alloc.
  std::vector<Fragment> tails(uint32_t rank) const;

 private:
  uint32_t owner(uint64_t byte) const;

  std::vector<Extent> pieces_;
  std::vector<uint32_t> order_;  // ranks that have something, by its place
  uint64_t length_ = 0;
};

}  // namespace stockade::mpi
