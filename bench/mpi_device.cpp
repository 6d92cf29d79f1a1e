// A message in the memory of each rank's GPU, which stays there.
#include <bit>
#include <stdexcept>

#include "bench/gpu_task.h"
#include "bench/mpi_work.h"
#include "bench/turns.h"
#include "config/environment.h"
#include "offload/backend.h"

namespace stockade::bench {
namespace {

// The GPU of the rank: those of a machine in turn.
uint32_t device_of(uint32_t local_rank) {
  uint64_t usable = 0;
  if (offload::usable_devices(config::environment().devices, usable) != STOCKADE_OK || usable == 0) {
    throw std::runtime_error("a rank has no GPU that can be used");
  }
  for (uint32_t left = local_rank % static_cast<uint32_t>(std::popcount(usable)); left > 0; --left)
    usable &= usable - 1;
  return static_cast<uint32_t>(std::countr_zero(usable));
}

struct OnDevice {
  OnDevice(uint32_t device, uint64_t bytes)
      : host(bytes),
        card(device, bytes),
        cpu(make_engine("serial", 1)),
        task({{"aes-128-ctr", STOCKADE_CTR, 128}, STOCKADE_ENCRYPT, GpuForm::out_of_place}, card, host, cpu.get()) {
    card.copy_in(card.first(), host.plain.data(), bytes);
    task.prepare(bytes);
  }
  HostData host;
  Card card;
  Engine cpu;
  GpuTask task;
};

}  // namespace

MpiWork device_work(const MpiTask& task) {
  const auto held = std::make_shared<OnDevice>(device_of(task.group.local_rank()), task.bytes / task.group.size());
  const auto encrypt = [held] {
    held->task.launch();
    held->card.wait();
  };
  return {.work = encrypt, .copy = {}, .moving = {}};
}

}  // namespace stockade::bench
