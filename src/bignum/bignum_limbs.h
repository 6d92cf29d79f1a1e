// What the rows on 64-bit limbs share: windows, Montgomery form and its entry and exit, over a row's three products.
//
// Between products a value is below R, not below n: (a·b + q·n)/R < R + n for a, b < R, and the row takes n away once
// where that reaches R. Only what leaves Montgomery form is brought below n.
#pragma once

#include <cstring>

#include "bignum/bignum_kernels.h"
#include "bignum/integer.h"

namespace stockade::bignum {

// Rows work on blocks of this many limbs: Montgomery::padded is a multiple of it.
inline constexpr uint32_t block_limbs = 8;

// out = a < n ? a : a - n, for a < 2n; `out` may be a.
void subtract_once(const Montgomery& modulus, const Limb* a, Limb* out);

// out = table[index] of `count` entries of `limbs` limbs each, a multiple of 8, reading the whole table.
void select_entry(const Limb* table, uint32_t count, uint32_t index, uint32_t limbs, Limb* out);

// `Products` has
//   multiply(a, b, limbs, t)     t = a·b, 2·limbs limbs, overlapping neither
//   square(a, limbs, t)          t = a²
//   reduce(modulus, t, out)      out = t/R mod n below R, for t of 2·padded limbs, which it overwrites
template <typename Products>
class LimbRow {
 public:
  static uint32_t words(const Montgomery& modulus) { return modulus.padded; }
  static uint32_t scratch_words(const Montgomery& modulus) { return 3 * modulus.padded; }

  static void multiply(const Montgomery& modulus, const Limb* a, const Limb* b, Limb* out, Limb* scratch) {
    Products::multiply(a, b, modulus.padded, scratch);
    Products::reduce(modulus, scratch, out);
  }
  static void square(const Montgomery& modulus, const Limb* a, Limb* out, Limb* scratch) {
    Products::square(a, modulus.padded, scratch);
    Products::reduce(modulus, scratch, out);
  }
  static void enter(const Montgomery& modulus, const Limb* plain, Limb* out, Limb* scratch) {
    pad(modulus, plain, out);
    multiply(modulus, out, modulus.rr, out, scratch);
  }
  static void leave(const Montgomery& modulus, const Limb* a, Limb* plain, Limb* scratch) {
    const uint32_t limbs = modulus.padded;
    std::memcpy(scratch, a, limbs * sizeof(Limb));
    std::memset(scratch + limbs, 0, limbs * sizeof(Limb));
    Limb* const below_r = scratch + 2 * limbs;
    Products::reduce(modulus, scratch, below_r);
    give(modulus, below_r, plain);
  }

  static Status modexp(const Power* tasks, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (const Status status = window_power(tasks[i]); status != STOCKADE_OK) return status;
    }
    return STOCKADE_OK;
  }
  static Status modexp_public(const Power* tasks, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (const Status status = binary_power(tasks[i]); status != STOCKADE_OK) return status;
    }
    return STOCKADE_OK;
  }

 private:
  static void pad(const Montgomery& modulus, const Limb* plain, Limb* out) {
    std::memcpy(out, plain, modulus.limbs * sizeof(Limb));
    std::memset(out + modulus.limbs, 0, (modulus.padded - modulus.limbs) * sizeof(Limb));
  }
  // The last step out of Montgomery form: a < 2n, overwritten.
  static void give(const Montgomery& modulus, Limb* a, Limb* plain) {
    subtract_once(modulus, a, a);
    std::memcpy(plain, a, modulus.limbs * sizeof(Limb));
  }

  // Fixed windows from the top (Handbook of Applied Cryptography 14.82), the table read whole for each.
  static Status window_power(const Power& task) {
    const Montgomery& modulus = *task.modulus;
    const uint32_t limbs = modulus.padded;
    const uint32_t width = window_bits(task.exponent_bits);
    const uint32_t entries = 1U << width;
    Scratch memory((entries + 5) * size_t{limbs});
    if (memory.words == nullptr) return STOCKADE_ERROR_MEMORY;
    Limb* const table = memory.words;
    Limb* const power = table + entries * size_t{limbs};
    Limb* const factor = power + limbs;
    Limb* const scratch = factor + limbs;
    const auto entry = [table, limbs](uint32_t i) { return table + i * size_t{limbs}; };

    std::memcpy(entry(0), modulus.r, limbs * sizeof(Limb));
    enter(modulus, task.base, entry(1), scratch);
    for (uint32_t i = 2; i < entries; i += 2) {
      square(modulus, entry(i / 2), entry(i), scratch);
      multiply(modulus, entry(i), entry(1), entry(i + 1), scratch);
    }

    uint32_t from = task.exponent_bits == 0 ? 0 : (task.exponent_bits - 1) / width * width;
    select_entry(table, entries, exponent_window(task.exponent, task.exponent_bits, from, width), limbs, power);
    while (from != 0) {
      from -= width;
      for (uint32_t i = 0; i < width; ++i) square(modulus, power, power, scratch);
      select_entry(table, entries, exponent_window(task.exponent, task.exponent_bits, from, width), limbs, factor);
      multiply(modulus, power, factor, power, scratch);
    }
    leave(modulus, power, task.result, scratch);
    return STOCKADE_OK;
  }

  // Bit by bit from the top: an exponent such as 2^16 + 1 has few ones. Where the lowest bit is one, as it is in RSA,
  // the last product takes the base as it is, which leads out of Montgomery form.
  static Status binary_power(const Power& task) {
    const Montgomery& modulus = *task.modulus;
    const uint32_t limbs = modulus.padded;
    uint32_t bits = task.exponent_bits;
    while (bits != 0 && bit(task.exponent, bits - 1) == 0) --bits;
    Scratch memory(5 * size_t{limbs});
    if (memory.words == nullptr) return STOCKADE_ERROR_MEMORY;
    Limb* const base = memory.words;
    Limb* const power = base + limbs;
    Limb* const scratch = power + limbs;
    if (bits == 0) {
      leave(modulus, modulus.r, task.result, scratch);
      return STOCKADE_OK;
    }
    enter(modulus, task.base, base, scratch);
    std::memcpy(power, base, limbs * sizeof(Limb));
    for (uint32_t i = bits - 1; i-- > 1;) {
      square(modulus, power, power, scratch);
      if (bit(task.exponent, i) != 0) multiply(modulus, power, base, power, scratch);
    }
    if (bits > 1) square(modulus, power, power, scratch);
    if (bits > 1 && bit(task.exponent, 0) != 0) {
      pad(modulus, task.base, base);
      multiply(modulus, power, base, power, scratch);
      give(modulus, power, task.result);
    } else {
      leave(modulus, power, task.result, scratch);
    }
    return STOCKADE_OK;
  }
};

template <typename Products>
constexpr Kernels limb_kernels() {
  using Row = LimbRow<Products>;
  return {&Row::modexp,
          &Row::modexp_public,
          {&Row::words, &Row::scratch_words, &Row::enter, &Row::leave, &Row::multiply, &Row::square}};
}

}  // namespace stockade::bignum
