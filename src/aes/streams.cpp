#include <algorithm>

#include "aes/modes.h"
#include "base/secret.h"

namespace stockade::aes {

namespace {

Chain chain_of(Mode mode) {
  if (mode == STOCKADE_CBC) return Chain::cbc_encrypt;
  return mode == STOCKADE_CFB ? Chain::cfb_encrypt : Chain::ofb;
}

// What a lane has still to do. A last partial block (CFB, OFB) runs as a whole one on `scratch`, so that it shares its
// latency with the blocks of the other lanes.
struct Progress {
  uint64_t blocks;
  uint64_t rest;      // bytes behind the whole blocks
  uint8_t* rest_out;  // where the bytes in `scratch` belong; null before the partial block is begun
  uint8_t scratch[block_bytes];
};

// Lines that share a set of the first-level cache: 4 KiB apart in the usual 64 sets of 64 bytes.
constexpr uint32_t cache_sets = 64;
uint32_t cache_set(const uint8_t* address) { return reinterpret_cast<uintptr_t>(address) / 64 % cache_sets; }

// The row's lanes, each busy with one message: a comb that moves on by as many blocks as its shortest tooth has left.
class Comb {
 public:
  Comb(Mode mode, const Variant& variant) : chain_(chain_of(mode)), variant_(variant) {}
  Comb(const Comb&) = delete;
  Comb& operator=(const Comb&) = delete;
  ~Comb() {
    wipe(lanes_, sizeof lanes_);
    wipe(progress_, sizeof progress_);
  }

  bool empty() const { return count_ == 0; }

  // Whether a message as long as this should join those under way. Every kernel call has a price, and lanes that end
  // one by one make many short calls; so messages of like length begin together, and others join only those that last.
  bool takes(uint64_t length) const {
    if (count_ == 0 || fresh_) return count_ < variant_.lanes;
    return count_ <= variant_.lanes / 2 && shortest() > length / block_bytes / 4;
  }

  void add(const StreamMessage& message) {
    fresh_ = true;
    Lane& lane = lanes_[count_];
    lane.schedule = &message.key->data;
    lane.in = message.in;
    lane.out = message.out;
    std::memcpy(lane.chain, message.iv, block_bytes);
    Progress& progress = progress_[count_];
    progress.blocks = message.length / block_bytes;
    progress.rest = message.length % block_bytes;
    progress.rest_out = nullptr;
    ++count_;
    if (progress.blocks == 0) finish_blocks(count_ - 1);
  }

  // Runs every lane to the next end of one, and frees the lanes that are done.
  void advance() {
    if (fresh_ && crowded()) stagger();
    fresh_ = false;
    const uint64_t blocks = shortest();
    if (count_ == 1) {
      Lane& lane = lanes_[0];
      variant_.kernels->sequential(chain_, *lane.schedule, lane.chain, lane.in, lane.out, blocks);
      pass(0, blocks);
    } else {
      run_from(0, blocks);
    }
    // From the last, because a finished lane's place is taken by the last one.
    for (uint32_t i = count_; i-- > 0;) {
      if (progress_[i].blocks == 0) finish_blocks(i);
    }
  }

 private:
  uint64_t shortest() const {
    uint64_t blocks = progress_[0].blocks;
    for (uint32_t i = 1; i < count_; ++i) blocks = std::min(blocks, progress_[i].blocks);
    return blocks;
  }

  void pass(uint32_t index, uint64_t blocks) {
    lanes_[index].in += blocks * block_bytes;
    lanes_[index].out += blocks * block_bytes;
    progress_[index].blocks -= blocks;
  }

  void run_from(uint32_t first, uint64_t blocks) {
    variant_.kernels->lanes(chain_, lanes_ + first, count_ - first, blocks);
    for (uint32_t i = first; i < count_; ++i) pass(i, blocks);
  }

  // Whether the lanes' buffers would evict one another: large allocations all begin at the same place in a page.
  bool crowded() const {
    constexpr uint8_t most_lines = 16;
    if (count_ <= most_lines / 2) return false;
    uint8_t lines[cache_sets] = {};
    uint8_t most = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      most = std::max(most, ++lines[cache_set(lanes_[i].in)]);
      if (lanes_[i].out != lanes_[i].in) most = std::max(most, ++lines[cache_set(lanes_[i].out)]);
    }
    return most > most_lines;
  }

  // Sends each four lanes a cache line ahead of the four before, so that few of them ever meet in one set.
  void stagger() {
    constexpr uint32_t together = 4;
    constexpr uint64_t line_blocks = 64 / block_bytes;
    const uint32_t groups = (count_ + together - 1) / together;
    // Short messages would spend their time in getting apart and coming together again.
    if (shortest() < 2 * line_blocks * groups) return;
    for (uint32_t group = groups - 1; group > 0; --group) run_from(group * together, line_blocks);
  }

  // A lane without blocks: begins its partial block, or takes it to its place and gives the lane back.
  void finish_blocks(uint32_t index) {
    Lane& lane = lanes_[index];
    Progress& progress = progress_[index];
    if (progress.rest != 0 && progress.rest_out == nullptr) {
      std::memset(progress.scratch, 0, block_bytes);
      std::memcpy(progress.scratch, lane.in, progress.rest);
      progress.rest_out = lane.out;
      progress.blocks = 1;
      lane.in = lane.out = progress.scratch;
      return;
    }
    if (progress.rest != 0) std::memcpy(progress.rest_out, progress.scratch, progress.rest);
    --count_;
    if (index == count_) return;
    lane = lanes_[count_];
    progress = progress_[count_];
    if (progress.rest_out != nullptr) lane.in = lane.out = progress.scratch;
  }

  const Chain chain_;
  const Variant& variant_;
  uint32_t count_ = 0;
  bool fresh_ = false;  // messages have joined since the last advance
  Lane lanes_[max_lanes];
  Progress progress_[max_lanes];
};

}  // namespace

void run_streams(Mode mode, Direction, StreamMessage* const* messages, uint64_t count) {
  if (count == 0) return;
  Comb comb(mode, *messages[0]->key->variant);
  uint64_t next = 0;
  while (next < count || !comb.empty()) {
    while (next < count && comb.takes(messages[next]->length)) comb.add(*messages[next++]);
    if (!comb.empty()) comb.advance();
  }
}

}  // namespace stockade::aes
