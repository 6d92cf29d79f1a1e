#include "cipher/stream.h"

#include <algorithm>

#include "aes/padding.h"
#include "base/bytes.h"

namespace stockade::cipher {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;

}  // namespace

Status Stream::start(const uint8_t* iv, uint64_t iv_length) {
  const bool can_pad = key_.mode == STOCKADE_ECB || key_.mode == STOCKADE_CBC;
  if (padding_ != STOCKADE_PADDING_NONE && !can_pad) return STOCKADE_ERROR_MODE;
  if (gcm()) {
    if (iv_length == 0 || iv_length > gcm::max_aad_bytes) return STOCKADE_ERROR_IV_LENGTH;
    gcm::derive_j0(key_.gcm, iv, iv_length, state_->j0);
    return STOCKADE_OK;
  }
  if (const Status status = aes::check_iv(key_.mode, iv_length); status != STOCKADE_OK) return status;
  aes::start_chain(key_.aes, iv, 0, nullptr, state_->chain);
  return STOCKADE_OK;
}

Status Stream::aad(const uint8_t* aad, uint64_t length) {
  if (!gcm()) return STOCKADE_ERROR_MODE;
  if (ended_ || aad_done_) return STOCKADE_ERROR_STATE;
  if (length > gcm::max_aad_bytes - aad_total_) return STOCKADE_ERROR_DATA_TOO_LONG;
  while (length != 0) {
    const uint64_t used = aad_total_ % block_bytes;
    const bool whole = used == 0 && length >= block_bytes;
    const uint64_t taken = whole ? length / block_bytes * block_bytes : std::min(block_bytes - used, length);
    if (whole) {
      gcm::hash_padded(key_.gcm, state_->hash, aad, taken);
    } else {
      std::memcpy(state_->last_block + used, aad, taken);
      if (used + taken == block_bytes) hash_last_block(block_bytes);
    }
    aad_total_ += taken;
    aad += taken;
    length -= taken;
  }
  return STOCKADE_OK;
}

uint64_t Stream::held_after(uint64_t total) const {
  if (!blockwise()) return 0;
  const uint64_t rest = total % block_bytes;
  // A partial block may follow, and would share ciphertext stealing with the block before it.
  if (key_.mode == STOCKADE_XTS) return total < block_bytes ? total : block_bytes + rest;
  // The last block may be padding.
  if (unpads()) return total == 0 ? 0 : (total - 1) % block_bytes + 1;
  return rest;
}

uint64_t Stream::writes(uint64_t length) const { return opening() ? 0 : held_ + length - held_after(total_ + length); }

bool Stream::too_long(uint64_t length) const {
  const uint64_t most = gcm()                       ? gcm::max_message_bytes
                        : key_.mode == STOCKADE_XTS ? aes::max_unit_bytes
                                                    : UINT64_MAX - block_bytes;
  return length > most - total_;
}

uint64_t Stream::bound(uint64_t length) const {
  if (ended_) return 0;
  if (length != 0) return too_long(length) ? 0 : writes(length);
  if (opening()) return total_;
  if (unpads()) return block_bytes - 1;
  if (padding_ == STOCKADE_PADDING_PKCS7) return block_bytes;
  return key_.mode == STOCKADE_XTS ? held_ : 0;
}

Status Stream::update(const uint8_t* in, uint64_t length, uint8_t* out, uint64_t out_size, uint64_t* out_length) {
  if (ended_) return STOCKADE_ERROR_STATE;
  if (too_long(length)) return STOCKADE_ERROR_DATA_TOO_LONG;
  const uint64_t written = writes(length);
  if (out_size < written) return STOCKADE_ERROR_OUTPUT_SIZE;
  const bool in_place = in == out && held_ == 0;
  if (!in_place && ranges_overlap(in, length, out, written)) return STOCKADE_ERROR_OVERLAP;
  if (opening()) {
    if (const Status status = keep(in, length); status != STOCKADE_OK) return status;
  }
  finish_aad();
  if (length != 0 && !opening()) {
    const Status status = blockwise() ? update_blocks(in, length, out, written) : update_bytes(in, length, out);
    if (status != STOCKADE_OK) {
      // What the message has become is not known any more.
      ended_ = true;
      wipe(out, written);
      return status;
    }
  }
  *out_length = written;
  return STOCKADE_OK;
}

