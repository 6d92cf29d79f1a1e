// The recording layer of the crash harness: a library for LD_PRELOAD that logs what a process does to the regular files and
// names below one folder. System calls are made directly, so that a sanitizer's own wrappers are not in the way.
//
//   CRASH_ROOT    the folder, an absolute path without symbolic links
//   CRASH_LOG     the log, which all processes of a job append to
//   CRASH_KILL    the number of the event before which the process is killed, counted from 1
//   CRASH_DELAY   microseconds before each write of more than 4 KiB, so that timed checkpoints happen in a small job
//   CRASH_BOOT_ID a file that is opened in place of /proc/sys/kernel/random/boot_id
//
// A write or a change of names happens and is logged under one lock, so the order of the log is the order of the effects. A
// sync is logged when it begins and when it has ended: it covers exactly the writes that stand before its beginning.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum Kind { kWrite = 1, kTruncate, kCreate, kRename, kLink, kUnlink, kSyncBegin, kSyncEnd, kAllocate, kOpaque };

struct Record {
  uint32_t magic, kind;
  uint64_t inode;
  int64_t offset;  // of a write; the size of a truncation; the number of a sync
  uint64_t length;
  uint32_t path_length, second_length;
  int32_t result, process;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_length;
static int log_fd = -1;
static long kill_at, delay, events;
static uint32_t syncs;
static const char* boot_id;

static int raw_stat(int folder, const char* path, struct stat* to, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, to, flags);
}

static long number_of(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

__attribute__((constructor)) static void begin(void) {
  const char* folder = getenv("CRASH_ROOT");
  const char* path = getenv("CRASH_LOG");
  kill_at = number_of("CRASH_KILL");
  delay = number_of("CRASH_DELAY");
  boot_id = getenv("CRASH_BOOT_ID");
  if (folder == NULL || path == NULL) return;
  root_length = (size_t)snprintf(root, sizeof root, "%s/", folder);
  // Above the descriptors that a program or a shell counts on.
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  log_fd = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 900);
  if (log_fd < 0) abort();
  syscall(SYS_close, fd);
}

// Whether a descriptor is of a file below the root; its path goes into `path`.
static int is_below(int fd, char path[PATH_MAX]) {
  if (log_fd < 0) return 0;
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const int error = errno;
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  errno = error;
  if (length < 0) return 0;
  path[length] = 0;
  return strncmp(path, root, root_length) == 0 ||
         (strlen(path) + 1 == root_length && strncmp(path, root, root_length - 1) == 0);
}

// The absolute path of a name whose folder exists. A relative name is below the folder that it is relative to.
static int absolute(int folder, const char* name, char path[PATH_MAX]) {
  if (log_fd < 0) return 0;
  if (name[0] == '/') {
    snprintf(path, PATH_MAX, "%s", name);
  } else {
    char base[PATH_MAX], link[40];
    snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    const long length = syscall(SYS_readlinkat, AT_FDCWD, link, base, PATH_MAX - 1);
    if (length < 0) return 0;
    base[length] = 0;
    while (strncmp(name, "./", 2) == 0) name += 2;
    if ((size_t)snprintf(path, PATH_MAX, "%.*s/%s", (int)length, base, name) >= PATH_MAX) return 0;
  }
  return strncmp(path, root, root_length) == 0;
}

static uint64_t inode_of(int fd) {
  struct stat found;
  return raw_stat(fd, "", &found, AT_EMPTY_PATH) == 0 ? found.st_ino : 0;
}

static void enter(void) {
  pthread_mutex_lock(&mutex);
  syscall(SYS_flock, log_fd, LOCK_EX);
  if (++events == kill_at) syscall(SYS_kill, getpid(), SIGKILL);
}

static void leave(void) {
  syscall(SYS_flock, log_fd, LOCK_UN);
  pthread_mutex_unlock(&mutex);
}

