// Storage with faults: a library for LD_PRELOAD.
//
//   FAULT_SYNC     what cannot be synchronised: "folder", "file" (regular files, and whole file systems)
//   FAULT_AFTER    how many such calls succeed before
//   FAULT_ERRNO    the number of the error; EIO without it
//   FAULT_TMPFILE  "none": there are no files without names. "umask": they are made without regard to the umask, as before
//                  Linux 6.0 on file systems without access control lists
//   FAULT_LINK     the number of the error with which a file without a name is refused one
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long calls;

static long number_of(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text == NULL ? otherwise : atol(text);
}

static int sync_call(long call, int fd) {
  const char* kind = getenv("FAULT_SYNC");
  struct stat found;
  if (kind != NULL && syscall(SYS_newfstatat, fd, "", &found, AT_EMPTY_PATH) == 0 &&
      strcmp(kind, S_ISDIR(found.st_mode) ? "folder" : "file") == 0 &&
      atomic_fetch_add(&calls, 1) >= number_of("FAULT_AFTER", 0)) {
    errno = (int)number_of("FAULT_ERRNO", EIO);
    return -1;
  }
  return (int)syscall(call, fd);
}

int fsync(int fd) { return sync_call(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_call(SYS_fdatasync, fd); }
int syncfs(int fd) { return sync_call(SYS_syncfs, fd); }

static int opened(int folder, const char* name, int flags, mode_t mode) {
  const char* fault = getenv("FAULT_TMPFILE");
  if ((flags & O_TMPFILE) != O_TMPFILE || fault == NULL) return (int)syscall(SYS_openat, folder, name, flags, mode);
  if (strcmp(fault, "none") == 0) {
    errno = EOPNOTSUPP;
    return -1;
  }
  const mode_t mask = umask(0);
  const int fd = (int)syscall(SYS_openat, folder, name, flags, mode);
  umask(mask);
  return fd;
}

#define OPEN(declaration, folder)                                                    \
  declaration {                                                                      \
    va_list list;                                                                    \
    va_start(list, flags);                                                           \
    const int has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; \
    const mode_t mode = has_mode ? va_arg(list, mode_t) : 0;                         \
    va_end(list);                                                                    \
    return opened(folder, name, flags, mode);                                        \
  }
OPEN(int open(const char* name, int flags, ...), AT_FDCWD)
OPEN(int open64(const char* name, int flags, ...), AT_FDCWD)
OPEN(int openat(int folder, const char* name, int flags, ...), folder)
OPEN(int openat64(int folder, const char* name, int flags, ...), folder)
int __open_2(const char* name, int flags) { return opened(AT_FDCWD, name, flags, 0); }
int __open64_2(const char* name, int flags) { return opened(AT_FDCWD, name, flags, 0); }

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  const long error = number_of("FAULT_LINK", 0);
  if ((flags & AT_SYMLINK_FOLLOW) == 0 || error == 0) {
    return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
  }
  errno = (int)error;
  return -1;
}
