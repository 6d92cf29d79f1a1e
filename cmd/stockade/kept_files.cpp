#include "kept_files.h"

#include <mutex>
#include <set>
#include <utility>

namespace stockade::cmd {
namespace {

std::mutex mutex;
std::set<std::pair<dev_t, ino_t>> files;

}  // namespace

void keep_file(int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return;
  const std::lock_guard lock(mutex);
  files.emplace(file.st_dev, file.st_ino);
}

bool is_kept(const struct stat& file) {
  const std::lock_guard lock(mutex);
  return files.count({file.st_dev, file.st_ino}) != 0;
}

}  // namespace stockade::cmd
