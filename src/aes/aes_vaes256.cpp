// AES with VAES on 256-bit registers: two blocks to a register. Constant-time in key and data. The loops are in
// aes/aes_x86.h, the schedule is that of aes_aesni.cpp.
#include <immintrin.h>

#include <cstdint>

#include "aes/aes_kernels.h"
#include "aes/aes_x86.h"

namespace stockade::aes {
namespace {

struct Ymm {
  using T = __m256i;
  static constexpr unsigned blocks = 2;
  static constexpr unsigned bytes = 32;

  static __m128i block(const uint8_t* in) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in)); }

  static T load(const uint8_t* in) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)); }
  static void store(uint8_t* out, T v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), v); }
  static void stream(uint8_t* out, T v) { _mm256_stream_si256(reinterpret_cast<__m256i*>(out), v); }
  // A part of two blocks is one block.
  static T load_part(const uint8_t* in, unsigned) { return _mm256_zextsi128_si256(block(in)); }
  static void store_part(uint8_t* out, T v, unsigned) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(v));
  }
  static void copy_block(uint8_t* to, const uint8_t* from) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), block(from));
  }
  static T broadcast(const uint8_t* key) { return _mm256_broadcastsi128_si256(block(key)); }
  static T exclusive_or(T a, T b) { return _mm256_xor_si256(a, b); }
  static T exclusive_or3(T a, T b, T c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
  static T enc(T s, T key) { return _mm256_aesenc_epi128(s, key); }
  static T enc_last(T s, T key) { return _mm256_aesenclast_epi128(s, key); }
  static T dec(T s, T key) { return _mm256_aesdec_epi128(s, key); }
  static T dec_last(T s, T key) { return _mm256_aesdeclast_epi128(s, key); }

  static T counter_from(uint64_t high, uint64_t low) {
    const auto h = static_cast<long long>(high);
    const auto l = static_cast<long long>(low);
    return _mm256_add_epi64(_mm256_set_epi64x(h, l, h, l), _mm256_set_epi64x(0, 1, 0, 0));
  }
  static T counter_add(T counter) { return _mm256_add_epi64(counter, _mm256_set_epi64x(0, 2, 0, 2)); }
  static T counter_back(T counter, unsigned n) {
    const auto back = static_cast<long long>(n);
    return _mm256_sub_epi64(counter, _mm256_set_epi64x(0, back, 0, back));
  }
  static T counter_bytes(T counter) {
    return _mm256_shuffle_epi8(
        counter, _mm256_broadcastsi128_si256(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
  }
  static T shift_in(const uint8_t* before, T v) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(block(before)), _mm256_castsi256_si128(v), 1);
  }

  static T polynomial() { return _mm256_set1_epi64x(0x87); }
  static T tweak_from(const uint8_t* tweak) {
    const T t = broadcast(tweak);
    const T left = _mm256_set_epi64x(1, 1, 0, 0);
    const T carry = _mm256_srlv_epi64(t, _mm256_sub_epi64(_mm256_set1_epi64x(64), left));
    return exclusive_or(exclusive_or(_mm256_sllv_epi64(t, left), _mm256_bslli_epi128(carry, 8)),
                        _mm256_clmulepi64_epi128(carry, polynomial(), 0x01));
  }
  static T tweak_next(T t) {
    const T carry = _mm256_srli_epi64(t, 62);
    return exclusive_or(exclusive_or(_mm256_slli_epi64(t, 2), _mm256_bslli_epi128(carry, 8)),
                        _mm256_clmulepi64_epi128(carry, polynomial(), 0x01));
  }
  static T tweak_byte(T t) {
    return exclusive_or(_mm256_bslli_epi128(t, 1),
                        _mm256_clmulepi64_epi128(_mm256_bsrli_epi128(t, 15), polynomial(), 0x00));
  }
  static constexpr bool tweaks_by_byte = true;
  static T tweak_step(T t) {
    return exclusive_or(_mm256_bslli_epi128(t, 2),
                        _mm256_clmulepi64_epi128(_mm256_bsrli_epi128(t, 14), polynomial(), 0x00));
  }
  static void tweak_lane(T t, unsigned lane, uint8_t* tweak) {
    const __m128i half = lane == 0 ? _mm256_castsi256_si128(t) : _mm256_extracti128_si256(t, 1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(tweak), half);
  }

  static T gather(const uint8_t* const* from, uint64_t offset) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(block(from[0] + offset)), block(from[1] + offset), 1);
  }
  static void scatter(uint8_t* const* to, uint64_t offset, T v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to[0] + offset), _mm256_castsi256_si128(v));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to[1] + offset), _mm256_extracti128_si256(v, 1));
  }
};

}  // namespace

// Eight registers of two lanes. Twice as many in turns were no faster (12.9 against 14.0 GB/s on Sapphire Rapids).
void aes_lanes_vaes256(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks) {
  run_lanes<Ymm, 1>(mode, lanes, count, blocks);
}

const Kernels kernels_vaes256 = {
    aes_expand_aesni,       Rows<Ymm>::ecb_encrypt, Rows<Ymm>::ecb_decrypt, aes_sequential_aesni,
    aes_lanes_vaes256,      Rows<Ymm>::cbc_decrypt, Rows<Ymm>::cfb_decrypt, Rows<Ymm>::ctr,
    Rows<Ymm>::xts_encrypt, Rows<Ymm>::xts_decrypt, aes_round_keys_aesni,
};

}  // namespace stockade::aes
