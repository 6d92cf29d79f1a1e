#include "cross/oracle_kernels.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/field128.h"
#include "cross/oracle.h"
#include "gcm/gcm.h"

namespace stockade::tests {
namespace {

using gpu::EmulatedRuntime;

EmulatedRuntime* running_on = nullptr;

Bytes key_of(const aes::RoundKeys& encrypt) { return words_as_bytes(encrypt.word, 4 * (encrypt.rounds - 6)); }

uint8_t twice(uint8_t b) { return static_cast<uint8_t>(b << 1 ^ (b >> 7) * 0x1b); }

// Undoes what FIPS 197 §5.3.5 does to all round keys but the first and the last: MixColumns, §5.1.3.
void mix_columns(Bytes& block) {
  for (size_t c = 0; c < 16; c += 4) {
    const uint8_t a[4] = {block[c], block[c + 1], block[c + 2], block[c + 3]};
    for (size_t r = 0; r < 4; ++r) {
      const uint8_t next = a[(r + 1) % 4];
      block[c + r] = static_cast<uint8_t>(twice(a[r]) ^ twice(next) ^ next ^ a[(r + 2) % 4] ^ a[(r + 3) % 4]);
    }
  }
}

Bytes key_of_inverse(const aes::RoundKeys& decrypt) {
  Bytes key = words_as_bytes(decrypt.word + 4 * decrypt.rounds, 16);
  Bytes second = words_as_bytes(decrypt.word + 4 * (decrypt.rounds - 1), 16);
  mix_columns(second);
  key.insert(key.end(), second.begin(), second.end());
  key.resize(4 * (decrypt.rounds - 6));
  return key;
}

Bytes iv_of(const uint8_t* iv) { return Bytes(iv, iv + 16); }

Status compute(stockade_mode mode, stockade_direction direction, const Bytes& key, const Bytes& iv, const uint8_t* in,
               uint8_t* out, uint64_t length) {
  if (const Status status = running_on->launch(); status != STOCKADE_OK) return status;
  if (length == 0) return STOCKADE_OK;
  const Bytes result = oracle_crypt(mode, direction, key, iv, in, length);
  std::copy(result.begin(), result.end(), out);
  return STOCKADE_OK;
}

Status ecb_encrypt(const gpu::Queue&, const gpu::Shape&, const aes::RoundKeys& keys, const uint8_t* in, uint8_t* out,
                   uint64_t length) {
  return compute(STOCKADE_ECB, STOCKADE_ENCRYPT, key_of(keys), {}, in, out, length);
}
Status ecb_decrypt(const gpu::Queue&, const gpu::Shape&, const aes::RoundKeys& keys, const uint8_t* in, uint8_t* out,
                   uint64_t length) {
  return compute(STOCKADE_ECB, STOCKADE_DECRYPT, key_of_inverse(keys), {}, in, out, length);
}
Status cbc_decrypt(const gpu::Queue&, const gpu::Shape&, const aes::RoundKeys& keys, const uint8_t iv[16],
                   const uint8_t* in, uint8_t* out, uint64_t length, uint8_t*) {
  return compute(STOCKADE_CBC, STOCKADE_DECRYPT, key_of_inverse(keys), iv_of(iv), in, out, length);
}
Status cfb_decrypt(const gpu::Queue&, const gpu::Shape&, const aes::RoundKeys& keys, const uint8_t iv[16],
                   const uint8_t* in, uint8_t* out, uint64_t length, uint8_t*) {
  return compute(STOCKADE_CFB, STOCKADE_DECRYPT, key_of(keys), iv_of(iv), in, out, length);
}

Status ctr(const gpu::Queue&, const gpu::Shape&, const aes::RoundKeys& keys, const uint8_t counter[16],
           aes::CounterWidth width, const uint8_t* in, uint8_t* out, uint64_t length, const uint32_t* refused) {
  if (refused != nullptr && *refused != 0) {
    std::fill_n(out, length, uint8_t{0});
    return running_on->launch();
  }
  Bytes start = iv_of(counter);
  // A counter of 32 bits wraps where one of 128 bits would carry.
  const uint64_t before_wrap = 16 * (0x100000000 - load_be32(start.data() + 12));
  const uint64_t first = width == aes::CounterWidth::bits32 ? std::min(length, before_wrap) : length;
  const Status status = compute(STOCKADE_CTR, STOCKADE_ENCRYPT, key_of(keys), start, in, out, first);
  if (status != STOCKADE_OK || first == length) return status;
  store_be32(start.data() + 12, 0);
  return compute(STOCKADE_CTR, STOCKADE_ENCRYPT, key_of(keys), start, in + first, out + first, length - first);
}

template <stockade_direction direction>
Status xts(const gpu::Queue& queue, const gpu::Shape& shape, const aes::RoundKeys& data, const aes::RoundKeys& tweak,
           const uint8_t number[16], uint64_t unit, const uint8_t* in, uint8_t* out, uint64_t length,
           uint8_t* workspace) {
  if (const Status status = running_on->launch(); status != STOCKADE_OK) return status;
  Bytes key = direction == STOCKADE_ENCRYPT ? key_of(data) : key_of_inverse(data);
  const Bytes second = key_of(tweak);
  key.insert(key.end(), second.begin(), second.end());
  const Bytes result = oracle_units(direction, key, iv_of(number), unit, Bytes(in, in + length));
  const auto operation =
      direction == STOCKADE_ENCRYPT ? aes::GpuOperation::xts_encrypt : aes::GpuOperation::xts_decrypt;
  std::fill_n(workspace, aes::gpu_workspace_bytes(operation, queue, shape, length, unit), uint8_t{0x77});
  std::copy(result.begin(), result.end(), out);
  return STOCKADE_OK;
}

constexpr aes::GpuKernels aes_kernels = {ecb_encrypt,           ecb_decrypt,           ctr,    cbc_decrypt, cfb_decrypt,
                                         xts<STOCKADE_ENCRYPT>, xts<STOCKADE_DECRYPT>, nullptr};

// SP 800-38D §6.4, block by block.
void hash_string(Field128& y, Field128 h, const uint8_t* bytes, uint64_t length) {
  for (uint64_t at = 0; at < length; at += 16) {
    uint8_t block[16] = {};
    std::copy(bytes + at, bytes + at + std::min<uint64_t>(16, length - at), block);
    y = multiply(add(y, load_gcm(block)), h);
  }
}

constexpr uint64_t gcm_workspace = 300;
uint64_t workspace_bytes(const gpu::Queue&) { return gcm_workspace; }

void make_tag(const gcm::GpuKey& key, const gcm::MessageStart& start, const gcm::GpuMessage& message,
              const uint8_t* ciphertext, uint8_t tag[16], void* workspace) {
  std::fill_n(static_cast<uint8_t*>(workspace), gcm_workspace, uint8_t{0x77});
  const Field128 h = gcm::field_of(key.hash.power[1]);
  Field128 y{0, 0};
  hash_string(y, h, message.aad, message.aad_length);
  hash_string(y, h, ciphertext, message.length);
  uint8_t lengths[16];
  store_be64(lengths, 8 * message.aad_length);
  store_be64(lengths + 8, 8 * message.length);
  hash_string(y, h, lengths, 16);
  store_gcm(tag, y);
  xor_bytes(tag, tag, start.mask, 16);
}

Status crypt_message(const gpu::Queue& queue, const gcm::GpuKey& key, const gcm::MessageStart& start,
                     const gcm::GpuMessage& message, const uint32_t* refused) {
  uint8_t counter[16];
  gcm::counter_at(start.j0, 0, counter);
  return ctr(queue, {}, key.encrypt, counter, aes::CounterWidth::bits32, message.in, message.out, message.length,
             refused);
}

Status seal_message(const gpu::Queue& queue, const gcm::GpuShapes&, const gcm::GpuKey& key,
                    const gcm::MessageStart& start, const gcm::GpuMessage& message, void* workspace) {
  if (const Status status = crypt_message(queue, key, start, message, nullptr); status != STOCKADE_OK) return status;
  uint8_t tag[16];
  make_tag(key, start, message, message.out, tag, workspace);
  std::copy(tag, tag + message.tag_length, message.tag);
  return STOCKADE_OK;
}

Status open_message(const gpu::Queue& queue, const gcm::GpuShapes&, const gcm::GpuKey& key,
                    const gcm::MessageStart& start, const gcm::GpuMessage& message, uint32_t* refused,
                    void* workspace) {
  uint8_t tag[16];
  make_tag(key, start, message, message.in, tag, workspace);
  *refused = std::equal(tag, tag + message.tag_length, message.tag) ? 0 : 1;
  return crypt_message(queue, key, start, message, refused);
}

// The key and the hash subkey of a message as a key for the whole device; only what the functions above look at.
void use_batch_key(const gcm::GpuBatchMessage& described, gcm::GpuKey& key, gcm::MessageStart& start) {
  key.encrypt = described.encrypt;
  key.hash.power[1] = described.h;
  std::copy(described.j0, described.j0 + 16, start.j0);
  const Bytes mask = oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, key_of(key.encrypt), {}, described.j0, 16);
  std::copy(mask.begin(), mask.end(), start.mask);
}

template <bool opening>
Status run_batch(const gpu::Queue& queue, const gcm::GpuBatchMessage* messages, uint64_t count, uint32_t* refused) {
  Bytes workspace(gcm_workspace);
  for (uint64_t i = 0; i < count; ++i) {
    gcm::GpuKey key{};
    gcm::MessageStart start{};
    use_batch_key(messages[i], key, start);
    const gcm::GpuMessage& message = messages[i].message;
    const Status status = opening ? open_message(queue, {}, key, start, message, refused + i, workspace.data())
                                  : seal_message(queue, {}, key, start, message, workspace.data());
    if (status != STOCKADE_OK) return status;
  }
  return STOCKADE_OK;
}

Status seal_batch(const gpu::Queue& queue, const gcm::GpuShapes&, const gcm::GpuBatchMessage* messages,
                  uint64_t count) {
  return run_batch<false>(queue, messages, count, nullptr);
}
Status open_batch(const gpu::Queue& queue, const gcm::GpuShapes&, const gcm::GpuBatchMessage* messages, uint64_t count,
                  uint32_t* refused) {
  return run_batch<true>(queue, messages, count, refused);
}

// The nonce of a chunk is the base nonce XOR its number (c2sp.org/chunked-encryption).
template <bool opening>
Status run_chunks(const gpu::Queue&, const gcm::GpuShapes&, const gcm::GpuKey& key, const gcm::GpuChunks& chunks) {
  if (const Status status = running_on->launch(); status != STOCKADE_OK) return status;
  constexpr uint64_t plain_step = gcm::gpu_chunk_bytes, tag_bytes = 16, sealed_step = plain_step + tag_bytes;
  const Bytes key_bytes = key_of(key.encrypt);
  for (uint64_t i = 0; i < chunks.count; ++i) {
    Bytes nonce(chunks.base_nonce, chunks.base_nonce + sizeof chunks.base_nonce);
    store_be64(nonce.data() + 4, load_be64(nonce.data() + 4) ^ (chunks.first + i));
    const uint64_t length = i + 1 == chunks.count ? chunks.last_length : plain_step;
    const uint8_t* const in = chunks.in + i * (opening ? sealed_step : plain_step);
    uint8_t* const out = chunks.out + i * (opening ? plain_step : sealed_step);
    if (!opening) {
      const Sealed sealed = oracle_seal(key_bytes, nonce, {}, in, length, tag_bytes);
      std::copy(sealed.ciphertext.begin(), sealed.ciphertext.end(), out);
      std::copy(sealed.tag.begin(), sealed.tag.end(), out + length);
      continue;
    }
    const auto plain =
        oracle_open(key_bytes, nonce, {}, Bytes(in, in + length), Bytes(in + length, in + length + tag_bytes));
    chunks.refused[i] = plain ? 0 : 7;
    if (plain) {
      std::copy(plain->begin(), plain->end(), out);
    } else {
      std::fill_n(out, length, uint8_t{0});
    }
  }
  return STOCKADE_OK;
}

}  // namespace

Bytes words_as_bytes(const uint32_t* words, uint64_t bytes) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(words);
  return Bytes(begin, begin + bytes);
}

void launch_on(EmulatedRuntime* runtime) { running_on = runtime; }

const aes::GpuKernels& oracle_aes_kernels() { return aes_kernels; }

const gcm::GpuKernels& oracle_gcm_kernels() {
  static const gcm::GpuKernels kernels = [] {
    gcm::GpuKernels made{};
    made.workspace_bytes = workspace_bytes;
    made.seal = seal_message;
    made.open = open_message;
    made.seal_batch = seal_batch;
    made.open_batch = open_batch;
    made.seal_chunks = run_chunks<false>;
    made.open_chunks = run_chunks<true>;
    return made;
  }();
  return kernels;
}

}  // namespace stockade::tests
