// What a kernel may ask of the thread that runs it. A kernel's body is a template over its thread: `DeviceThread` below is
// the GPU's own, `EmulatedThread` (gpu/emulator.h) runs the same body on the CPU, so every kernel's logic is tested where
// there is no GPU. Bodies are compiled by the host's compiler as well as by nvcc and use nothing but this header.
//
// A thread, beside the members of DeviceThread, knows `index` (within its block), `threads` (per block), `block` and
// `blocks` (of the grid).
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define STOCKADE_DEVICE __host__ __device__ __forceinline__
#define STOCKADE_DEVICE_TABLE static __constant__  // global memory would answer half a microsecond later
#define STOCKADE_UNROLL _Pragma("unroll")          // the loop that follows becomes straight code
#define STOCKADE_UNROLL_BY(count) _Pragma(STOCKADE_TEXT(unroll count))  // so many steps at a time
#define STOCKADE_TEXT(text) #text
#define STOCKADE_ROLLED _Pragma("unroll 1")  // it stays a loop
#else
#define STOCKADE_DEVICE inline
#define STOCKADE_DEVICE_TABLE inline const
#define STOCKADE_UNROLL
#define STOCKADE_UNROLL_BY(count)
#define STOCKADE_ROLLED
#endif

namespace stockade::gpu {

inline constexpr uint32_t warp_lanes = 32;

// 16 bytes as they lie in memory: the first byte is the lowest of w[0].
struct alignas(16) Quad {
  uint32_t w[4];
};

STOCKADE_DEVICE Quad operator^(Quad a, Quad b) {
  return {{a.w[0] ^ b.w[0], a.w[1] ^ b.w[1], a.w[2] ^ b.w[2], a.w[3] ^ b.w[3]}};
}

// ---- operations on words, one instruction each on the GPU ----

// Byte i of the result is byte number `selector` >> 4i & 7 of (high, low).
STOCKADE_DEVICE uint32_t permute_bytes(uint32_t low, uint32_t high, uint32_t selector) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(low, high, selector);
#else
  const uint64_t both = uint64_t{high} << 32 | low;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    result |= static_cast<uint32_t>(both >> 8 * (selector >> 4 * i & 7) & 0xFF) << 8 * i;
  }
  return result;
#endif
}

STOCKADE_DEVICE uint32_t swap_bytes(uint32_t word) { return permute_bytes(word, 0, 0x0123); }

// The upper word of (high, low) << count, count below 32.
STOCKADE_DEVICE uint32_t shift_left(uint32_t low, uint32_t high, uint32_t count) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(low, high, count);
#else
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) << (count & 31) >> 32);
#endif
}

STOCKADE_DEVICE uint32_t rotate_left(uint32_t word, uint32_t count) { return shift_left(word, word, count); }

// The boolean function of three variables whose truth table is `table`: f(0xF0, 0xCC, 0xAA).
template <uint32_t table>
STOCKADE_DEVICE uint32_t logic3(uint32_t a, uint32_t b, uint32_t c) {
#if defined(__CUDA_ARCH__)
  uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(table));
  return result;
#else
  uint32_t result = 0;
  for (uint32_t row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  }
  return result;
#endif
}

STOCKADE_DEVICE uint32_t count_ones(uint32_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__popc(word));
#else
  return static_cast<uint32_t>(__builtin_popcount(word));
#endif
}

// ---- matrices of bits, for the tensor cores ----

// A matrix of 128 columns (n) and 256 rows (k) of bits in shared memory, 4 KiB at a multiple of 128 bytes: bit k of column n
// is bit k % 128 of the 16 bytes at 256·(n / 8) + 128·(k / 128) + 16·(n % 8), lowest bit of the first byte first. (Cores of
// eight columns by 16 bytes, not swizzled, "K-major": PTX ISA, "Shared Memory Matrix Layout" of wgmma.)
inline constexpr uint32_t bit_matrix_bytes = 4096;
STOCKADE_DEVICE uint32_t bit_matrix_offset(uint32_t column, uint32_t word) {  // of bits 32·word to 32·word + 31
  return 256 * (column / 8) + 128 * (word / 4) + 16 * (column % 8) + 4 * (word % 4);
}

// What a warp group's product of 64 rows by 128 columns leaves in a thread, as counts of ones: with g = lane / 4 and
// s = lane % 4, sum[4i + e] is column 8i + 2s + e of row 16·warp + g, and sum[4i + 2 + e] that of the row eight further.
struct BitSums {
  uint32_t sum[64];
};

#if defined(__CUDACC__)

extern __shared__ uint8_t shared_memory[];

class DeviceThread {
 public:
  uint32_t index, threads, block, blocks;

  __device__ __forceinline__ DeviceThread()
      : index(threadIdx.x), threads(blockDim.x), block(blockIdx.x), blocks(gridDim.x) {}

  // ---- the block's shared memory, at 16-byte boundaries or better ----
  __device__ __forceinline__ uint8_t* shared() const { return shared_memory; }
  __device__ __forceinline__ uint32_t shared_word(uint32_t offset) const {
    return *reinterpret_cast<const uint32_t*>(shared_memory + offset);
  }

