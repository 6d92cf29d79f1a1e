// The machine's own GPU, and the entry of the program that tests it: where there is none, the program says why and is
// skipped.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "cross/random_source.h"
#include "cross/test_device.h"
#include "offload/backend.h"

namespace stockade::tests {

const TestDevice& test_device() {
  static const TestDevice device{false, gpu::runtime(), aes::gpu_kernels_cuda, gcm::gpu_kernels_cuda};
  return device;
}

namespace {

// CTest is told that this exit status means "skipped".
constexpr int skipped = 77;

int run_tests() {
  uint32_t devices = 0;
  const Status status = gpu::runtime().count(devices);
  if (status == STOCKADE_ERROR_UNAVAILABLE) {
    std::printf("skipped: no GPU can be used: %s\n", gpu::runtime().absence());
    return skipped;
  }
  if (status != STOCKADE_OK) {
    std::printf("looking for a GPU: %s\n", stockade_status_text(status));
    return EXIT_FAILURE;
  }
  const gpu::DeviceFacts& facts = device_facts();
  if (facts.capability < offload::least_capability) {
    std::printf("skipped: %s has compute capability %u.%u, and kernels are built for %u.%u and later\n", facts.name,
                facts.capability / 10, facts.capability % 10, offload::least_capability / 10,
                offload::least_capability % 10);
    return skipped;
  }
  std::printf("on %s: compute capability %u.%u, %u multiprocessors\n", facts.name, facts.capability / 10,
              facts.capability % 10, facts.multiprocessors);
  std::printf("STOCKADE_TEST_SEED=%llu STOCKADE_TEST_SCALE=%llu\n", static_cast<unsigned long long>(test_seed()),
              static_cast<unsigned long long>(test_scale()));
  return RUN_ALL_TESTS();
}

}  // namespace

}  // namespace stockade::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return stockade::tests::run_tests();
}
