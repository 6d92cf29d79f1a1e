// What the host does for AES on a GPU before anything is launched: key schedules, sizes of workspaces, launch shapes.
#include "aes/aes_cuda.h"
#include "aes/aes_kernels.h"
#include "aes/aes_launch.h"

namespace stockade::aes {

namespace {

// A policy row: what devices of this compute capability and above are given. Shapes are threads, blocks per thread, thread
// blocks per multiprocessor.
struct ShapeRow {
  uint32_t capability;
  gpu::Shape ctr, others;
  uint64_t short_bytes;  // under which CTR is given the shape that begins soonest
  gpu::Shape ctr_short;
};

// Highest capability first. 128 KiB of tables let one block live on a multiprocessor; devices under 8.0 and 8.6 to 8.9 have
// 64 KiB of tables and 64 registers for a thread.
//
// 9.0: NVIDIA H200, 2026-11-22, GB/s of AES-128 over 4 GiB in CTR, CBC decryption and XTS: {768, 2} 923, 750, 756; {1024, 2} 920,
// 754, 756; {512, 4} 879, 736, 747; {1024, 1} 893, 734, 748; {512, 2} 921, 618, 623. 1 MiB of CTR takes {1024, 1} 10.1 us,
// {512, 4} 10.8. Other rows have been measured by nobody yet.
constexpr ShapeRow shape_rows[] = {
    {120, {1024, 2, 1}, {1024, 2, 1}, uint64_t{16} << 20, {1024, 1, 1}},
    {90, {768, 2, 1}, {1024, 2, 1}, uint64_t{16} << 20, {1024, 1, 1}},
    {86, {1024, 2, 1}, {1024, 2, 1}, uint64_t{16} << 20, {1024, 1, 1}},
    {80, {512, 4, 1}, {512, 4, 1}, uint64_t{16} << 20, {1024, 1, 1}},
    {0, {1024, 2, 1}, {1024, 2, 1}, uint64_t{16} << 20, {1024, 1, 1}},
};

// FIPS 197 §5.3.3 on one column, as MixColumns (§5.1.3) of a column to which 4·(a_0 + a_2) and 4·(a_1 + a_3) were added.
uint32_t inverse_mix_column(uint32_t x) {
  const uint32_t four = double_bytes(double_bytes(x ^ rotate_bytes(x, 2)));
  return mix_column(x ^ four);
}

}  // namespace

void gpu_expand(const uint8_t* key, uint32_t key_bytes, RoundKeys& encrypt, RoundKeys& decrypt) {
  aes_expand_words_portable(key, key_bytes, encrypt.word);
  encrypt.rounds = decrypt.rounds = key_bytes / 4 + 6;
  for (uint32_t round = 0; round <= encrypt.rounds; ++round) {
    const uint32_t* from = encrypt.word + 4 * (encrypt.rounds - round);
    const bool outer = round == 0 || round == encrypt.rounds;
    for (uint32_t j = 0; j < 4; ++j) decrypt.word[4 * round + j] = outer ? from[j] : inverse_mix_column(from[j]);
  }
}

uint64_t gpu_workspace_bytes(GpuOperation operation, const gpu::Queue& queue, const gpu::Shape& shape, uint64_t length,
                             uint64_t unit) {
  const bool chained = operation == GpuOperation::cbc_decrypt || operation == GpuOperation::cfb_decrypt;
  const bool xts = operation == GpuOperation::xts_encrypt || operation == GpuOperation::xts_decrypt;
  if (length == 0 || (!chained && !xts)) return 0;
  uint64_t most = 0;
  // Aligned data and other takes different plans; the workspace does for both.
  for (const bool aligned : {false, true}) {
    const TableForm form = table_form(queue, shape, aligned, length);
    if (chained) {
      most = std::max(most, 16 * chained_plan(form, length).runs);
    } else {
      const XtsPlan plan = xts_plan(form, unit, length);
      most = std::max(most, 16 * (plan.pieces + plan.steals));
    }
  }
  return most;
}

std::span<const GpuCtrVariant> gpu_ctr_variants() {
  static constexpr GpuCtrVariant rows[] = {
      {"tables", &GpuKernels::ctr,
       [](uint32_t capability, uint64_t length) { return default_shape(GpuOperation::ctr, capability, length); }},
      {"bitsliced", &GpuKernels::ctr_bitsliced, [](uint32_t, uint64_t) { return ctr_bitsliced_shape; }},
  };
  return rows;
}

gpu::Shape default_shape(GpuOperation operation, uint32_t capability, uint64_t length) {
  const ShapeRow* row = shape_rows;
  while (capability < row->capability) ++row;
  if (operation != GpuOperation::ctr) return row->others;
  return length < row->short_bytes ? row->ctr_short : row->ctr;
}

}  // namespace stockade::aes
