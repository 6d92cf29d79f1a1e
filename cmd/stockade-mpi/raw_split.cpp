#include "raw_split.h"

#include <algorithm>
#include <cstring>

namespace stockade::cmd {
namespace {

constexpr uint64_t block_bytes = 16;
// Small enough for the second-level cache, large enough for a system call.
constexpr uint64_t usual_piece = uint64_t{256} << 10;
constexpr uint64_t least_slice = uint64_t{1} << 20, largest_slice = uint64_t{64} << 20;
// So that ranks that are late cost little.
constexpr uint64_t slices_per_rank = 8;

// Adds to a number of 128 bits, most significant byte first.
void add_big_endian(std::array<uint8_t, 16>& number, uint64_t value) {
  for (size_t i = 16; i-- > 0;) {
    value += number[i];
    number[i] = static_cast<uint8_t>(value);
    value >>= 8;
  }
}

uint64_t multiple_below(uint64_t value, uint64_t unit) { return std::max(value / unit, uint64_t{1}) * unit; }

}  // namespace

RawSplit::RawSplit(const RawJob& job, stockade_direction direction, uint64_t length, uint32_t ranks)
    : job_(job), decrypting_(direction == STOCKADE_DECRYPT), length_(length) {
  const uint64_t unit = std::max(job.unit, block_bytes);
  piece_ = multiple_below(usual_piece, unit);
  slice_ = multiple_below(std::clamp(length / (slices_per_rank * ranks), least_slice, largest_slice), piece_);
  if (can_be_cut() && length > slice_) slices_ = (length + slice_ - 1) / slice_;
}

bool RawSplit::can_be_cut() const {
  switch (job_.cipher->mode) {
    case STOCKADE_CTR:
      return true;
    case STOCKADE_CFB:
      return decrypting_;
    case STOCKADE_ECB:
    case STOCKADE_CBC:
      if (job_.cipher->mode == STOCKADE_CBC && !decrypting_) return false;
      return length_ % block_bytes == 0 || (!decrypting_ && job_.padding == STOCKADE_PADDING_PKCS7);
    case STOCKADE_XTS:
      return job_.unit > 0 && (length_ % job_.unit == 0 || length_ % job_.unit >= block_bytes);
    default:
      return false;
  }
}

uint64_t RawSplit::out_length() const {
  const bool grows = !decrypting_ && job_.padding == STOCKADE_PADDING_PKCS7;
  return grows ? length_ / block_bytes * block_bytes + block_bytes : length_;
}

// SP 800-38A 6.2, 6.3, 6.5: the block before, or the counter; IEEE 1619 5.1: the number of the data unit.
std::array<uint8_t, 16> RawSplit::iv_at(uint64_t offset, const uint8_t before[16]) const {
  std::array<uint8_t, 16> iv{};
  std::copy_n(job_.iv.begin(), std::min(job_.iv.size(), iv.size()), iv.begin());
  switch (job_.cipher->mode) {
    case STOCKADE_CTR:
      add_big_endian(iv, offset / block_bytes);
      break;
    case STOCKADE_XTS:
      std::reverse(iv.begin(), iv.end());
      add_big_endian(iv, offset / job_.unit);
      std::reverse(iv.begin(), iv.end());
      break;
    case STOCKADE_CBC:
    case STOCKADE_CFB:
      if (offset > 0) std::memcpy(iv.data(), before, iv.size());
      break;
    default:
      break;
  }
  return iv;
}

bool RawSplit::pads_here(uint64_t offset, uint64_t length) const {
  return job_.padding == STOCKADE_PADDING_PKCS7 && offset + length == length_;
}

stockade_status RawSplit::run(const stockade_key* key, uint64_t offset, const uint8_t before[16], uint8_t* bytes,
                              uint64_t& length, const stockade_engine* engine) const {
  const std::array<uint8_t, 16> iv = iv_at(offset, before);
  const uint64_t iv_length = job_.cipher->mode == STOCKADE_ECB ? 0 : iv.size();
  if (job_.cipher->mode == STOCKADE_XTS) {
    const auto crypt = decrypting_ ? stockade_decrypt_units : stockade_encrypt_units;
    return crypt(key, iv.data(), iv_length, job_.unit, bytes, length, bytes, engine);
  }
  const uint8_t* const given = iv_length == 0 ? nullptr : iv.data();
  if (pads_here(offset, length)) {
    const auto crypt = decrypting_ ? stockade_decrypt_padded : stockade_encrypt_padded;
    return crypt(key, given, iv_length, bytes, length, bytes, length + block_bytes, &length, engine);
  }
  const auto crypt = decrypting_ ? stockade_decrypt : stockade_encrypt;
  return crypt(key, given, iv_length, bytes, length, bytes, engine);
}

}  // namespace stockade::cmd
