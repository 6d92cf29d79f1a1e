// The contract between rows of modular arithmetic and everything that calls them. Kernel files include only this
// header, <cstdint> and intrinsics, so nothing here has a body that could be compiled with a kernel's instruction set.
//
// Numbers are arrays of 64-bit limbs, least significant first. Every row but `reference` is constant-time: what it does
// and which addresses it touches depend on sizes only (`bits` of a modulus, `exponent_bits`, the number of tasks),
// never on the value of a modulus, a base, an exponent or a result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace stockade::bignum {

using Limb = uint64_t;

inline constexpr uint32_t limb_bits = 64;
inline constexpr uint32_t most_bits = 16384;  // of a modulus
inline constexpr uint32_t most_limbs = most_bits / limb_bits;
inline constexpr uint32_t digit_bits = 52;  // of the row on IFMA
inline constexpr uint32_t most_digits = (most_bits + 2 + digit_bits - 1) / digit_bits;

// An odd modulus n > 1 and what Montgomery's method needs of it, in both radices: R = 2^(64·padded), and R52 =
// 2^(52·digits) for digits of 52 bits, one to a word. class Modulus (modexp.h) makes and owns what this points to; all
// arrays are aligned to 64 bytes, and zeros follow up to a multiple of 8 words.
struct Montgomery {
  uint32_t bits;       // of n, exactly: 2^(bits-1) < n < 2^bits
  uint32_t limbs;      // ceil(bits / 64)
  uint32_t padded;     // limbs rounded up to a multiple of 8, in which the rows on limbs work
  uint32_t digits;     // ceil((bits + 2) / 52), so that R52 > 4n and reduced values need no last subtraction on the way
  Limb inverse;        // -1/n modulo 2^64
  uint64_t inverse52;  // -1/n modulo 2^52
  const Limb* n;       // `padded` each:
  const Limb* r;       // R mod n, which is 1 in Montgomery form
  const Limb* rr;      // R^2 mod n
  const uint64_t* n52;   // `digits` each:
  const uint64_t* r52;   // R52 mod n
  const uint64_t* rr52;  // R52^2 mod n
};

// One power: result = base^exponent mod n.
struct Power {
  const Montgomery* modulus;
  const Limb* base;        // `limbs` limbs, below n
  const Limb* exponent;    // ceil(exponent_bits / 64) limbs; bits from exponent_bits on are zero
  uint32_t exponent_bits;  // a public bound on the exponent's length; 0 makes the result 1
  Limb* result;            // `limbs` limbs; may be `base`, and overlaps nothing else
};

// Tasks may be of different sizes. A row of several lanes puts those side by side that are neighbours and agree in
// `digits`; what is left over it does by whatever is fastest for that many. MEMORY.
using ModexpFn = Status (*)(const Power* tasks, size_t count);

// Single products in Montgomery form: the building blocks of the study's two-thread right-to-left exponentiation (its
// "TT", which the ablation measures), in which one thread squares while another multiplies, and of Modulus::multiply and
// reduce. A residue is `words(modulus)` words in the row's own radix and R, aligned to 64 bytes, and below n unless the
// row says otherwise of what it makes and takes; `scratch` is `scratch_words(modulus)` words for one call at a time,
// aligned to 64 bytes, and keeps secrets that its owner wipes. Outputs may be an input.
struct Residues {
  uint32_t (*words)(const Montgomery& modulus);
  uint32_t (*scratch_words)(const Montgomery& modulus);
  // out = a·R mod n, and back; a plain number has `limbs` limbs and is below n.
  void (*enter)(const Montgomery& modulus, const Limb* plain, uint64_t* out, uint64_t* scratch);
  void (*leave)(const Montgomery& modulus, const uint64_t* a, Limb* plain, uint64_t* scratch);
  // out = a·b/R mod n.
  void (*multiply)(const Montgomery& modulus, const uint64_t* a, const uint64_t* b, uint64_t* out, uint64_t* scratch);
  void (*square)(const Montgomery& modulus, const uint64_t* a, uint64_t* out, uint64_t* scratch);
};

struct Kernels {
  ModexpFn modexp;
  ModexpFn modexp_public;  // the exponents are public, such as 65,537: time may depend on them, and on nothing else
  Residues residues;
};

// One definition in each row's own file; a row whose file is not compiled for this machine's architecture is not
// listed.
extern const Kernels kernels_reference;
extern const Kernels kernels_portable;
extern const Kernels kernels_adx;
extern const Kernels kernels_avx2;
extern const Kernels kernels_ifma;

// Working memory of a kernel: aligned to 64 bytes, not cleared, wiped when it goes. `words` is null without memory.
// Kernels come by it through functions, so that none of it is compiled for their instruction set (bignum_scratch.cpp).
struct Scratch {
  explicit Scratch(size_t count);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  uint64_t* words;

 private:
  size_t bytes_;
};

// The width w of the fixed windows for an exponent of that many bits: a table of 2^w entries is scanned whole for each.
uint32_t window_bits(uint32_t exponent_bits);

// Bits [from, from + width) of the exponent, width <= 8; bits from exponent_bits on read as zero. Constant-time in the
// value.
uint32_t exponent_window(const Limb* exponent, uint32_t exponent_bits, uint32_t from, uint32_t width);

// Radix 2^64 to radix 2^52 and back, constant-time. Digits are fully carried, below 2^52; what has no room is dropped.
void limbs_to_digits(const Limb* limbs, uint32_t limb_count, uint64_t* digits, uint32_t digit_count);
void digits_to_limbs(const uint64_t* digits, uint32_t digit_count, Limb* limbs, uint32_t limb_count);

}  // namespace stockade::bignum
