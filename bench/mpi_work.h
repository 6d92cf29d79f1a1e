// What `stockade-mpi bench` times at each of its points.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bench/mpi.h"
#include "bench/mpi_group.h"

namespace stockade::bench {

struct MpiTask {
  const MpiGroup& group;
  uint32_t threads;
  uint64_t bytes;  // of all ranks together
  const MpiCipher& cipher;
};

// What takes turns at a point, each called by all members of the group. Null where there is no such thing.
struct MpiWork {
  std::function<void()> work, copy, moving;
};

// Throw std::runtime_error.
MpiWork distributed_work(const MpiTask& task);
MpiWork root_work(const MpiTask& task);
// With data that is compared with what the CPU makes of it, before anything is timed.
MpiWork device_work(const MpiTask& task);

// A file of so many bytes, and room for what is made of it, that no longer have names once all ranks have opened them.
// Collective over all ranks. Throws std::runtime_error.
class MpiFiles {
 public:
  MpiFiles(const std::string& folder, uint64_t bytes);
  ~MpiFiles();
  MpiFiles(const MpiFiles&) = delete;
  MpiFiles& operator=(const MpiFiles&) = delete;
  int input() const { return input_; }
  int output() const { return output_; }

 private:
  int input_ = -1, output_ = -1;
};
MpiWork file_work(const MpiTask& task, const MpiFiles& files);

}  // namespace stockade::bench