  // ---- meeting others; all threads of the block, or of the warp, must come ----
  __device__ __forceinline__ void sync_block() const { __syncthreads(); }
  __device__ __forceinline__ void sync_warp() const { __syncwarp(); }
  // Threads of `count` (a multiple of 32) that share the number `barrier` (1 to 15).
  __device__ __forceinline__ void sync_some(uint32_t barrier, uint32_t count) const {
    asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(count) : "memory");
  }
  __device__ __forceinline__ uint32_t shuffle(uint32_t value, uint32_t lane) const {
    return __shfl_sync(0xFFFFFFFF, value, static_cast<int>(lane));
  }
  __device__ __forceinline__ uint32_t shuffle_xor(uint32_t value, uint32_t mask) const {
    return __shfl_xor_sync(0xFFFFFFFF, value, static_cast<int>(mask));
  }
  // Bit i is whether lane i's value is not 0.
  __device__ __forceinline__ uint32_t ballot(uint32_t value) const { return __ballot_sync(0xFFFFFFFF, value != 0); }

  // ---- global memory ----
  // Data that is touched once: 16-byte aligned, or any alignment.
  __device__ __forceinline__ Quad load_quad(const uint8_t* at) const {
    const uint4 v = __ldcs(reinterpret_cast<const uint4*>(at));
    return {{v.x, v.y, v.z, v.w}};
  }
  __device__ __forceinline__ void store_quad(uint8_t* at, Quad quad) const {
    __stcs(reinterpret_cast<uint4*>(at), make_uint4(quad.w[0], quad.w[1], quad.w[2], quad.w[3]));
  }
  __device__ __forceinline__ uint32_t atomic_add(uint32_t* at, uint32_t value) const { return atomicAdd(at, value); }
  __device__ __forceinline__ uint32_t atomic_xor(uint32_t* at, uint32_t value) const { return atomicXor(at, value); }
  // What this thread has written to global memory is seen by whoever sees a later write of it.
  __device__ __forceinline__ void fence() const { __threadfence(); }

  // ---- tensor cores of compute capability 9.0a; the four warps of a warp group must come ----
  // Whether this code is for them; kernels that need them are empty elsewhere.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  static constexpr bool multiplies_bits = true;
#else
  static constexpr bool multiplies_bits = false;
#endif
  // Before the first product: matrices written by this thread with ordinary stores become visible to the tensor cores.
  __device__ __forceinline__ void matrices_written() const {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
#endif
  }
  // Before the first product, and whenever `sums` or `a` of products not yet begun were touched by other instructions.
  __device__ __forceinline__ void products_begin() const {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
#endif
  }
  __device__ __forceinline__ void products_commit() const {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
#endif
  }
  template <uint32_t pending>
  __device__ __forceinline__ void products_wait() const {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(pending) : "memory");
#endif
  }
  // sums (+)= ones in common of each row of A with each column of the matrix at `offset` of shared memory. A's rows have 256
  // bits: thread (g, s) gives word s of row g and of row g + 8 of its warp in a[0] and a[1], word s + 4 in a[2] and a[3].
  __device__ __forceinline__ void multiply_bits(BitSums& sums, const uint32_t (&a)[4], uint32_t offset,
                                                bool accumulate) const;
};

// SM90 matrix descriptor: address, distance of cores along k (128 bytes) and along n (256 bytes), each divided by 16.
__device__ __forceinline__ void DeviceThread::multiply_bits(BitSums& sums, const uint32_t (&a)[4], uint32_t offset,
                                                            bool accumulate) const {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(shared_memory)) + offset;
  const uint64_t matrix = (address & 0x3FFFF) >> 4 | uint64_t{128 / 16} << 16 | uint64_t{256 / 16} << 32;
  uint32_t(&s)[64] = sums.sum;
  asm volatile(
      "{\n.reg .pred accumulate;\nsetp.ne.u32 accumulate, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, accumulate;\n}"
      : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]), "+r"(s[4]), "+r"(s[5]), "+r"(s[6]), "+r"(s[7]), "+r"(s[8]),
        "+r"(s[9]), "+r"(s[10]), "+r"(s[11]), "+r"(s[12]), "+r"(s[13]), "+r"(s[14]), "+r"(s[15]), "+r"(s[16]),
        "+r"(s[17]), "+r"(s[18]), "+r"(s[19]), "+r"(s[20]), "+r"(s[21]), "+r"(s[22]), "+r"(s[23]), "+r"(s[24]),
        "+r"(s[25]), "+r"(s[26]), "+r"(s[27]), "+r"(s[28]), "+r"(s[29]), "+r"(s[30]), "+r"(s[31]), "+r"(s[32]),
        "+r"(s[33]), "+r"(s[34]), "+r"(s[35]), "+r"(s[36]), "+r"(s[37]), "+r"(s[38]), "+r"(s[39]), "+r"(s[40]),
        "+r"(s[41]), "+r"(s[42]), "+r"(s[43]), "+r"(s[44]), "+r"(s[45]), "+r"(s[46]), "+r"(s[47]), "+r"(s[48]),
        "+r"(s[49]), "+r"(s[50]), "+r"(s[51]), "+r"(s[52]), "+r"(s[53]), "+r"(s[54]), "+r"(s[55]), "+r"(s[56]),
        "+r"(s[57]), "+r"(s[58]), "+r"(s[59]), "+r"(s[60]), "+r"(s[61]), "+r"(s[62]), "+r"(s[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(matrix), "r"(static_cast<uint32_t>(accumulate)));
#endif
}

#endif

}  // namespace stockade::gpu
