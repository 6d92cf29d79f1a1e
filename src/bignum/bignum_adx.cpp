// Montgomery arithmetic with MULX, ADCX and ADOX: one multiplication that leaves the flags alone and two carry chains,
// so that the low and the high halves of a row of products are added at the same time.
//
// Numbers are cut into blocks of eight limbs. Eight registers hold the running sum of a row of blocks; a block of 8 x 8
// limb products reads and writes each limb of the wide sum once. The functions are assembly as a whole, because they
// use every register, the frame pointer too. For 2^64 = B and K blocks:
//
//   multiply  t = a·b: for each block of b, t += (block·a) B^(8i)
//   square    t = a²: products of different limbs once, then t = 2t + the squares of the limbs
//   reduce    out = t/R: for each block i of t, the eight limbs q with t + q·n B^(8i) = 0 modulo B^(8i+8), one by one on
//             the block of n that determines them, then as in multiply for the other blocks of n; last, n is taken once
//             from a sum >= R
//
// Constant-time: no branch and no address depends on anything but K.
#include <cstdint>

#include "bignum/bignum_limbs.h"

namespace stockade::bignum {

extern "C" {
// t: 16·blocks limbs, overlaps neither factor; a, b: 8·blocks limbs.
void stockade_bignum_multiply_adx(Limb* t, const Limb* a, const Limb* b, uint64_t blocks);
void stockade_bignum_square_adx(Limb* t, const Limb* a, uint64_t blocks);
// out = (t + q·n)/R, less n where that is >= R; t: 16·blocks limbs, overwritten; out: 8·blocks limbs, not within t.
void stockade_bignum_reduce_adx(Limb* t, const Limb* n, Limb inverse, uint64_t blocks, Limb* out);
}

__asm__(R"(
# Register use in all macros: rsi a block of one factor, rcx the other's, rdi the wide sum, r8 to r15 the running sum,
# rdx, rax and rbx the product at hand.

# The rest of a row: sum += rdx·(rsi) but for the low half of the first product, which went to s0, and its high half,
# which went to s1; CF and OF carry into s1 and s2. s0, done with, becomes the sum's highest limb.
.macro bn_products_1_to_7 s0, s1, s2, s3, s4, s5, s6, s7
  mulx  8(%rsi), %rax, %rbx
  adcx  %rax, \s1
  adox  %rbx, \s2
  mulx  16(%rsi), %rax, %rbx
  adcx  %rax, \s2
  adox  %rbx, \s3
  mulx  24(%rsi), %rax, %rbx
  adcx  %rax, \s3
  adox  %rbx, \s4
  mulx  32(%rsi), %rax, %rbx
  adcx  %rax, \s4
  adox  %rbx, \s5
  mulx  40(%rsi), %rax, %rbx
  adcx  %rax, \s5
  adox  %rbx, \s6
  mulx  48(%rsi), %rax, %rbx
  adcx  %rax, \s6
  adox  %rbx, \s7
  mulx  56(%rsi), %rax, \s0
  adcx  %rax, \s7
  mov   $0, %eax
  adcx  %rax, \s0
  adox  %rax, \s0
.endm

# sum += word k of (rcx) times (rsi); sum += limb k of (rdi), which becomes the sum's lowest limb.
.macro bn_row k, s0, s1, s2, s3, s4, s5, s6, s7
  mov   8*\k(%rcx), %rdx
  xor   %eax, %eax
  mulx  (%rsi), %rax, %rbx
  adox  8*\k(%rdi), \s0
  adcx  %rax, \s0
  mov   \s0, 8*\k(%rdi)
  adox  %rbx, \s1
  bn_products_1_to_7 \s0, \s1, \s2, \s3, \s4, \s5, \s6, \s7
.endm

# (rdi, rdi + 64, ...) += (rcx)·(rsi, rsi + 64, ...), rbp blocks of rsi; the sum carries from block to block.
.macro bn_blocks
0:
  bn_row 0, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15
  bn_row 1, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r8
  bn_row 2, %r10, %r11, %r12, %r13, %r14, %r15, %r8, %r9
  bn_row 3, %r11, %r12, %r13, %r14, %r15, %r8, %r9, %r10
  bn_row 4, %r12, %r13, %r14, %r15, %r8, %r9, %r10, %r11
  bn_row 5, %r13, %r14, %r15, %r8, %r9, %r10, %r11, %r12
  bn_row 6, %r14, %r15, %r8, %r9, %r10, %r11, %r12, %r13
  bn_row 7, %r15, %r8, %r9, %r10, %r11, %r12, %r13, %r14
  add   $64, %rsi
  add   $64, %rdi
  dec   %rbp
  jnz   0b
.endm

.macro bn_store_sum
  mov   %r8, (%rdi)
  mov   %r9, 8(%rdi)
  mov   %r10, 16(%rdi)
  mov   %r11, 24(%rdi)
  mov   %r12, 32(%rdi)
  mov   %r13, 40(%rdi)
  mov   %r14, 48(%rdi)
  mov   %r15, 56(%rdi)
.endm

# rbp blocks of zeros at rax, which moves.
.macro bn_clear
  pxor  %xmm0, %xmm0
0:
  movups %xmm0, (%rax)
  movups %xmm0, 16(%rax)
  movups %xmm0, 32(%rax)
  movups %xmm0, 48(%rax)
  add   $64, %rax
  dec   %rbp
  jnz   0b
.endm

.macro bn_push register
  push  \register
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset \register, 0
.endm

.macro bn_pop register
  pop   \register
  .cfi_adjust_cfa_offset -8
  .cfi_restore \register
.endm

.macro bn_enter name, locals
  .globl \name
  .hidden \name
  .type \name, @function
  .p2align 6
\name:
  .cfi_startproc
  endbr64
  bn_push %rbx
  bn_push %rbp
  bn_push %r12
  bn_push %r13
  bn_push %r14
  bn_push %r15
  sub   $\locals, %rsp
  .cfi_adjust_cfa_offset \locals
.endm

.macro bn_leave name, locals
  add   $\locals, %rsp
  .cfi_adjust_cfa_offset -\locals
  bn_pop %r15
  bn_pop %r14
  bn_pop %r13
  bn_pop %r12
  bn_pop %rbp
  bn_pop %rbx
  ret
  .cfi_endproc
  .size \name, . - \name
.endm

  .pushsection .text

# ---- multiply(rdi: t, rsi: a, rdx: b, rcx: blocks) ----
# 0(rsp): a, 8: blocks, 16: blocks of b to come
bn_enter stockade_bignum_multiply_adx, 24
  mov   %rsi, (%rsp)
  mov   %rcx, 8(%rsp)
  mov   %rcx, 16(%rsp)
  mov   %rcx, %rbp
  mov   %rdx, %rcx
  mov   %rdi, %rax
  bn_clear
1:
  xor   %r8d, %r8d
  xor   %r9d, %r9d
  xor   %r10d, %r10d
  xor   %r11d, %r11d
  xor   %r12d, %r12d
  xor   %r13d, %r13d
  xor   %r14d, %r14d
  xor   %r15d, %r15d
  mov   (%rsp), %rsi
  mov   8(%rsp), %rbp
  bn_blocks
  bn_store_sum
  add   $64, %rcx
  mov   8(%rsp), %rax
  dec   %rax
  shl   $6, %rax
  sub   %rax, %rdi
  decq  16(%rsp)
  jnz   1b
bn_leave stockade_bignum_multiply_adx, 24

# One product (rdx)·a[j] of a row, onto the limb where its low half belongs and the next.
.macro bn_product j, low, high
  mulx  8*\j(%rsi), %rax, %rbx
  adcx  %rax, \low
  adox  %rbx, \high
.endm

# The row's last product: its high half begins a limb.
.macro bn_last_product low, high
  mulx  56(%rsi), %rax, \high
  adcx  %rax, \low
  mov   $0, %eax
  adcx  %rax, \high
  adox  %rax, \high
.endm

.macro bn_row_begin k
  mov   8*\k(%rsi), %rdx
  xor   %eax, %eax
.endm

# The products of different limbs of (rsi), once each, added to (rdi); the sum's upper half is left in r8 to r15.
.macro bn_triangle
  mov   8(%rdi), %r9
  mov   16(%rdi), %r10
  mov   24(%rdi), %r11
  mov   32(%rdi), %r12
  mov   40(%rdi), %r13
  mov   48(%rdi), %r14
  mov   56(%rdi), %r15
  bn_row_begin 0
  bn_product 1, %r9, %r10
  bn_product 2, %r10, %r11
  bn_product 3, %r11, %r12
  bn_product 4, %r12, %r13
  bn_product 5, %r13, %r14
  bn_product 6, %r14, %r15
  bn_last_product %r15, %r8
  mov   %r9, 8(%rdi)
  mov   %r10, 16(%rdi)
  bn_row_begin 1
  bn_product 2, %r11, %r12
  bn_product 3, %r12, %r13
  bn_product 4, %r13, %r14
  bn_product 5, %r14, %r15
  bn_product 6, %r15, %r8
  bn_last_product %r8, %r9
  mov   %r11, 24(%rdi)
  mov   %r12, 32(%rdi)
  bn_row_begin 2
  bn_product 3, %r13, %r14
  bn_product 4, %r14, %r15
  bn_product 5, %r15, %r8
  bn_product 6, %r8, %r9
  bn_last_product %r9, %r10
  mov   %r13, 40(%rdi)
  mov   %r14, 48(%rdi)
  bn_row_begin 3
  bn_product 4, %r15, %r8
  bn_product 5, %r8, %r9
  bn_product 6, %r9, %r10
  bn_last_product %r10, %r11
  mov   %r15, 56(%rdi)
  bn_row_begin 4
  bn_product 5, %r9, %r10
  bn_product 6, %r10, %r11
  bn_last_product %r11, %r12
  bn_row_begin 5
  bn_product 6, %r11, %r12
  bn_last_product %r12, %r13
  bn_row_begin 6
  bn_last_product %r13, %r14
  xor   %r15d, %r15d
.endm

# ---- square(rdi: t, rsi: a, rdx: blocks) ----
# 0(rsp): t, 8: a, 16: blocks, 24: blocks to come, 32: t of this row
bn_enter stockade_bignum_square_adx, 40
  mov   %rdi, (%rsp)
  mov   %rsi, 8(%rsp)
  mov   %rdx, 16(%rsp)
  mov   %rdx, 24(%rsp)
  mov   %rdx, %rbp
  mov   %rdi, %rax
  bn_clear
  mov   %rsi, %rcx
1:
  mov   %rdi, 32(%rsp)
  mov   %rcx, %rsi
  bn_triangle
  add   $64, %rsi
  add   $64, %rdi
  mov   24(%rsp), %rbp
  dec   %rbp
  jz    2f
  bn_blocks
2:
  bn_store_sum
  add   $64, %rcx
  mov   32(%rsp), %rdi
  add   $128, %rdi
  decq  24(%rsp)
  jnz   1b

  mov   (%rsp), %rdi
  mov   8(%rsp), %rsi
  mov   16(%rsp), %rcx
  shl   $1, %rcx
  xor   %eax, %eax
3:
  .irp k, 0, 1, 2, 3
  mov   8*\k(%rsi), %rdx
  mulx  %rdx, %rax, %rbx
  mov   16*\k(%rdi), %r8
  mov   16*\k+8(%rdi), %r9
  adcx  %r8, %r8
  adox  %rax, %r8
  adcx  %r9, %r9
  adox  %rbx, %r9
  mov   %r8, 16*\k(%rdi)
  mov   %r9, 16*\k+8(%rdi)
  .endr
  lea   32(%rsi), %rsi
  lea   64(%rdi), %rdi
  lea   -1(%rcx), %rcx
  jrcxz 4f
  jmp   3b
4:
bn_leave stockade_bignum_square_adx, 40

# q = lowest limb of the sum times the inverse, kept at limb k of (rdi); sum += q·(rsi), whose lowest limb is then zero.
.macro bn_reduce_row k, s0, s1, s2, s3, s4, s5, s6, s7
  mov   \s0, %rdx
  imul  16(%rsp), %rdx
  mov   %rdx, 8*\k(%rdi)
  xor   %eax, %eax
  mulx  (%rsi), %rax, %rbx
  adcx  %rax, \s0
  adox  %rbx, \s1
  bn_products_1_to_7 \s0, \s1, \s2, \s3, \s4, \s5, \s6, \s7
.endm

# ---- reduce(rdi: t, rsi: n, rdx: inverse, rcx: blocks, r8: out) ----
# 0(rsp): n, 8: blocks, 16: inverse (a secret, cleared), 24: blocks to come, 32: the carry into limb 8·(i + blocks),
# 40: out
bn_enter stockade_bignum_reduce_adx, 56
  mov   %rsi, (%rsp)
  mov   %rcx, 8(%rsp)
  mov   %rdx, 16(%rsp)
  mov   %rcx, 24(%rsp)
  movq  $0, 32(%rsp)
  mov   %r8, 40(%rsp)
1:
  mov   (%rsp), %rsi
  mov   %rdi, %rcx
  mov   (%rdi), %r8
  mov   8(%rdi), %r9
  mov   16(%rdi), %r10
  mov   24(%rdi), %r11
  mov   32(%rdi), %r12
  mov   40(%rdi), %r13
  mov   48(%rdi), %r14
  mov   56(%rdi), %r15
  bn_reduce_row 0, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15
  bn_reduce_row 1, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r8
  bn_reduce_row 2, %r10, %r11, %r12, %r13, %r14, %r15, %r8, %r9
  bn_reduce_row 3, %r11, %r12, %r13, %r14, %r15, %r8, %r9, %r10
  bn_reduce_row 4, %r12, %r13, %r14, %r15, %r8, %r9, %r10, %r11
  bn_reduce_row 5, %r13, %r14, %r15, %r8, %r9, %r10, %r11, %r12
  bn_reduce_row 6, %r14, %r15, %r8, %r9, %r10, %r11, %r12, %r13
  bn_reduce_row 7, %r15, %r8, %r9, %r10, %r11, %r12, %r13, %r14
  add   $64, %rsi
  add   $64, %rdi
  mov   8(%rsp), %rbp
  dec   %rbp
  jz    2f
  bn_blocks
2:
  mov   32(%rsp), %rax
  neg   %rax
  adc   (%rdi), %r8
  adc   8(%rdi), %r9
  adc   16(%rdi), %r10
  adc   24(%rdi), %r11
  adc   32(%rdi), %r12
  adc   40(%rdi), %r13
  adc   48(%rdi), %r14
  adc   56(%rdi), %r15
  mov   $0, %eax
  adc   %rax, %rax
  mov   %rax, 32(%rsp)
  bn_store_sum
  lea   64(%rcx), %rdi
  decq  24(%rsp)
  jnz   1b

# The upper half of t, at rdi, less n where it carried.
  mov   (%rsp), %rsi
  mov   8(%rsp), %rcx
  mov   40(%rsp), %rdx
  neg   %rax
  xor   %ebp, %ebp
3:
  .irp k, 0, 1, 2, 3
  mov   16*\k(%rsi), %r8
  mov   16*\k+8(%rsi), %r9
  and   %rax, %r8
  and   %rax, %r9
  mov   16*\k(%rdi), %r10
  mov   16*\k+8(%rdi), %r11
  add   %rbp, %rbp
  sbb   %r8, %r10
  sbb   %r9, %r11
  sbb   %rbp, %rbp
  mov   %r10, 16*\k(%rdx)
  mov   %r11, 16*\k+8(%rdx)
  .endr
  add   $64, %rsi
  add   $64, %rdi
  add   $64, %rdx
  dec   %rcx
  jnz   3b
  mov   %rcx, 16(%rsp)
bn_leave stockade_bignum_reduce_adx, 56

  .popsection
)");

namespace {

struct Adx {
  static void multiply(const Limb* a, const Limb* b, uint32_t limbs, Limb* t) {
    stockade_bignum_multiply_adx(t, a, b, limbs / block_limbs);
  }
  static void square(const Limb* a, uint32_t limbs, Limb* t) { stockade_bignum_square_adx(t, a, limbs / block_limbs); }
  static void reduce(const Montgomery& modulus, Limb* t, Limb* out) {
    stockade_bignum_reduce_adx(t, modulus.n, modulus.inverse, modulus.padded / block_limbs, out);
  }
};

}  // namespace

constinit const Kernels kernels_adx = limb_kernels<Adx>();

}  // namespace stockade::bignum
