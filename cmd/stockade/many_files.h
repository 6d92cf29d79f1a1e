// The same work on each of several files, as fast as the machine allows, and a failure of one is no failure of the others.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "stockade/stockade.h"

namespace stockade::cmd {

class FileWork {
 public:
  virtual ~FileWork() = default;
  // The file with this index, on this engine; on any thread. Throws Failure.
  virtual void run(size_t index, const stockade_engine* engine) = 0;
  // Some small files have been run; what is best done for all of them at once.
  virtual void settle_together(std::span<const size_t>) {}
  // What is left to do for a file that has been run, on the calling thread and in the order of the files. Throws Failure.
  virtual void settle(size_t index) = 0;
  // After some files have been settled.
  virtual void settle_group() {}
  // The file is given up; whatever it holds is let go.
  virtual void drop(size_t) {}
};

// Regular files below this length are run side by side, each on one thread; all others one after another, on all threads.
inline constexpr uint64_t small_file_bytes = 4 << 20;
// At most so many small files are run before they are settled.
inline constexpr size_t group_files = 128;

// A failure is reported where it occurs; at the end Failure is thrown if there was one, with the gravest exit status. The
// failure of a single file is thrown as it is. Throws Failure (interrupted) after a signal.
void work_on_files(std::span<const std::string> paths, const stockade_engine* engine, FileWork& work);

}  // namespace stockade::cmd
