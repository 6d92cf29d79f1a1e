// A folder for files that nobody shall find afterwards.
#pragma once

#include <sys/types.h>

#include <string>

namespace stockade::bench {

// Made in `parent`, and removed with all that is in it when the object goes, or the process, however it ends: a second
// process waits for that and does the removing. To be made before the process has other threads.
class ScratchFolder {
 public:
  // Throws std::system_error.
  explicit ScratchFolder(const std::string& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  int lifeline_ = -1;
  pid_t remover_ = -1;
};

}  // namespace stockade::bench
