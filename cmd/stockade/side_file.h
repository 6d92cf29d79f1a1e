// The files that a job leaves beside what it works on: partial outputs, journals, parts, saved headers, temporaries.
#pragma once

#include <string>

#include "output_file.h"

namespace stockade::cmd {

// For FILE in some folder .FILE.SUFFIX.
std::string beside(const std::string& path, const char* suffix);

// Throws Failure (io) unless the open file is a regular one of this user (for root: of root), which nobody else may read or
// write (mode 0600 or less) and which has no second name. In a folder that others can write to, any other file may be
// planted: what is read from it is not this user's work, and what is written to it would be theirs.
void require_own(int fd, const std::string& path);

// Opens or makes such a file: `flags` are those of open(), and O_NOFOLLOW, O_CLOEXEC and mode 0600 are added. Returns an
// empty descriptor where there is no such file (without O_CREAT) or there is one (with O_CREAT and O_EXCL; O_CREAT alone is
// not for files of predictable names, and O_TRUNC would empty a file before it is checked: std::logic_error for both).
// Throws Failure (io) for a file that require_own() refuses, links, FIFOs, sockets, devices and directories among them, none
// of which it waits for, and where the file cannot be opened. A new file that does not pass, as on a file system without
// owners or modes, is removed again.
Descriptor open_side_file(const std::string& path, int flags);

}  // namespace stockade::cmd
