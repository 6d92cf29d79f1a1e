#include "cross/test_device.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>

#include "base/sanitizers.h"
#include "cross/random_source.h"

#if STOCKADE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace stockade::tests {

namespace {

constexpr uint64_t margin_bytes = 64;

void require(Status status, const char* what) {
  if (status == STOCKADE_OK) return;
  throw std::runtime_error(std::string("the device refuses to ") + what + ": " + stockade_status_text(status));
}

// An emulated kernel runs on the host, where AddressSanitizer can watch the margins too.
void forbid([[maybe_unused]] const uint8_t* memory, [[maybe_unused]] uint64_t bytes) {
#if STOCKADE_ADDRESS_SANITIZER
  if (test_device().emulated) __asan_poison_memory_region(memory, bytes);
#endif
}
void allow([[maybe_unused]] const uint8_t* memory, [[maybe_unused]] uint64_t bytes) {
#if STOCKADE_ADDRESS_SANITIZER
  if (test_device().emulated) __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace

const gpu::DeviceFacts& device_facts() {
  static const gpu::DeviceFacts facts = [] {
    gpu::DeviceFacts read;
    require(test_device().runtime.facts(device_number, read), "describe itself");
    return read;
  }();
  return facts;
}

bool has_its_turn(RandomSource& random) { return random.below(100) < test_scale(); }

// The first page but one: no system maps it, no driver hands it out, and no address in it is null.
uint8_t* untouchable() { return reinterpret_cast<uint8_t*>(uintptr_t{4096}); }

TestStream::TestStream() : on_device_(test_device().runtime, device_number) {
  require(on_device_.status(), "be entered");
  require(stream_.make(test_device().runtime, device_number), "make a stream");
}

gpu::Queue TestStream::queue() const {
  const gpu::DeviceFacts& facts = device_facts();
  return {stream_.handle(), facts.capability, facts.multiprocessors, facts.shared_bytes};
}

// Kernels for the tensor cores of 9.0a are empty in code for any other device. Else capabilities only choose.
gpu::Queue TestStream::queue(uint32_t capability, uint32_t multiprocessors, uint32_t shared_bytes) const {
  const gpu::Queue real = queue();
  if (test_device().emulated) return {real.stream, capability, multiprocessors, shared_bytes};
  const bool can_be = capability != 90 || real.capability == 90;
  return {real.stream, can_be ? capability : real.capability, multiprocessors,
          std::min(shared_bytes, real.shared_bytes)};
}

void TestStream::copy_in(uint8_t* to_device, const uint8_t* from, uint64_t bytes) {
  if (bytes == 0) return;
  require(test_device().runtime.copy_in(device_number, stream_.handle(), to_device, from, bytes), "copy in");
  wait();
}

void TestStream::copy_out(uint8_t* to, const uint8_t* from_device, uint64_t bytes) {
  if (bytes == 0) return;
  require(test_device().runtime.copy_out(device_number, stream_.handle(), to, from_device, bytes), "copy out");
  wait();
}

void TestStream::wait() { require(test_device().runtime.wait(device_number, stream_.handle()), "do its work"); }

DeviceBytes::DeviceBytes(TestStream& stream, uint64_t size, uint64_t misalignment)
    : stream_(&stream), begin_(margin_bytes + misalignment), size_(size) {
  static std::atomic<uint32_t> made{0};
  const uint32_t number = made++;
  behind_ = number % 2 == 0 ? margin_bytes : 0;
  noise_ = static_cast<uint8_t>(number * 29 + 7);
  require(memory_.allocate(test_device().runtime, device_number, begin_ + size_ + behind_), "allocate");
  stream_->copy_in(memory_.data(), margin(begin_).data(), begin_);
  stream_->copy_in(data() + size_, margin(behind_).data(), behind_);
  forbid(memory_.data(), begin_);
  forbid(data() + size_, behind_);
}

DeviceBytes::DeviceBytes(TestStream& stream, const Bytes& content, uint64_t misalignment)
    : DeviceBytes(stream, content.size(), misalignment) {
  write(content);
}

void DeviceBytes::write(const Bytes& content, uint64_t at) {
  if (at + content.size() > size_) throw std::logic_error("device memory is shorter than its content");
  stream_->copy_in(data() + at, content.data(), content.size());
}

Bytes DeviceBytes::read(uint64_t at, uint64_t length) const {
  stream_->wait();
  Bytes content(length);
  stream_->copy_out(content.data(), data() + at, length);
  return content;
}

bool DeviceBytes::intact() const {
  stream_->wait();
  Bytes before(begin_), behind(behind_);
  allow(memory_.data(), memory_.size());
  stream_->copy_out(before.data(), memory_.data(), begin_);
  stream_->copy_out(behind.data(), data() + size_, behind_);
  forbid(memory_.data(), begin_);
  forbid(data() + size_, behind_);
  return before == margin(begin_) && behind == margin(behind_);
}

Bytes DeviceBytes::margin(uint64_t bytes) const {
  Bytes noise(bytes);
  for (uint64_t i = 0; i < bytes; ++i) noise[i] = static_cast<uint8_t>(noise_ + 3 * i);
  return noise;
}

}  // namespace stockade::tests
