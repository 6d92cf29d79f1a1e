// A GPU with memory of its own for a run: two places for messages, and what an operation on them needs beside.
#pragma once

#include <cstdint>

#include "gpu/launch.h"
#include "gpu/runtime.h"
#include "stockade/stockade.h"

namespace stockade::bench {

class Card {
 public:
  // Both places hold a message of `bytes`, sealed as chunks too. Throws std::runtime_error.
  Card(uint32_t device, uint64_t bytes);

  uint32_t device() const { return device_; }
  uint8_t* first() const { return first_.data(); }
  uint8_t* second() const { return second_.data(); }
  uint8_t* tag() const { return tag_.data(); }
  // One for a message, or one for each of its chunks.
  uint32_t* verdicts() const { return reinterpret_cast<uint32_t*>(verdicts_.data()); }

  // For calls that need so much workspace.
  stockade_device_queue queue(uint64_t workspace);
  // For kernels below the public interface.
  gpu::Queue launch_queue() const;

  // These three wait.
  void copy_in(uint8_t* to, const void* from, uint64_t bytes);
  void copy_out(void* to, const void* from, uint64_t bytes);
  void fill(void* memory, uint8_t value, uint64_t bytes);
  void wait();
  // Whether the device's memory there is what the host has: all of it, or windows from end to end of what is long.
  bool equals(const uint8_t* device, const uint8_t* host, uint64_t bytes);

  // Seconds on the device's clock from `begin` to `end`, which waits.
  void begin();
  double end();

 private:
  gpu::Runtime& runtime_;
  uint32_t device_;
  gpu::DeviceFacts facts_;
  gpu::Stream stream_;
  gpu::Event begin_, end_;
  gpu::DeviceBuffer first_, second_, tag_, verdicts_, workspace_;
};

// The largest size, halved from `wanted` on, of which a card has three times as much free and this machine four times.
uint64_t size_that_fits(uint32_t device, uint64_t wanted);

}  // namespace stockade::bench
