// GCM with VAES and VPCLMULQDQ on 512-bit registers: four blocks to a register, 32 blocks to a reduction. Constant-time in
// key and data. The loops are in gcm/gcm_x86.h, the schedule is that of aes/aes_aesni.cpp.
#include <immintrin.h>

#include <cstdint>

#include "gcm/gcm_kernels.h"
#include "gcm/gcm_x86.h"

namespace stockade::gcm {
namespace {

struct Zmm {
  using T = __m512i;
  static constexpr unsigned blocks = 4;
  static constexpr unsigned bytes = 64;
  static constexpr bool three_way = true;
  // Multiplications have a port of their own here; the exclusive-ors of Karatsuba's method compete with the rounds.
  static constexpr bool karatsuba = false;

  static __mmask8 mask(unsigned n) { return static_cast<__mmask8>((1U << (2 * n)) - 1); }
  static T zero() { return _mm512_setzero_si512(); }
  static T load(const uint8_t* in) { return _mm512_loadu_si512(in); }
  static void store(uint8_t* out, T v) { _mm512_storeu_si512(out, v); }
  static void stream(uint8_t* out, T v) { _mm512_stream_si512(reinterpret_cast<__m512i*>(out), v); }
  static T load_part(const uint8_t* in, unsigned n) { return _mm512_maskz_loadu_epi64(mask(n), in); }
  static void store_part(uint8_t* out, T v, unsigned n) { _mm512_mask_storeu_epi64(out, mask(n), v); }
  static T broadcast(const uint8_t* key) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(key)));
  }
  static T exclusive_or(T a, T b) { return _mm512_xor_si512(a, b); }
  static T exclusive_or3(T a, T b, T c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
  static T enc(T s, T key) { return _mm512_aesenc_epi128(s, key); }
  static T enc_last(T s, T key) { return _mm512_aesenclast_epi128(s, key); }

  static T reverse(T v) {
    return _mm512_shuffle_epi8(
        v, _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
  }
  static T counter32_from(__m128i counter) {
    return _mm512_add_epi32(_mm512_broadcast_i32x4(counter), _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
  }
  static T counter32_add(T counter, uint32_t n) {
    return _mm512_add_epi32(counter, _mm512_maskz_set1_epi32(0x1111, static_cast<int>(n)));
  }
  // Adds to the last byte of blocks in the standard's order.
  static T counter8_add(T block) { return _mm512_add_epi32(block, _mm512_maskz_set1_epi32(0x8888, 4 << 24)); }

  template <int halves>
  static T multiply(T a, T b) {
    return _mm512_clmulepi64_epi128(a, b, halves);
  }
  static T polynomial() { return _mm512_set1_epi64(static_cast<long long>(0xc200000000000000)); }
  static T swap_halves(T v) { return _mm512_shuffle_epi32(v, _MM_PERM_BADC); }
  static T first_block(__m128i v) { return _mm512_zextsi128_si512(v); }
  static __m128i fold_lanes(T v) {
    const __m256i half = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  }
  static void in_order(T& a, T& b) { __asm__("" : "+v"(a), "+v"(b)); }
};

}  // namespace

const Kernels kernels_vaes512 = {
    aes::aes_expand_aesni, aes::aes_ecb_encrypt_aesni, Rows<Zmm>::init, Rows<Zmm>::ghash, Rows<Zmm>::seal,
    Rows<Zmm>::open,       aes::aes_round_keys_aesni,
};

}  // namespace stockade::gcm
