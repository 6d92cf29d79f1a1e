// GCM with AES-NI and PCLMULQDQ: one block to a register, eight blocks to a reduction in the fused loop. Constant-time in
// key and data. The loops are in gcm/gcm_x86.h, the schedule is that of aes/aes_aesni.cpp.
#include <immintrin.h>

#include <cstdint>

#include "gcm/gcm_kernels.h"
#include "gcm/gcm_x86.h"

namespace stockade::gcm {
namespace {

struct Xmm {
  using T = __m128i;
  static constexpr unsigned blocks = 1;
  static constexpr unsigned bytes = 16;
  static constexpr bool three_way = false;
  static constexpr bool karatsuba = true;

  static T zero() { return _mm_setzero_si128(); }
  static T load(const uint8_t* in) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in)); }
  static void store(uint8_t* out, T v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(out), v); }
  static void stream(uint8_t* out, T v) { _mm_stream_si128(reinterpret_cast<__m128i*>(out), v); }
  // There is no part of one block; nothing asks for it.
  static T load_part(const uint8_t* in, unsigned) { return load(in); }
  static void store_part(uint8_t* out, T v, unsigned) { store(out, v); }
  static T broadcast(const uint8_t* key) { return load(key); }
  static T exclusive_or(T a, T b) { return _mm_xor_si128(a, b); }
  static T exclusive_or3(T a, T b, T c) { return _mm_xor_si128(_mm_xor_si128(a, b), c); }
  static T enc(T s, T key) { return _mm_aesenc_si128(s, key); }
  static T enc_last(T s, T key) { return _mm_aesenclast_si128(s, key); }

  static T reverse(T v) {
    return _mm_shuffle_epi8(v, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  }
  static T counter32_from(__m128i counter) { return counter; }
  static T counter32_add(T counter, uint32_t n) { return _mm_add_epi32(counter, _mm_set_epi64x(0, n)); }
  // Adds to the last byte of blocks in the standard's order.
  static T counter8_add(T block) { return _mm_add_epi32(block, _mm_set_epi32(1 << 24, 0, 0, 0)); }

  template <int halves>
  static T multiply(T a, T b) {
    return _mm_clmulepi64_si128(a, b, halves);
  }
  static T polynomial() { return _mm_set1_epi64x(static_cast<long long>(0xc200000000000000)); }
  static T swap_halves(T v) { return _mm_shuffle_epi32(v, 0x4e); }
  static T first_block(__m128i v) { return v; }
  static __m128i fold_lanes(T v) { return v; }
  static void in_order(T& a, T& b) { __asm__("" : "+x"(a), "+x"(b)); }
};

}  // namespace

const Kernels kernels_aesni = {
    aes::aes_expand_aesni, aes::aes_ecb_encrypt_aesni, Rows<Xmm>::init, Rows<Xmm>::ghash, Rows<Xmm>::seal,
    Rows<Xmm>::open,       aes::aes_round_keys_aesni,
};

}  // namespace stockade::gcm