// Under the lock. errno stays.
static void note(enum Kind kind, uint64_t inode, int64_t offset, const struct iovec* data, int count, uint64_t length,
                 const char* path, const char* second, int result) {
  const int error = errno;
  struct Record record = {0x48535243, kind, inode, offset, data == NULL ? 0 : length, 0, 0, result, getpid()};
  struct iovec parts[67];
  int used = 1;
  if (path != NULL) record.path_length = (uint32_t)strlen(path);
  if (second != NULL) record.second_length = (uint32_t)strlen(second);
  for (int i = 0; data != NULL && i < count && length > 0; ++i) {
    const size_t take = data[i].iov_len < length ? data[i].iov_len : length;
    if (used == 64) abort();
    parts[used++] = (struct iovec){data[i].iov_base, take};
    length -= take;
  }
  if (data != NULL && length != 0) abort();
  parts[0] = (struct iovec){&record, sizeof record};
  parts[used++] = (struct iovec){(void*)path, record.path_length};
  parts[used++] = (struct iovec){(void*)second, record.second_length};
  size_t total = 0;
  for (int i = 0; i < used; ++i) total += parts[i].iov_len;
  if (syscall(SYS_writev, log_fd, parts, used) != (long)total) abort();
  errno = error;
}

// ---- Data

static ssize_t logged_write(int fd, const struct iovec* data, int count, off_t offset, int flags) {
  char path[PATH_MAX];
  size_t length = 0;
  for (int i = 0; i < count; ++i) length += data[i].iov_len;
  if (!is_below(fd, path)) {
    return offset == -1 && flags == 0 ? syscall(SYS_writev, fd, data, count)
                                      : syscall(SYS_pwritev2, fd, data, count, offset, 0L, flags);
  }
  if (delay > 0 && length > 4096) usleep((useconds_t)delay);
  enter();
  const ssize_t done = offset == -1 && flags == 0 ? syscall(SYS_writev, fd, data, count)
                                                  : syscall(SYS_pwritev2, fd, data, count, offset, 0L, flags);
  if (done > 0) {
    if (offset == -1) offset = syscall(SYS_lseek, fd, 0, SEEK_CUR) - done;
    note(kWrite, inode_of(fd), offset, data, count, (uint64_t)done, path, NULL, 0);
  }
  leave();
  return done;
}

ssize_t write(int fd, const void* data, size_t length) {
  const struct iovec piece = {(void*)data, length};
  return logged_write(fd, &piece, 1, -1, 0);
}
ssize_t pwrite(int fd, const void* data, size_t length, off_t offset) {
  const struct iovec piece = {(void*)data, length};
  return logged_write(fd, &piece, 1, offset, 0);
}
ssize_t pwrite64(int fd, const void* data, size_t length, off64_t offset) { return pwrite(fd, data, length, offset); }
ssize_t writev(int fd, const struct iovec* data, int count) { return logged_write(fd, data, count, -1, 0); }
ssize_t pwritev(int fd, const struct iovec* data, int count, off_t offset) {
  return logged_write(fd, data, count, offset, 0);
}
ssize_t pwritev64(int fd, const struct iovec* data, int count, off64_t offset) {
  return logged_write(fd, data, count, offset, 0);
}
ssize_t pwritev2(int fd, const struct iovec* data, int count, off_t offset, int flags) {
  return logged_write(fd, data, count, offset, flags);
}
ssize_t pwritev64v2(int fd, const struct iovec* data, int count, off64_t offset, int flags) {
  return logged_write(fd, data, count, offset, flags);
}

