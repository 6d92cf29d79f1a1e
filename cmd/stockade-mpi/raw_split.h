// How a message of one AES mode is cut: the bytes at any offset, made without what stands before them.
#pragma once

#include <array>
#include <cstdint>

#include "cmd/stockade/raw_line.h"
#include "stockade/stockade.h"

namespace stockade::cmd {

class RawSplit {
 public:
  RawSplit(const RawJob& job, stockade_direction direction, uint64_t length, uint32_t ranks);

  // Whether it can and should be cut at all. A message that one rank does as fast, and one whose length does not fit
  // the mode, is better left to the library as a whole.
  bool worthwhile() const { return slices_ > 0; }
  uint64_t slices() const { return slices_; }
  uint64_t slice_bytes() const { return slice_; }
  // Of the input in one slice.
  uint64_t begin(uint64_t slice) const { return slice * slice_; }
  uint64_t end(uint64_t slice) const { return slice + 1 < slices_ ? begin(slice + 1) : length_; }
  // Slices are cut into these, but for the last one.
  uint64_t piece_bytes() const { return piece_; }

  // Runs the bytes from `offset` on, in place. `before` holds the 16 bytes of input before them, of use to modes that
  // chain. Padding is made of, or taken from, a piece that ends the message: `length` becomes what it then has, and
  // `bytes` has room for 16 more. Statuses of stockade_encrypt_padded.
  stockade_status run(const stockade_key* key, uint64_t offset, const uint8_t before[16], uint8_t* bytes,
                      uint64_t& length, const stockade_engine* engine) const;
  bool chains() const { return job_.cipher->mode == STOCKADE_CBC || job_.cipher->mode == STOCKADE_CFB; }
  // Bytes of output, as far as they are known before.
  uint64_t out_length() const;

 private:
  bool can_be_cut() const;
  std::array<uint8_t, 16> iv_at(uint64_t offset, const uint8_t before[16]) const;
  bool pads_here(uint64_t offset, uint64_t length) const;

  const RawJob& job_;
  const bool decrypting_;
  const uint64_t length_;
  uint64_t slices_ = 0, slice_ = 0, piece_ = 0;
};

}  // namespace stockade::cmd