void Stream::finish_aad() {
  if (aad_done_) return;
  aad_done_ = true;
  if (aad_total_ % block_bytes != 0) hash_last_block(aad_total_ % block_bytes);
}

void Stream::hash_last_block(uint64_t used) { gcm::hash_padded(key_.gcm, state_->hash, state_->last_block, used); }

Status Stream::span(const uint8_t* in, uint8_t* out, uint64_t length) {
  if (!gcm()) return crypt_span(key_.aes, direction_, state_->chain, in, out, length, engine_);
  return gcm_span(key_.gcm, direction_, state_->j0, total_ / block_bytes, state_->hash, in, out, length, engine_);
}

// The key stream for a block of which not all bytes have come (SP 800-38A §6.3 to §6.5, SP 800-38D §6.5).
void Stream::begin_key_stream() {
  State& state = *state_;
  if (gcm()) {
    uint8_t counter[block_bytes];
    gcm::counter_at(state.j0, total_ / block_bytes, counter);
    key_.gcm.variant->kernels->ecb_encrypt(key_.gcm.schedule, counter, state.key_stream, 1, aes::Stores::ordinary);
    return;
  }
  key_.aes.variant->kernels->ecb_encrypt(key_.aes.data, state.chain, state.key_stream, 1, aes::Stores::ordinary);
  if (key_.mode == STOCKADE_CTR) add_be128(state.chain, 1);
  if (key_.mode == STOCKADE_OFB) std::memcpy(state.chain, state.key_stream, block_bytes);
}

// At most up to the end of the block.
void Stream::use_key_stream(const uint8_t* in, uint8_t* out, uint64_t length) {
  State& state = *state_;
  const uint64_t used = total_ % block_bytes;
  uint8_t* const ciphertext = (key_.mode == STOCKADE_CFB ? state.chain : state.last_block) + used;
  if (direction_ == STOCKADE_DECRYPT) std::memcpy(ciphertext, in, length);
  xor_bytes(out, in, state.key_stream + used, length);
  if (direction_ == STOCKADE_ENCRYPT) std::memcpy(ciphertext, out, length);
  total_ += length;
  if (gcm() && used + length == block_bytes) hash_last_block(block_bytes);
}

Status Stream::update_bytes(const uint8_t* in, uint64_t length, uint8_t* out) {
  const uint64_t used = total_ % block_bytes;
  const uint64_t first = used == 0 ? 0 : std::min(length, block_bytes - used);
  if (first != 0) use_key_stream(in, out, first);
  const uint64_t whole = (length - first) / block_bytes * block_bytes;
  if (whole != 0) {
    if (const Status status = span(in + first, out + first, whole); status != STOCKADE_OK) return status;
    total_ += whole;
  }
  const uint64_t done = first + whole;
  if (done == length) return STOCKADE_OK;
  begin_key_stream();
  use_key_stream(in + done, out + done, length - done);
  return STOCKADE_OK;
}

Status Stream::update_blocks(const uint8_t* in, uint64_t length, uint8_t* out, uint64_t written) {
  State& state = *state_;
  total_ += length;
  if (held_ != 0 && written != 0) {
    // What is held goes first, completed to whole blocks.
    const uint64_t first = std::min(written, (held_ + block_bytes - 1) / block_bytes * block_bytes);
    const uint64_t taken = first > held_ ? first - held_ : 0;
    std::memcpy(state.held + held_, in, taken);
    if (const Status status = span(state.held, out, first); status != STOCKADE_OK) return status;
    held_ = held_ + taken - first;
    std::memmove(state.held, state.held + first, held_);
    in += taken;
    length -= taken;
    out += first;
    written -= first;
  }
  if (written != 0) {
    if (const Status status = span(in, out, written); status != STOCKADE_OK) return status;
  }
  std::memcpy(state.held + held_, in + written, length - written);
  held_ += length - written;
  return STOCKADE_OK;
}

Status Stream::keep(const uint8_t* in, uint64_t length) {
  const uint64_t needed = total_ + length;
  if (needed > kept_.size()) {
    constexpr uint64_t smallest = 4096;
    if (!kept_.grow(std::max({needed, smallest, kept_.size() + kept_.size() / 2}))) return STOCKADE_ERROR_MEMORY;
  }
  if (length != 0) std::memcpy(kept_.data() + total_, in, length);
  total_ = needed;
  return STOCKADE_OK;
}