// What the kernel copied is read back from where it went.
static ssize_t note_copy(int fd, const char* path, off_t offset, ssize_t done) {
  if (done <= 0) return done;
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const int reader = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
  void* bytes = malloc((size_t)done);
  if (reader < 0 || bytes == NULL || syscall(SYS_pread64, reader, bytes, done, offset) != done) abort();
  const struct iovec piece = {bytes, (size_t)done};
  note(kWrite, inode_of(fd), offset, &piece, 1, (uint64_t)done, path, NULL, 0);
  free(bytes);
  syscall(SYS_close, reader);
  return done;
}

ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t length, unsigned flags) {
  char path[PATH_MAX];
  if (!is_below(to, path)) return syscall(SYS_copy_file_range, from, from_offset, to, to_offset, length, flags);
  enter();
  const off_t offset = to_offset != NULL ? *to_offset : syscall(SYS_lseek, to, 0, SEEK_CUR);
  const ssize_t done = syscall(SYS_copy_file_range, from, from_offset, to, to_offset, length, flags);
  note_copy(to, path, offset, done);
  leave();
  return done;
}
ssize_t sendfile(int to, int from, off_t* from_offset, size_t length) {
  char path[PATH_MAX];
  if (!is_below(to, path)) return syscall(SYS_sendfile, to, from, from_offset, length);
  enter();
  const off_t offset = syscall(SYS_lseek, to, 0, SEEK_CUR);
  const ssize_t done = syscall(SYS_sendfile, to, from, from_offset, length);
  note_copy(to, path, offset, done);
  leave();
  return done;
}
ssize_t sendfile64(int to, int from, off64_t* from_offset, size_t length) {
  return sendfile(to, from, from_offset, length);
}

