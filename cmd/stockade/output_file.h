// Where the bytes go, and the promise that a failed command leaves no file behind.
#pragma once

#include <sys/stat.h>

#include <string>

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
// regular file (/dev/null, a pipe) is opened and written; anything else is a file, which is made under a temporary name in
// its folder and gets its own name in commit().
class OutputFile {
 public:
  struct Options {
    std::string path;                    // empty: stdout, but not a terminal
    bool force = false;                  // may replace a file, or write to a block device
    mode_t mode = 0666;                  // of a new file, before the umask
    const struct stat* input = nullptr;  // for the refusal to write over it
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
  bool private_until_commit() const { return !temporary_.empty(); }

  // Makes the file durable and gives it its name, or closes a direct target. Throws Failure.
  void commit();

 private:
  void open_special(const Options& options, const struct stat& found);
  void open_temporary(const Options& options);
  void take_name();

  std::string name_, path_, temporary_;
  bool force_;
  Descriptor fd_;
};

// A file without a name in TMPDIR (else /tmp), readable by this user only. Throws Failure.
Descriptor make_spool();

// Copies all of `from`, from its start, to where `to` stands. `to_name` is for messages. Throws Failure.
void copy_spool(int from, int to, const std::string& to_name);

}  // namespace stockade::cmd
