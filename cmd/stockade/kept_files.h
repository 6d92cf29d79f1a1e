// Files that no output may replace: keys, passphrases, lists and plans that this command uses, and outputs that it has made.
#pragma once

#include <sys/stat.h>

namespace stockade::cmd {

// Regular files only; threads may call both.
void keep_file(int fd);
bool is_kept(const struct stat& file);

}  // namespace stockade::cmd
