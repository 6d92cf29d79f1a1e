// The part of the recording layer that decides what stat says, for files whose identity is to seem what it is not:
//
//   CRASH_SAME    CHANGED:ORIGINAL: stat says of the first file what it says of the second (inode, device, times)
//   CRASH_DEVICE  added to st_dev of every regular file: another machine, or another boot
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long device_shift;
static int spoofs;
static struct stat changed, original;

static int raw_stat(int folder, const char* path, struct stat* to, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, to, flags);
}

__attribute__((constructor)) static void begin(void) {
  const char* shift = getenv("CRASH_DEVICE");
  if (shift != NULL) device_shift = atol(shift);
  const char* same = getenv("CRASH_SAME");
  if (same == NULL) return;
  char name[PATH_MAX];
  const char* colon = strchr(same, ':');
  if (colon == NULL) abort();
  snprintf(name, sizeof name, "%.*s", (int)(colon - same), same);
  spoofs = raw_stat(AT_FDCWD, name, &changed, 0) == 0 && raw_stat(AT_FDCWD, colon + 1, &original, 0) == 0;
  if (!spoofs) abort();
}

static int shown(int result, struct stat* found) {
  if (result != 0 || !S_ISREG(found->st_mode)) return result;
  if (spoofs && found->st_ino == changed.st_ino && found->st_dev == changed.st_dev) {
    found->st_dev = original.st_dev;
    found->st_ino = original.st_ino;
    found->st_mtim = original.st_mtim;
    found->st_ctim = original.st_ctim;
  }
  found->st_dev += (dev_t)device_shift;
  return result;
}
int fstat(int fd, struct stat* to) { return shown(raw_stat(fd, "", to, AT_EMPTY_PATH), to); }
int stat(const char* path, struct stat* to) { return shown(raw_stat(AT_FDCWD, path, to, 0), to); }
int lstat(const char* path, struct stat* to) { return shown(raw_stat(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW), to); }
int fstatat(int folder, const char* path, struct stat* to, int flags) {
  return shown(raw_stat(folder, path, to, flags), to);
}
int fstat64(int fd, struct stat64* to) { return fstat(fd, (struct stat*)to); }
int stat64(const char* path, struct stat64* to) { return stat(path, (struct stat*)to); }
int lstat64(const char* path, struct stat64* to) { return lstat(path, (struct stat*)to); }
int fstatat64(int folder, const char* path, struct stat64* to, int flags) {
  return fstatat(folder, path, (struct stat*)to, flags);
}

int statx(int folder, const char* path, int flags, unsigned mask, struct statx* to) {
  // Whoever comes to use it would see the true identity; it must be taught here first.
  if (spoofs || device_shift != 0) abort();
  return (int)syscall(SYS_statx, folder, path, flags, mask, to);
}
