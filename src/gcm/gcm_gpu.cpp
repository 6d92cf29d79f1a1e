// What the host computes for GCM on a GPU.
#include <bit>

#include "base/secret.h"
#include "gcm/gcm_cuda.h"

namespace stockade::gcm {

namespace {

uint32_t reverse_bytes_bits(uint64_t x, uint32_t shift) {
  return static_cast<uint32_t>(__builtin_bswap64(reverse_bits_of_bytes(x)) >> shift);
}

// 1/a = a^(2^128 - 2), the product of a^(2^i) for i from 1 to 127; 0 for 0.
Field128 invert(Field128 a) {
  Field128 inverse{1, 0};
  for (uint32_t i = 1; i < 128; ++i) {
    a = square(a);
    inverse = multiply(inverse, a);
  }
  return inverse;
}

}  // namespace

Element element_of(Field128 a) {
  return {{reverse_bytes_bits(a.low, 32), reverse_bytes_bits(a.low, 0), reverse_bytes_bits(a.high, 32),
           reverse_bytes_bits(a.high, 0)}};
}

Field128 field_of(const Element& element) {
  const auto word = [](uint32_t first, uint32_t second) {
    return reverse_bits_of_bytes(__builtin_bswap64(uint64_t{first} << 32 | second));
  };
  return {word(element.w[0], element.w[1]), word(element.w[2], element.w[3])};
}

Element hash_power(const GpuHashKey& hash, int64_t exponent) {
  Secret<Field128> result;
  *result = {1, 0};
  if (exponent < 0) {
    *result = power(field_of(hash.inverse), static_cast<uint64_t>(-exponent));
  } else if (static_cast<uint64_t>(exponent) > max_table_exponent) {
    *result = power(field_of(hash.power[1]), static_cast<uint64_t>(exponent));
  } else {
    for (uint32_t table = 0; exponent != 0; table += 64, exponent >>= GpuHashKey::digit_bits) {
      if ((exponent & 63) != 0) *result = multiply(*result, field_of(hash.power[table + (exponent & 63)]));
    }
  }
  return element_of(*result);
}

void gpu_prepare(const uint8_t h[16], GpuHashKey& hash) {
  Secret<Field128[2]> field;  // H^(64^d), H^(i·64^d)
  auto& [base, power] = *field;
  base = load_gcm(h);
  hash.inverse = element_of(invert(base));
  for (uint32_t first = 0; first < std::size(hash.power); first += 64) {
    power = {1, 0};
    for (uint32_t i = 0; i < 64; ++i) {
      if (first + i < std::size(hash.power)) hash.power[first + i] = element_of(power);
      power = multiply(power, base);
    }
    base = power;
  }
}

void gpu_prepare(const Key& key, GpuKey& gpu_key) {
  key.variant->kernels->round_keys(key.schedule, gpu_key.encrypt.word);
  gpu_key.encrypt.rounds = key.schedule.rounds;
  gpu_prepare(key.h, gpu_key.hash);
}

void start_message(const Key& key, const uint8_t* iv, uint64_t iv_length, MessageStart& start) {
  derive_j0(key, iv, iv_length, start.j0);
  key.variant->kernels->ecb_encrypt(key.schedule, start.j0, start.mask, 1, aes::Stores::ordinary);
}

void describe_message(const Key& key, const uint8_t* iv, uint64_t iv_length, const GpuMessage& message,
                      GpuBatchMessage& described) {
  described.h = element_of(load_gcm(key.h));
  derive_j0(key, iv, iv_length, described.j0);
  key.variant->kernels->round_keys(key.schedule, described.encrypt.word);
  described.encrypt.rounds = key.schedule.rounds;
  described.message = message;
}

GpuShapes default_shapes(uint32_t key_bytes, uint32_t capability, uint64_t length) {
  struct Row {
    uint32_t capability, key_bytes;  // the least
    GpuShapes shapes;
  };
  // The first row that is not above the device counts.
  //
  // 9.0: NVIDIA H200, 2026-11-22, GB/s over 4 GiB with AES-128: CTR and then the hash, 761. One kernel for both, ciphertext
  // going from the cipher's registers to the tensor cores, was at 749, with AES-256 at 544 against 555, and took 48 us for
  // 1 MiB against 25: 128 registers a thread leave the cipher too few lookups under way.
  static constexpr Row rows[] = {
      {90, 16, {{}, {512, 1, 1}, {512, 2, 1}, 1 << 14}},
      {0, 16, {{}, {256, 1, 4}, {256, 1, 1}, UINT64_MAX}},
  };
  for (const Row& row : rows) {
    if (capability < row.capability || key_bytes < row.key_bytes) continue;
    GpuShapes shapes = row.shapes;
    shapes.ctr = aes::default_shape(aes::GpuOperation::ctr, capability, length);
    return shapes;
  }
  return rows[std::size(rows) - 1].shapes;
}

}  // namespace stockade::gcm
