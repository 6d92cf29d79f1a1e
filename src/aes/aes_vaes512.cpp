// AES with VAES on 512-bit registers: four blocks to a register. Constant-time in key and data. The loops are in
// aes/aes_x86.h, the schedule is that of aes_aesni.cpp.
#include <immintrin.h>

#include <cstdint>

#include "aes/aes_kernels.h"
#include "aes/aes_x86.h"

namespace stockade::aes {
namespace {

struct Zmm {
  using T = __m512i;
  static constexpr unsigned blocks = 4;
  static constexpr unsigned bytes = 64;

  static __m128i block(const uint8_t* in) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in)); }
  static __mmask8 mask(unsigned n) { return static_cast<__mmask8>((1U << (2 * n)) - 1); }

  static T load(const uint8_t* in) { return _mm512_loadu_si512(in); }
  static void store(uint8_t* out, T v) { _mm512_storeu_si512(out, v); }
  static void stream(uint8_t* out, T v) { _mm512_stream_si512(reinterpret_cast<__m512i*>(out), v); }
  static T load_part(const uint8_t* in, unsigned n) { return _mm512_maskz_loadu_epi64(mask(n), in); }
  static void store_part(uint8_t* out, T v, unsigned n) { _mm512_mask_storeu_epi64(out, mask(n), v); }
  static void copy_block(uint8_t* to, const uint8_t* from) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), block(from));
  }
  static T broadcast(const uint8_t* key) { return _mm512_broadcast_i32x4(block(key)); }
  static T exclusive_or(T a, T b) { return _mm512_xor_si512(a, b); }
  static T enc(T s, T key) { return _mm512_aesenc_epi128(s, key); }
  static T enc_last(T s, T key) { return _mm512_aesenclast_epi128(s, key); }
  static T dec(T s, T key) { return _mm512_aesdec_epi128(s, key); }
  static T dec_last(T s, T key) { return _mm512_aesdeclast_epi128(s, key); }

  static T counter_from(uint64_t high, uint64_t low) {
    const auto h = static_cast<long long>(high);
    const auto l = static_cast<long long>(low);
    return _mm512_add_epi64(_mm512_set_epi64(h, l, h, l, h, l, h, l), _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
  }
  static T counter_add(T counter) { return _mm512_add_epi64(counter, _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4)); }
  static T counter_back(T counter, unsigned n) {
    return _mm512_sub_epi64(counter, _mm512_maskz_set1_epi64(0x55, static_cast<long long>(n)));
  }
  static T counter_bytes(T counter) {
    return _mm512_shuffle_epi8(
        counter, _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
  }
  static T shift_in(const uint8_t* before, T v) {
    return _mm512_inserti64x2(_mm512_shuffle_i64x2(v, v, 0x90), block(before), 0);
  }

  static T polynomial() { return _mm512_set1_epi64(0x87); }
  static T exclusive_or3(T a, T b, T c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
  static T tweak_from(const uint8_t* tweak) {
    const T t = broadcast(tweak);
    const T left = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
    const T carry = _mm512_srlv_epi64(t, _mm512_sub_epi64(_mm512_set1_epi64(64), left));
    return exclusive_or3(_mm512_sllv_epi64(t, left), _mm512_bslli_epi128(carry, 8),
                         _mm512_clmulepi64_epi128(carry, polynomial(), 0x01));
  }
  static T tweak_next(T t) {
    const T carry = _mm512_srli_epi64(t, 60);
    return exclusive_or3(_mm512_slli_epi64(t, 4), _mm512_bslli_epi128(carry, 8),
                         _mm512_clmulepi64_epi128(carry, polynomial(), 0x01));
  }
  static T tweak_byte(T t) {
    return exclusive_or(_mm512_bslli_epi128(t, 1),
                        _mm512_clmulepi64_epi128(_mm512_bsrli_epi128(t, 15), polynomial(), 0x00));
  }
  static constexpr bool tweaks_by_byte = true;
  static T tweak_step(T t) {
    return exclusive_or(_mm512_bslli_epi128(t, 4),
                        _mm512_clmulepi64_epi128(_mm512_bsrli_epi128(t, 12), polynomial(), 0x00));
  }
  static void tweak_lane(T t, unsigned lane, uint8_t* tweak) {
    _mm512_mask_compressstoreu_epi64(tweak, static_cast<__mmask8>(3U << (2 * lane)), t);
  }

  static T gather(const uint8_t* const* from, uint64_t offset) {
    T v = _mm512_castsi128_si512(block(from[0] + offset));
    v = _mm512_inserti64x2(v, block(from[1] + offset), 1);
    v = _mm512_inserti64x2(v, block(from[2] + offset), 2);
    return _mm512_inserti64x2(v, block(from[3] + offset), 3);
  }
  static void scatter(uint8_t* const* to, uint64_t offset, T v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to[0] + offset), _mm512_castsi512_si128(v));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to[1] + offset), _mm512_extracti64x2_epi64(v, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to[2] + offset), _mm512_extracti64x2_epi64(v, 2));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to[3] + offset), _mm512_extracti64x2_epi64(v, 3));
  }
};

void aes_lanes_vaes512(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks) {
  if (count <= 16) return aes_lanes_vaes256(mode, lanes, count, blocks);
  run_lanes<Zmm, 1>(mode, lanes, count, blocks);
}

}  // namespace

const Kernels kernels_vaes512 = {
    aes_expand_aesni,       Rows<Zmm>::ecb_encrypt, Rows<Zmm>::ecb_decrypt, aes_sequential_aesni,
    aes_lanes_vaes512,      Rows<Zmm>::cbc_decrypt, Rows<Zmm>::cfb_decrypt, Rows<Zmm>::ctr,
    Rows<Zmm>::xts_encrypt, Rows<Zmm>::xts_decrypt, aes_round_keys_aesni,
};

}  // namespace stockade::aes
