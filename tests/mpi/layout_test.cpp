// Who seals which chunk, against the rules said byte by byte. No messages: each rank tries cases of its own.
#include "mpi/chunk_distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "chunked/payload.h"
#include "mpi/ranks.h"

namespace stockade::tests {
namespace {

using chunked::chunk_bytes;
using mpi::ChunkDistribution;
using mpi::Extent;

// Any number of pieces, in any order, with cuts near chunk boundaries more often than elsewhere.
std::vector<Extent> random_team(uint64_t length, RandomSource& random) {
  std::vector<uint64_t> cuts = {0, length};
  for (uint64_t i = random.below(9); i != 0; --i) {
    const uint64_t near = random.below(length / chunk_bytes + 1) * chunk_bytes + random.below(3);
    cuts.push_back(random.one_in(2) ? std::min(length, near - std::min<uint64_t>(near, 1)) : random.below(length + 1));
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<Extent> pieces;
  for (size_t i = 1; i < cuts.size(); ++i) pieces.push_back({cuts[i - 1], cuts[i] - cuts[i - 1]});
  for (size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[random.below(i)]);
  // Where nothing is has no meaning.
  for (Extent& piece : pieces) {
    if (piece.length == 0 && random.one_in(2)) piece.offset = random.next();
  }
  return pieces;
}

uint32_t who_has(const std::vector<Extent>& pieces, uint64_t byte) {
  for (uint32_t rank = 0; rank < pieces.size(); ++rank) {
    if (byte >= pieces[rank].offset && byte - pieces[rank].offset < pieces[rank].length) return rank;
  }
  return UINT32_MAX;
}

// The rule of team_layout.h. The empty chunk behind a plaintext of whole chunks goes with the last byte.
uint32_t who_seals(const std::vector<Extent>& pieces, uint64_t chunk, uint64_t length) {
  if (length == 0) return 0;
  return who_has(pieces, std::min(chunk * chunk_bytes, length - 1));
}

TEST(ChunkDistribution, gives_each_chunk_to_the_rank_with_its_first_byte) {
  RandomSource random("layout " + std::to_string(rank()));
  for (uint64_t i = 0; i < scaled(300); ++i) {
    const uint64_t length = random.one_in(3) ? random.below(6) * chunk_bytes : random.below(6 * chunk_bytes);
    const auto pieces = random_team(length, random);
    ChunkDistribution layout;
    EXPECT_EQ(layout.make(pieces), STOCKADE_OK);
    EXPECT_EQ(layout.length(), length);
    EXPECT_EQ(layout.chunks(), length / chunk_bytes + 1);
    for (uint64_t chunk = 0; chunk < layout.chunks(); ++chunk) {
      for (uint32_t one = 0; one < pieces.size(); ++one) {
        const auto [first, end] = layout.duty(one);
        EXPECT_EQ(chunk >= first && chunk < end, one == who_seals(pieces, chunk, length)) << chunk << " of " << length;
      }
    }
  }
}

TEST(ChunkDistribution, sends_every_byte_of_a_shared_chunk_to_its_owner) {
  RandomSource random("fragments " + std::to_string(rank()));
  uint64_t sent = 0;
  for (uint64_t i = 0; i < scaled(300); ++i) {
    const uint64_t length = random.below(4 * chunk_bytes);
    const auto pieces = random_team(length, random);
    ChunkDistribution layout;
    EXPECT_EQ(layout.make(pieces), STOCKADE_OK);
    std::vector<std::vector<ChunkDistribution::Fragment>> tails;
    for (uint32_t one = 0; one < pieces.size(); ++one) tails.push_back(layout.tails(one));
    uint64_t received = 0;
    for (uint32_t one = 0; one < pieces.size(); ++one) {
      const ChunkDistribution::Fragment head = layout.head(one);
      for (const auto& tail : tails[one]) received += tail.length;
      if (head.length == 0) continue;
      sent += head.length;
      // From the piece's begin to the end of the chunk or of the piece.
      const uint64_t chunk = pieces[one].offset / chunk_bytes;
      EXPECT_EQ(head.rank, who_seals(pieces, chunk, length));
      EXPECT_EQ(head.offset, pieces[one].offset);
      EXPECT_EQ(head.length, std::min(pieces[one].end(), (chunk + 1) * chunk_bytes) - head.offset);
      const auto& to = tails[head.rank];
      EXPECT_TRUE(std::any_of(to.begin(), to.end(), [&](const ChunkDistribution::Fragment& tail) {
        return tail.rank == one && tail.offset == head.offset && tail.length == head.length;
      }));
      received -= head.length;
    }
    EXPECT_EQ(received, 0U);
  }
  EXPECT_NE(sent, 0U);
}

TEST(ChunkDistribution, refuses_gaps_overlaps_and_too_much) {
  ChunkDistribution layout;
  EXPECT_EQ(layout.make({{0, 10}, {11, 5}}), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(layout.make({{1, 10}}), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(layout.make({{0, 10}, {9, 5}}), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(layout.make({{0, 10}, {0, 10}}), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(layout.make({{0, UINT64_MAX}, {UINT64_MAX, 2}}), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(layout.make({{0, uint64_t{1} << 52}}), STOCKADE_ERROR_TOO_MANY_CHUNKS);
  EXPECT_EQ(layout.make({{0, (uint64_t{1} << 52) - 1}}), STOCKADE_OK);
  EXPECT_EQ(layout.make({{10, 5}, {7, 0}, {0, 10}}), STOCKADE_OK);
}

}  // namespace
}  // namespace stockade::tests
