// GCM with VAES and VPCLMULQDQ on 256-bit registers: two blocks to a register, 16 blocks to a reduction in the fused loop.
// Constant-time in key and data. The loops are in gcm/gcm_x86.h, the schedule is that of aes/aes_aesni.cpp.
#include <immintrin.h>

#include <cstdint>

#include "gcm/gcm_kernels.h"
#include "gcm/gcm_x86.h"

namespace stockade::gcm {
namespace {

struct Ymm {
  using T = __m256i;
  static constexpr unsigned blocks = 2;
  static constexpr unsigned bytes = 32;
  static constexpr bool three_way = false;
  // VPCLMULQDQ is the scarce unit of the processors that stop at AVX2.
  static constexpr bool karatsuba = true;

  static T zero() { return _mm256_setzero_si256(); }
  static T load(const uint8_t* in) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)); }
  static void store(uint8_t* out, T v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), v); }
  static void stream(uint8_t* out, T v) { _mm256_stream_si256(reinterpret_cast<__m256i*>(out), v); }
  // A part of two blocks is one block.
  static T load_part(const uint8_t* in, unsigned) {
    return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
  }
  static void store_part(uint8_t* out, T v, unsigned) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(v));
  }
  static T broadcast(const uint8_t* key) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(key)));
  }
  static T exclusive_or(T a, T b) { return _mm256_xor_si256(a, b); }
  static T exclusive_or3(T a, T b, T c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
  static T enc(T s, T key) { return _mm256_aesenc_epi128(s, key); }
  static T enc_last(T s, T key) { return _mm256_aesenclast_epi128(s, key); }

  static T reverse(T v) {
    return _mm256_shuffle_epi8(
        v, _mm256_broadcastsi128_si256(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
  }
  static T counter32_from(__m128i counter) {
    return _mm256_add_epi32(_mm256_broadcastsi128_si256(counter), _mm256_set_epi64x(0, 1, 0, 0));
  }
  static T counter32_add(T counter, uint32_t n) { return _mm256_add_epi32(counter, _mm256_set_epi64x(0, n, 0, n)); }
  // Adds to the last byte of blocks in the standard's order.
  static T counter8_add(T block) {
    return _mm256_add_epi32(block, _mm256_set_epi32(2 << 24, 0, 0, 0, 2 << 24, 0, 0, 0));
  }

  template <int halves>
  static T multiply(T a, T b) {
    return _mm256_clmulepi64_epi128(a, b, halves);
  }
  static T polynomial() { return _mm256_set1_epi64x(static_cast<long long>(0xc200000000000000)); }
  static T swap_halves(T v) { return _mm256_shuffle_epi32(v, 0x4e); }
  static T first_block(__m128i v) { return _mm256_zextsi128_si256(v); }
  static __m128i fold_lanes(T v) { return _mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)); }
  static void in_order(T& a, T& b) { __asm__("" : "+x"(a), "+x"(b)); }
};

}  // namespace

const Kernels kernels_vaes256 = {
    aes::aes_expand_aesni, aes::aes_ecb_encrypt_aesni, Rows<Ymm>::init, Rows<Ymm>::ghash, Rows<Ymm>::seal,
    Rows<Ymm>::open,       aes::aes_round_keys_aesni,
};

}  // namespace stockade::gcm
