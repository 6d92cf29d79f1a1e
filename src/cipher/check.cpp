#include "cipher/check.h"

#include "base/bytes.h"

namespace stockade::cipher {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;

bool overlaps(const uint8_t* in, uint64_t in_length, const uint8_t* out, uint64_t out_length) {
  return in != out && ranges_overlap(in, in_length, out, out_length);
}

}  // namespace

Status check_message(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                     const uint8_t* out) {
  // No operating system gives out a longer buffer.
  constexpr uint64_t most_bytes = uint64_t{1} << 47;
  if (key.mode == STOCKADE_GCM) return STOCKADE_ERROR_MODE;
  if (const Status status = aes::check_iv(key.mode, iv_length); status != STOCKADE_OK) return status;
  if (const Status status = aes::check_length(key.mode, length); status != STOCKADE_OK) return status;
  if (length > most_bytes) return STOCKADE_ERROR_DATA_TOO_LONG;
  if (overlaps(in, length, out, length) || ranges_overlap(iv, iv_length, out, length)) return STOCKADE_ERROR_OVERLAP;
  return STOCKADE_OK;
}

Status check_padded(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                    const uint8_t* out, uint64_t out_size, uint64_t out_needed) {
  if (key.mode != STOCKADE_ECB && key.mode != STOCKADE_CBC) return STOCKADE_ERROR_MODE;
  if (const Status status = aes::check_iv(key.mode, iv_length); status != STOCKADE_OK) return status;
  if (out_size < out_needed) return STOCKADE_ERROR_OUTPUT_SIZE;
  if (overlaps(in, length, out, out_needed) || ranges_overlap(iv, iv_length, out, out_needed)) {
    return STOCKADE_ERROR_OVERLAP;
  }
  return STOCKADE_OK;
}

Status check_units(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, uint64_t unit, const uint8_t* in,
                   uint64_t length, const uint8_t* out) {
  if (key.mode != STOCKADE_XTS) return STOCKADE_ERROR_MODE;
  if (unit < block_bytes || unit > aes::max_unit_bytes) return STOCKADE_ERROR_ARGUMENT;
  if (const Status status = aes::check_iv(key.mode, iv_length); status != STOCKADE_OK) return status;
  const uint64_t last = length % unit;
  if (length < block_bytes || (last != 0 && last < block_bytes)) return STOCKADE_ERROR_DATA_LENGTH;
  if (overlaps(in, length, out, length) || ranges_overlap(iv, iv_length, out, length)) return STOCKADE_ERROR_OVERLAP;
  return STOCKADE_OK;
}

Status check_sealed(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                    const uint8_t* aad, uint64_t aad_length, const uint8_t* in, uint64_t length, const uint8_t* out,
                    const uint8_t* tag, uint64_t tag_length) {
  if (key.mode != STOCKADE_GCM) return STOCKADE_ERROR_MODE;
  if (const Status status = gcm::check(iv_length, aad_length, length, tag_length); status != STOCKADE_OK) {
    return status;
  }
  if (overlaps(in, length, out, length) || ranges_overlap(iv, iv_length, out, length) ||
      ranges_overlap(aad, aad_length, out, length) || ranges_overlap(tag, tag_length, out, length)) {
    return STOCKADE_ERROR_OVERLAP;
  }
  // A tag that is written is output too.
  const bool writes_over = direction == STOCKADE_ENCRYPT && (ranges_overlap(tag, tag_length, in, length) ||
                                                             ranges_overlap(tag, tag_length, iv, iv_length) ||
                                                             ranges_overlap(tag, tag_length, aad, aad_length));
  return writes_over ? STOCKADE_ERROR_OVERLAP : STOCKADE_OK;
}

}  // namespace stockade::cipher
