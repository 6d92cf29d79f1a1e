// The abstract class over a GPU's driver: its guard against fork, its owners of memory, and the devices that tests are run on.
#include "gpu/runtime.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cross/random_source.h"
#include "gpu/runtime_emulated.h"

namespace stockade::gpu {
namespace {

using tests::Bytes;
constexpr uint64_t kib = 1024;

TEST(Runtime, of_the_machine_says_why_it_has_no_device) {
  uint32_t devices = 7;
  const Status status = runtime().count(devices);
  if (status == STOCKADE_OK) {
    EXPECT_GE(devices, 1U);
    EXPECT_STREQ(runtime().absence(), "");
    DeviceFacts facts;
    ASSERT_EQ(runtime().facts(0, facts), STOCKADE_OK);
    EXPECT_STRNE(facts.name, "");
    EXPECT_GE(facts.capability, 50U);
  } else {
    EXPECT_EQ(status, STOCKADE_ERROR_UNAVAILABLE);
    EXPECT_EQ(devices, 0U);
    EXPECT_STRNE(runtime().absence(), "");
    DeviceBuffer buffer;
    EXPECT_EQ(buffer.allocate(runtime(), 0, 100), STOCKADE_ERROR_UNAVAILABLE);
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(OnDevice(runtime(), 0).status(), STOCKADE_ERROR_UNAVAILABLE);
    Place place;
    EXPECT_EQ(runtime().locate(&place, place), STOCKADE_ERROR_UNAVAILABLE);
  }
}

class Emulated : public testing::Test {
 protected:
  ~Emulated() override {
    EXPECT_EQ(runtime_.live(), 0U);
    EXPECT_EQ(runtime_.misuses(), expected_misuses_);
  }
  EmulatedRuntime runtime_{{{64 * kib, 90, 2, 227 << 10}, {kib, 75, 3, 64 << 10}}};
  uint64_t expected_misuses_ = 0;
  tests::RandomSource random_;
};

TEST_F(Emulated, tells_its_devices) {
  uint32_t devices = 0;
  ASSERT_EQ(runtime_.count(devices), STOCKADE_OK);
  EXPECT_EQ(devices, 2U);
  DeviceFacts facts;
  ASSERT_EQ(runtime_.facts(1, facts), STOCKADE_OK);
  EXPECT_EQ(facts.capability, 75U);
  EXPECT_EQ(facts.multiprocessors, 3U);
  EXPECT_EQ(facts.shared_bytes, 64U << 10);
  EXPECT_EQ(facts.memory, kib);
  EXPECT_STRNE(facts.name, "");
  EXPECT_STRNE(facts.bus, "");
  EXPECT_EQ(runtime_.facts(2, facts), STOCKADE_ERROR_UNAVAILABLE);
  EmulatedRuntime none({});
  EXPECT_EQ(none.count(devices), STOCKADE_ERROR_UNAVAILABLE);
  EXPECT_STREQ(none.absence(), "no GPU is present");
}

TEST_F(Emulated, memory_ends) {
  DeviceBuffer first, second;
  uint64_t free = 0;
  ASSERT_EQ(first.allocate(runtime_, 1, 600), STOCKADE_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.data()) % 256, 0U);
  EXPECT_EQ(second.allocate(runtime_, 1, 600), STOCKADE_ERROR_DEVICE_MEMORY);
  EXPECT_EQ(second.data(), nullptr);
  ASSERT_EQ(runtime_.free_memory(1, free), STOCKADE_OK);
  EXPECT_EQ(free, kib - 600);
  EXPECT_EQ(second.allocate(runtime_, 0, 600), STOCKADE_OK);
  first.release();
  EXPECT_EQ(second.allocate(runtime_, 1, 600), STOCKADE_OK);
  EXPECT_EQ(runtime_.allocated(0), 0U) << "what was held before is given back";
}

TEST_F(Emulated, copies_both_ways_and_fills) {
  const Bytes data = random_.bytes(1000);
  DeviceBuffer device;
  PinnedBuffer pinned;
  Stream stream;
  ASSERT_EQ(device.allocate(runtime_, 0, 1000), STOCKADE_OK);
  ASSERT_EQ(pinned.allocate(runtime_, 1000), STOCKADE_OK);
  ASSERT_EQ(stream.make(runtime_, 0), STOCKADE_OK);
  std::copy(data.begin(), data.end(), pinned.data());
  ASSERT_EQ(runtime_.copy_in(0, stream.handle(), device.data(), pinned.data(), 1000), STOCKADE_OK);
  ASSERT_EQ(runtime_.fill(0, stream.handle(), device.data() + 10, 0x55, 20), STOCKADE_OK);
  Bytes back(1000);
  ASSERT_EQ(runtime_.copy_out(0, stream.handle(), back.data(), device.data(), 1000), STOCKADE_OK);
  ASSERT_EQ(runtime_.wait(0, stream.handle()), STOCKADE_OK);
  Bytes expected = data;
  std::fill_n(expected.begin() + 10, 20, uint8_t{0x55});
  EXPECT_EQ(back, expected);
  EXPECT_TRUE(runtime_.holds_data());
}

TEST_F(Emulated, measures_between_events) {
  Stream stream;
  Event first, last, other;
  ASSERT_EQ(stream.make(runtime_, 0), STOCKADE_OK);
  ASSERT_EQ(first.make(runtime_, 0), STOCKADE_OK);
  ASSERT_EQ(last.make(runtime_, 0), STOCKADE_OK);
  ASSERT_EQ(other.make(runtime_, 1), STOCKADE_OK);
  double seconds = 7;
  ASSERT_EQ(runtime_.record(0, stream.handle(), first.handle()), STOCKADE_OK);
  EXPECT_EQ(runtime_.elapsed(0, first.handle(), last.handle(), seconds), STOCKADE_ERROR_DEVICE) << "not recorded";
  usleep(2000);
  ASSERT_EQ(runtime_.record(0, stream.handle(), last.handle()), STOCKADE_OK);
  ASSERT_EQ(runtime_.elapsed(0, first.handle(), last.handle(), seconds), STOCKADE_OK);
  EXPECT_GE(seconds, 0.002);
  EXPECT_LT(seconds, 60);
  EXPECT_EQ(runtime_.record(0, stream.handle(), other.handle()), STOCKADE_ERROR_DEVICE) << "of another device";
  EXPECT_EQ(runtime_.record(0, first.handle(), last.handle()), STOCKADE_ERROR_DEVICE) << "no stream";
  expected_misuses_ = 3;
  runtime_.plan_fault({.call = Call::event});
  EXPECT_EQ(runtime_.record(0, stream.handle(), last.handle()), STOCKADE_ERROR_DEVICE);
  runtime_.clear_fault();
  last = std::move(first);
  EXPECT_EQ(runtime_.live(), 3U) << "what was held before is given back";
}

TEST_F(Emulated, tells_pointers_apart) {
  Bytes own(100);
  DeviceBuffer device;
  PinnedBuffer pinned;
  ASSERT_EQ(device.allocate(runtime_, 1, 100), STOCKADE_OK);
  ASSERT_EQ(pinned.allocate(runtime_, 100), STOCKADE_OK);
  Place place;
  ASSERT_EQ(runtime_.locate(own.data() + 50, place), STOCKADE_OK);
  EXPECT_EQ(place.side, Side::host);
  ASSERT_EQ(runtime_.locate(pinned.data() + 99, place), STOCKADE_OK);
  EXPECT_EQ(place.side, Side::pinned);
  ASSERT_EQ(runtime_.locate(device.data() + 99, place), STOCKADE_OK);
  EXPECT_EQ(place.side, Side::device);
  EXPECT_EQ(place.device, 1U);
  ASSERT_EQ(runtime_.register_host(own.data(), 100), STOCKADE_OK);
  ASSERT_EQ(runtime_.locate(own.data() + 50, place), STOCKADE_OK);
  EXPECT_EQ(place.side, Side::pinned);
  EXPECT_EQ(runtime_.register_host(own.data(), 100), STOCKADE_ERROR_DEVICE) << "twice";
  ASSERT_EQ(runtime_.unregister_host(own.data()), STOCKADE_OK);
  ASSERT_EQ(runtime_.locate(own.data() + 50, place), STOCKADE_OK);
  EXPECT_EQ(place.side, Side::host);
}

TEST_F(Emulated, notices_what_a_device_would_not_forgive) {
  Bytes own(100);
  DeviceBuffer device, other;
  Stream stream;
  ASSERT_EQ(device.allocate(runtime_, 0, 100), STOCKADE_OK);
  ASSERT_EQ(other.allocate(runtime_, 1, 100), STOCKADE_OK);
  ASSERT_EQ(stream.make(runtime_, 0), STOCKADE_OK);
  void* const handle = stream.handle();
  EXPECT_EQ(runtime_.copy_in(0, handle, device.data(), own.data(), 101), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(runtime_.copy_in(0, handle, own.data(), own.data(), 1), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(runtime_.copy_in(0, handle, device.data(), other.data(), 1), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(runtime_.copy_out(0, handle, own.data(), other.data(), 1), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(runtime_.copy_out(1, handle, own.data(), other.data(), 1), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(runtime_.fill(0, handle, own.data(), 0, 1), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(runtime_.wait(1, handle), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(runtime_.launch(), STOCKADE_ERROR_DEVICE) << "on no device";
  void* memory = nullptr;
  ASSERT_EQ(runtime_.allocate_pinned(10, &memory), STOCKADE_OK);
  EXPECT_EQ(runtime_.release_pinned(memory), STOCKADE_ERROR_DEVICE) << "not wiped";
  expected_misuses_ = 9;
}

TEST_F(Emulated, is_entered_and_left) {
  const OnDevice outer(runtime_, 0);
  ASSERT_EQ(outer.status(), STOCKADE_OK);
  runtime_.plan_fault({.call = Call::launch, .device = 1});
  {
    const OnDevice inner(runtime_, 1);
    EXPECT_EQ(runtime_.launch(), STOCKADE_ERROR_DEVICE);
  }
  EXPECT_EQ(runtime_.launch(), STOCKADE_OK);
  EXPECT_EQ(OnDevice(runtime_, 2).status(), STOCKADE_ERROR_UNAVAILABLE);
}

TEST_F(Emulated, fails_as_planned) {
  DeviceBuffer buffer;
  runtime_.plan_fault({Call::allocate, 1, STOCKADE_ERROR_DEVICE_MEMORY, false});
  EXPECT_EQ(buffer.allocate(runtime_, 0, 8), STOCKADE_OK);
  EXPECT_EQ(buffer.allocate(runtime_, 0, 8), STOCKADE_ERROR_DEVICE_MEMORY);
  EXPECT_EQ(buffer.allocate(runtime_, 0, 8), STOCKADE_OK);
  EXPECT_EQ(runtime_.counted(), 3U);
  runtime_.plan_fault({Call::allocate, 1, STOCKADE_ERROR_DEVICE, true, 1});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(buffer.allocate(runtime_, 0, 8), STOCKADE_OK);
  EXPECT_EQ(buffer.allocate(runtime_, 1, 8), STOCKADE_OK);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(buffer.allocate(runtime_, 1, 8), STOCKADE_ERROR_DEVICE);
  runtime_.clear_fault();
  EXPECT_EQ(buffer.allocate(runtime_, 1, 8), STOCKADE_OK);
  uint32_t devices = 0;
  runtime_.plan_fault({});  // any call
  EXPECT_EQ(runtime_.count(devices), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(runtime_.count(devices), STOCKADE_OK);
}

TEST_F(Emulated, buffers_are_wiped_and_can_be_moved) {
  PinnedBuffer first;
  ASSERT_EQ(first.allocate(runtime_, 100), STOCKADE_OK);
  std::fill_n(first.data(), 100, uint8_t{1});
  PinnedBuffer second = std::move(first);
  EXPECT_EQ(second.size(), 100U);
  first = std::move(second);
  EXPECT_EQ(first.size(), 100U);
  first.release();  // content would be a misuse
  EXPECT_EQ(first.data(), nullptr);
}

// The child must be told so by every function, before anything else happens.
TEST_F(Emulated, turns_a_forked_child_away) {
  uint32_t devices = 0;
  DeviceBuffer device;
  PinnedBuffer pinned;
  Stream stream;
  Event event;
  ASSERT_EQ(runtime_.count(devices), STOCKADE_OK);
  ASSERT_EQ(device.allocate(runtime_, 0, 16), STOCKADE_OK);
  ASSERT_EQ(pinned.allocate(runtime_, 16), STOCKADE_OK);
  ASSERT_EQ(stream.make(runtime_, 0), STOCKADE_OK);
  ASSERT_EQ(event.make(runtime_, 0), STOCKADE_OK);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    void* made = nullptr;
    uint64_t bytes = 0;
    double seconds = 0;
    DeviceFacts facts;
    Place place;
    const Status all[] = {runtime_.count(devices),
                          runtime_.facts(0, facts),
                          runtime_.free_memory(0, bytes),
                          runtime_.enter(0),
                          runtime_.allocate(0, 1, &made),
                          runtime_.release(0, device.data(), 16),
                          runtime_.allocate_pinned(1, &made),
                          runtime_.release_pinned(pinned.data()),
                          runtime_.register_host(&facts, 1),
                          runtime_.unregister_host(&facts),
                          runtime_.make_stream(0, &made),
                          runtime_.release_stream(0, stream.handle()),
                          runtime_.copy_in(0, stream.handle(), device.data(), pinned.data(), 16),
                          runtime_.copy_out(0, stream.handle(), pinned.data(), device.data(), 16),
                          runtime_.fill(0, stream.handle(), device.data(), 0, 16),
                          runtime_.wait(0, stream.handle()),
                          runtime_.make_event(0, &made),
                          runtime_.release_event(0, event.handle()),
                          runtime_.record(0, stream.handle(), event.handle()),
                          runtime_.elapsed(0, event.handle(), event.handle(), seconds),
                          runtime_.locate(&facts, place)};
    const bool told = std::all_of(std::begin(all), std::end(all), [](Status s) { return s == STOCKADE_ERROR_FORKED; });
    const bool says = std::string(runtime_.absence()).find("fork") != std::string::npos;
    _exit(told && says && devices == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(runtime_.count(devices), STOCKADE_OK) << "the parent is as it was";
}

TEST_F(Emulated, takes_a_child_whose_parent_used_nothing) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    uint32_t devices = 0;
    _exit(runtime_.count(devices) == STOCKADE_OK ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace stockade::gpu