Status Stream::final(uint8_t* out, uint64_t out_size, uint64_t* out_length, uint8_t* tag, uint64_t tag_length) {
  if (ended_) return STOCKADE_ERROR_STATE;
  const Status status = finish(out, out_size, out_length, tag, tag_length);
  ended_ = status != STOCKADE_ERROR_OUTPUT_SIZE;
  return status;
}

Status Stream::finish(uint8_t* out, uint64_t out_size, uint64_t* out_length, uint8_t* tag, uint64_t tag_length) {
  if (out_length == nullptr || (out == nullptr && out_size != 0) || (tag == nullptr && tag_length != 0)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  if (gcm() ? tag_length < 12 || tag_length > 16 : tag_length != 0) return STOCKADE_ERROR_TAG_LENGTH;
  finish_aad();
  if (opening()) return finish_open(out, out_size, out_length, tag, tag_length);
  if (blockwise()) return finish_blocks(out, out_size, out_length);
  if (gcm()) {
    if (total_ % block_bytes != 0) hash_last_block(total_ % block_bytes);
    uint8_t full_tag[block_bytes];
    gcm::finish_tag(key_.gcm, state_->j0, state_->hash, aad_total_, total_, full_tag);
    std::memcpy(tag, full_tag, tag_length);
  }
  *out_length = 0;
  return STOCKADE_OK;
}

Status Stream::finish_blocks(uint8_t* out, uint64_t out_size, uint64_t* out_length) {
  if (unpads()) return finish_unpadded(out, out_size, out_length);
  if (padding_ == STOCKADE_PADDING_PKCS7) return finish_padded(out, out_size, out_length);
  if (key_.mode == STOCKADE_XTS ? total_ < block_bytes : held_ != 0) return STOCKADE_ERROR_DATA_LENGTH;
  if (out_size < held_) return STOCKADE_ERROR_OUTPUT_SIZE;
  const Status status = held_ != 0 ? span(state_->held, out, held_) : STOCKADE_OK;
  if (status == STOCKADE_OK) *out_length = held_;
  return status;
}

Status Stream::finish_padded(uint8_t* out, uint64_t out_size, uint64_t* out_length) {
  if (out_size < block_bytes) return STOCKADE_ERROR_OUTPUT_SIZE;
  aes::pad_block(state_->held, held_);
  const Status status = span(state_->held, out, block_bytes);
  if (status == STOCKADE_OK) *out_length = block_bytes;
  return status;
}

Status Stream::finish_unpadded(uint8_t* out, uint64_t out_size, uint64_t* out_length) {
  if (held_ != block_bytes) return STOCKADE_ERROR_DATA_LENGTH;
  // The stream stays as it is, for the caller may come back with a larger buffer.
  Secret<uint8_t[block_bytes]> chain, block;
  std::memcpy(*chain, state_->chain, block_bytes);
  const Status status = crypt_span(key_.aes, direction_, *chain, state_->held, *block, block_bytes, engine_);
  if (status != STOCKADE_OK) return status;
  const uint32_t padding = aes::padding_length(*block);
  if (padding == 0) return STOCKADE_ERROR_PADDING;
  const uint64_t length = block_bytes - padding;
  if (out_size < length) return STOCKADE_ERROR_OUTPUT_SIZE;
  if (length != 0) std::memcpy(out, *block, length);
  *out_length = length;
  return STOCKADE_OK;
}

Status Stream::finish_open(uint8_t* out, uint64_t out_size, uint64_t* out_length, const uint8_t* tag,
                           uint64_t tag_length) {
  if (out_size < total_) return STOCKADE_ERROR_OUTPUT_SIZE;
  Secret<uint8_t[block_bytes]> full_tag;
  uint8_t* const kept = kept_.data();
  if (total_ != 0) {
    const Status status = gcm_span(key_.gcm, direction_, state_->j0, 0, state_->hash, kept, kept, total_, engine_);
    if (status != STOCKADE_OK) return status;
  }
  gcm::finish_tag(key_.gcm, state_->j0, state_->hash, aad_total_, total_, *full_tag);
  if (!equal_constant_time(*full_tag, tag, tag_length)) return STOCKADE_ERROR_AUTHENTICATION;
  if (total_ != 0) std::memcpy(out, kept, total_);
  *out_length = total_;
  return STOCKADE_OK;
}

}  // namespace stockade::cipher
