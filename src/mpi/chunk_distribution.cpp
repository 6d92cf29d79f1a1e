#include "mpi/chunk_distribution.h"

#include <algorithm>
#include <utility>

#include "chunked/payload.h"

namespace stockade::mpi {

Status ChunkDistribution::make(std::vector<Extent> pieces) {
  pieces_ = std::move(pieces);
  order_.clear();
  for (uint32_t rank = 0; rank < pieces_.size(); ++rank) {
    if (pieces_[rank].length != 0) order_.push_back(rank);
  }
  std::sort(order_.begin(), order_.end(),
            [&](uint32_t a, uint32_t b) { return pieces_[a].offset < pieces_[b].offset; });
  length_ = 0;
  for (const uint32_t rank : order_) {
    if (pieces_[rank].offset != length_ || pieces_[rank].length > UINT64_MAX - length_) return STOCKADE_ERROR_ARGUMENT;
    length_ = pieces_[rank].end();
  }
  return length_ / chunked::chunk_bytes < chunked::max_chunks ? STOCKADE_OK : STOCKADE_ERROR_TOO_MANY_CHUNKS;
}

uint64_t ChunkDistribution::chunks() const { return length_ / chunked::chunk_bytes + 1; }

ChunkDistribution::Duty ChunkDistribution::duty(uint32_t rank) const {
  const Extent& piece = pieces_[rank];
  if (order_.empty()) return {0, rank == 0 ? 1U : 0U};
  if (piece.length == 0) return {0, 0};
  const uint64_t first = (piece.offset + chunked::chunk_bytes - 1) / chunked::chunk_bytes;
  // The last chunk has no first byte where it is empty: it goes with the last byte of all.
  const uint64_t end =
      piece.end() == length_ ? chunks() : (piece.end() + chunked::chunk_bytes - 1) / chunked::chunk_bytes;
  return {first, std::max(first, end)};
}

ChunkDistribution::Fragment ChunkDistribution::head(uint32_t rank) const {
  const Extent& piece = pieces_[rank];
  const uint64_t before = piece.offset % chunked::chunk_bytes;
  if (before == 0 || piece.length == 0) return {rank, piece.offset, 0};
  return {owner(piece.offset - before), piece.offset, std::min(piece.length, chunked::chunk_bytes - before)};
}

std::vector<ChunkDistribution::Fragment> ChunkDistribution::tails(uint32_t rank) const {
  std::vector<Fragment> found;
  const Duty own = duty(rank);
  if (own.first == own.end) return found;
  const uint64_t end = std::min(own.end * chunked::chunk_bytes, length_);
  auto next = std::upper_bound(order_.begin(), order_.end(), pieces_[rank].offset,
                               [&](uint64_t offset, uint32_t other) { return offset < pieces_[other].offset; });
  for (; next != order_.end() && pieces_[*next].offset < end; ++next) {
    const Extent& piece = pieces_[*next];
    found.push_back({*next, piece.offset, std::min(piece.length, end - piece.offset)});
  }
  return found;
}

// Who has a byte of the plaintext.
uint32_t ChunkDistribution::owner(uint64_t byte) const {
  const auto behind = std::upper_bound(order_.begin(), order_.end(), byte,
                                       [&](uint64_t offset, uint32_t other) { return offset < pieces_[other].offset; });
  return behind[-1];
}

}  // namespace stockade::mpi
