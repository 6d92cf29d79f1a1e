// The GPU on which a program tests kernels: the emulated one (test_device_emulated.cpp) or the machine's own
// (test_device_cuda.cpp). Which of the two is linked makes the program; the tests are the same objects.
//
// Whatever a device refuses here is a std::runtime_error, which fails the test.
#pragma once

#include <cstdint>
#include <vector>

#include "aes/aes_cuda.h"
#include "gcm/gcm_cuda.h"
#include "gpu/launch.h"
#include "gpu/runtime.h"

namespace stockade::tests {

using Bytes = std::vector<uint8_t>;

struct TestDevice {
  bool emulated;
  gpu::Runtime& runtime;
  const aes::GpuKernels& aes;
  const gcm::GpuKernels& gcm;
};
const TestDevice& test_device();

// The first device's, which is the one that tests use.
inline constexpr uint32_t device_number = 0;
const gpu::DeviceFacts& device_facts();

// What to draw from: `emulated` numbers are small, for an emulator has seconds for what a GPU does in microseconds.
inline uint64_t by_device(uint64_t emulated, uint64_t real) { return test_device().emulated ? emulated : real; }

// One of many cases of a loop: fewer of them are tested at a scale under 100.
class RandomSource;
bool has_its_turn(RandomSource& random);

// Device memory that nobody can read or write, up to 60 KiB from there: to be given where nothing may be touched.
uint8_t* untouchable();

// A stream of the device, and the calling thread's leave to launch kernels while this lives. For that thread alone.
class TestStream {
 public:
  TestStream();

  // The device as it is.
  gpu::Queue queue() const;
  // As a device of this kind: the emulated one can be any, a real one only what it has the instructions and the memory for.
  gpu::Queue queue(uint32_t capability, uint32_t multiprocessors, uint32_t shared_bytes) const;

  void copy_in(uint8_t* to_device, const uint8_t* from, uint64_t bytes);
  void copy_out(uint8_t* to, const uint8_t* from_device, uint64_t bytes);
  void wait();

 private:
  gpu::Stream stream_;
  gpu::OnDevice on_device_;
};

// Device memory at any distance from a multiple of 64 bytes, between margins that must stay as they are. Every other one has
// no margin behind but ends where its allocation does: tools that watch memory see there what others see in a margin.
class DeviceBytes {
 public:
  DeviceBytes(TestStream& stream, const Bytes& content, uint64_t misalignment = 0);
  // What it holds is left to chance; nobody may copy from it before it has been written.
  DeviceBytes(TestStream& stream, uint64_t size, uint64_t misalignment = 0);
  DeviceBytes(DeviceBytes&&) = default;
  DeviceBytes& operator=(DeviceBytes&&) = default;

  uint8_t* data() const { return memory_.data() + begin_; }
  uint64_t size() const { return size_; }
  void write(const Bytes& content, uint64_t at = 0);
  // These two wait for all work of the stream.
  Bytes read(uint64_t at, uint64_t length) const;
  Bytes bytes() const { return read(0, size_); }
  bool intact() const;

 private:
  Bytes margin(uint64_t bytes) const;

  TestStream* stream_;
  gpu::DeviceBuffer memory_;
  uint64_t begin_, size_, behind_;
  uint8_t noise_;
};

}  // namespace stockade::tests