int ftruncate(int fd, off_t size) {
  char path[PATH_MAX];
  if (!is_below(fd, path)) return (int)syscall(SYS_ftruncate, fd, size);
  enter();
  const int result = (int)syscall(SYS_ftruncate, fd, size);
  if (result == 0) note(kTruncate, inode_of(fd), size, NULL, 0, 0, path, NULL, 0);
  leave();
  return result;
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

int fallocate(int fd, int mode, off_t offset, off_t length) {
  char path[PATH_MAX];
  if (!is_below(fd, path)) return (int)syscall(SYS_fallocate, fd, mode, offset, length);
  enter();
  const int result = (int)syscall(SYS_fallocate, fd, mode, offset, length);
  // Modes other than these two change bytes in ways that the model does not have.
  if (result == 0 && (mode & ~1) != 0) note(kOpaque, inode_of(fd), mode, NULL, 0, 0, path, "fallocate", 0);
  if (result == 0 && mode == 0) note(kAllocate, inode_of(fd), offset + length, NULL, 0, 0, path, NULL, 0);
  leave();
  return result;
}
int fallocate64(int fd, int mode, off64_t offset, off64_t length) { return fallocate(fd, mode, offset, length); }
int posix_fallocate(int fd, off_t offset, off_t length) { return fallocate(fd, 0, offset, length) == 0 ? 0 : errno; }
int posix_fallocate64(int fd, off64_t offset, off64_t length) { return posix_fallocate(fd, offset, length); }

void* mmap(void* at, size_t length, int protection, int flags, int fd, off_t offset) {
  char path[PATH_MAX];
  if (fd >= 0 && (flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0 && is_below(fd, path)) {
    enter();
    note(kOpaque, inode_of(fd), 0, NULL, 0, 0, path, "mmap", 0);
    leave();
  }
  return (void*)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
}
void* mmap64(void* at, size_t length, int protection, int flags, int fd, off64_t offset) {
  return mmap(at, length, protection, flags, fd, offset);
}

// ---- Syncs

static int logged_sync(long call, int fd) {
  char path[PATH_MAX];
  if (!is_below(fd, path)) return (int)syscall(call, fd);
  enter();
  const int64_t sync = (int64_t)getpid() << 32 | ++syncs;
  const uint64_t inode = call == SYS_syncfs ? 0 : inode_of(fd);
  note(kSyncBegin, inode, sync, NULL, 0, 0, path, NULL, 0);
  leave();
  const int result = (int)syscall(call, fd);
  enter();
  note(kSyncEnd, inode, sync, NULL, 0, 0, path, NULL, result);
  leave();
  return result;
}
int fsync(int fd) { return logged_sync(SYS_fsync, fd); }
int fdatasync(int fd) { return logged_sync(SYS_fdatasync, fd); }
int syncfs(int fd) { return logged_sync(SYS_syncfs, fd); }

// ---- Names

static int logged_open(int folder, const char* name, int flags, mode_t mode) {
  char path[PATH_MAX];
  if (boot_id != NULL && strcmp(name, "/proc/sys/kernel/random/boot_id") == 0) name = boot_id;
  const int temporary = (flags & O_TMPFILE) == O_TMPFILE;
  if ((flags & (O_CREAT | O_TRUNC)) == 0 && !temporary) return (int)syscall(SYS_openat, folder, name, flags, mode);
  if (!absolute(folder, name, path) && !temporary) return (int)syscall(SYS_openat, folder, name, flags, mode);
  enter();
  struct stat before;
  const int existed = !temporary && raw_stat(folder, name, &before, 0) == 0;
  const int fd = (int)syscall(SYS_openat, folder, name, flags, mode);
  if (fd >= 0 && temporary && is_below(fd, path)) note(kCreate, inode_of(fd), 0, NULL, 0, 0, NULL, NULL, 0);
  if (fd >= 0 && !temporary && !existed) note(kCreate, inode_of(fd), 0, NULL, 0, 0, path, NULL, 0);
  if (fd >= 0 && existed && (flags & O_TRUNC) != 0) note(kTruncate, inode_of(fd), 0, NULL, 0, 0, path, NULL, 0);
  leave();
  return fd;
}

static mode_t mode_of(int flags, va_list list) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}
#define OPEN(declaration, folder)                  \
  declaration {                                    \
    va_list list;                                  \
    va_start(list, flags);                         \
    const mode_t mode = mode_of(flags, list);      \
    va_end(list);                                  \
    return logged_open(folder, name, flags, mode); \
  }
OPEN(int open(const char* name, int flags, ...), AT_FDCWD)
OPEN(int open64(const char* name, int flags, ...), AT_FDCWD)
OPEN(int openat(int folder, const char* name, int flags, ...), folder)
OPEN(int openat64(int folder, const char* name, int flags, ...), folder)
int __open_2(const char* name, int flags) { return logged_open(AT_FDCWD, name, flags, 0); }
int __open64_2(const char* name, int flags) { return logged_open(AT_FDCWD, name, flags, 0); }
int __openat_2(int folder, const char* name, int flags) { return logged_open(folder, name, flags, 0); }
int __openat64_2(int folder, const char* name, int flags) { return logged_open(folder, name, flags, 0); }
int creat(const char* name, mode_t mode) { return logged_open(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }

static uint64_t named_inode(int folder, const char* name) {
  struct stat found;
  const int error = errno;
  const uint64_t inode = raw_stat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 ? found.st_ino : 0;
  errno = error;
  return inode;
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  char path[PATH_MAX], second[PATH_MAX];
  const int below = absolute(from_folder, from, path) & absolute(to_folder, to, second);
  if (!below) return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  enter();
  const int result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  if (result == 0 && (flags & ~(unsigned)RENAME_NOREPLACE) != 0) note(kOpaque, 0, 0, NULL, 0, 0, path, "renameat2", 0);
  if (result == 0) note(kRename, named_inode(to_folder, to), 0, NULL, 0, 0, path, second, 0);
  leave();
  return result;
}
int rename(const char* from, const char* to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  char second[PATH_MAX];
  if (!absolute(to_folder, to, second)) return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
  enter();
  const int result = (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
  if (result == 0) note(kLink, named_inode(to_folder, to), 0, NULL, 0, 0, NULL, second, 0);
  leave();
  return result;
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
int unlinkat(int folder, const char* name, int flags) {
  char path[PATH_MAX];
  if ((flags & AT_REMOVEDIR) != 0 || !absolute(folder, name, path))
    return (int)syscall(SYS_unlinkat, folder, name, flags);
  enter();
  const uint64_t inode = named_inode(folder, name);
  const int result = (int)syscall(SYS_unlinkat, folder, name, flags);
  if (result == 0) note(kUnlink, inode, 0, NULL, 0, 0, path, NULL, 0);
  leave();
  return result;
}
int unlink(const char* name) { return unlinkat(AT_FDCWD, name, 0); }
