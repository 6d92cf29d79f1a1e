// Where the bytes go, and the promise that a failed command leaves no file behind.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "interrupt.h"

namespace stockade::cmd {

// A descriptor that closes itself; -1 is none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  int release();
  // Closes; 0, or errno of a close that reports a late write error.
  int reset();

 private:
  int fd_;
};

// Three kinds of target: "-" or a descriptor such as /dev/fd/3 is written as it stands; an existing path that is no
// regular file (/dev/null, a pipe) is opened and written; anything else is a file, which is made in its folder without a name
// and gets one in commit(). Whatever ends the process, nothing is left of it then. On file systems that have no files without
// names it has a temporary one.
class OutputFile {
 public:
  struct Options {
    std::string path;                    // empty: stdout, but not a terminal unless it is text
    bool force = false;                  // may replace a file, or write to a block device
    mode_t mode = 0666;                  // of a new file, before the umask
    const struct stat* input = nullptr;  // for the refusal to write over it
    bool text = false;                   // no harm to a terminal
    bool named_temporary = false;        // other processes have to open it before it is complete
    bool replaces_source = false;        // the file that it was made from, which may happen again
  };
  // Throws Failure (usage) for a refusal, (io) where it cannot be opened.
  explicit OutputFile(const Options& options);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  // Removes the temporary if commit() was not reached.
  ~OutputFile();

  int fd() const { return fd_.get(); }
  // For messages: the path in quotes, or "standard output".
  const std::string& name() const { return name_; }
  // Whether nobody sees what is written before commit().
  bool private_until_commit() const { return !temporary_.empty() || nameless_; }
  // Where it stands until then; empty where it has no name.
  const std::string& temporary() const { return temporary_; }

  // Makes the file durable and gives it its name, or closes a direct target. Throws Failure.
  void commit();
  // The same in steps: make_durable(), here or for many at once, then give_name(), and at the end sync_folder() of the
  // folder.
  void make_durable();
  void give_name();
  const std::string& path() const { return path_; }

 private:
  void open_special(const Options& options, const Descriptor& seen, const struct stat& found);
  void open_temporary(const Options& options);
  bool open_nameless(const Options& options);
  void link_nameless();
  int copy_nameless();

  std::string name_, path_, temporary_;
  bool force_, replaces_source_, nameless_ = false;
  std::optional<interrupt::Doomed> doomed_;
  Descriptor fd_;
};

// Has the file systems of many files write all that they hold back: make_durable() of each then takes a fraction of the time,
// and reports the errors.
void write_back(std::span<OutputFile* const> files);

// "folder/" or "" for the current one; the name behind it.
std::string folder_of(std::string_view path);
std::string_view name_in_folder(std::string_view path);

// Whether both are the same regular file or block device.
bool same_file(const struct stat& a, const struct stat& b);
// What a path leads to. A symbolic link stays, and the file that it points to is replaced: `path` is that file's own. Links
// are followed if they belong to this user, to root, or to the owner of the folder in which they stand: a stranger's link in
// a shared folder decides nothing.
struct Target {
  std::string path;
  Descriptor file;                   // of O_PATH: what was seen, whatever gets its name later
  std::optional<struct stat> found;  // nothing where there is no file
};
// `name` is for messages. Throws Failure: (io) where it cannot be reached, (usage) for a stranger's link.
Target find_target(const std::string& path, const std::string& name);

// Whether something has this name: also a link that leads nowhere.
bool is_taken(const std::string& path);
// Whether the open file still has this name itself, and not through a link.
bool has_name(int fd, const std::string& path);
// Throws Failure (io) if it has not: the file was removed or replaced while it was written.
void require_name(int fd, const std::string& path);
// Throws Failure (usage) for a key, a passphrase file or a plan that this command uses, and for what it has made.
void refuse_kept(const struct stat& found, const std::string& name);
// The same, and for the input.
void refuse_same(const OutputFile::Options& options, const struct stat& found, const std::string& name);
// Throws Failure (usage) if the input, or one of those, is this file, in which an output grows.
void refuse_used(const OutputFile::Options& options, const std::string& own);

// Gives a complete file its name; without `replace` whatever has the name already, wins. `name` is for messages. Throws
// Failure.
void rename_file(const std::string& from, const std::string& to, bool replace, const std::string& name);

// A name that a crash may lose is no name: the folder is written too. Throws Failure (io), but not where the file system
// cannot do that, or does not let this user; its hint is the consequence.
void sync_folder(
    const std::string& folder,
    std::string_view consequence = "what was made in it is complete, but a power failure may lose its name");

// Writes the file, its data and its length, to the disk. Throws Failure.
void sync_file(int fd, const std::string& name);

// All of `length` bytes. Throws Failure (io).
void write_all(int fd, const void* bytes, size_t length, const std::string& name);

// A file without a name in TMPDIR (else /tmp), readable by this user only. Throws Failure.
Descriptor make_spool();

// Copies all of `from`, from its start, to where `to` stands. `to_name` is for messages. Throws Failure.
void copy_spool(int from, int to, const std::string& to_name);

}  // namespace stockade::cmd
