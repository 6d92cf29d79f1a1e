// The output of a run: rank 0 makes it, gives it its name or removes it; all ranks write to it.
#pragma once

#include <climits>
#include <memory>
#include <string>

#include "cmd/stockade/output_file.h"
#include "cmd/stockade/resume.h"

namespace stockade::cmd {

// How other ranks find what rank 0 has made, and know that it is that very file: in a folder that a machine has for
// itself, the same path may lead elsewhere. Plain bytes, to be sent.
struct OutputAddress {
  char path[PATH_MAX], journal[PATH_MAX];  // no journal: empty
  uint64_t marked;                         // with this many bytes of the mark
  uint8_t mark[32];
};

// On each rank one; nothing here is collective. All throw Failure.
class SharedOutput {
 public:
  explicit SharedOutput(std::string name) : name_(std::move(name)) {}
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  // On rank 0: makes a file that is hidden until commit(), or with `resumable` takes one up again.
  void make(const OutputFile::Options& options, bool resumable);
  // On rank 0: marks the first of the `length` bytes of an output that has no content of its own yet, and says where it
  // is. With `apart` other machines must see it.
  OutputAddress address(uint64_t length, bool apart) const;
  // On the others.
  void open(const OutputAddress& address);

  int fd() const;
  int journal_fd() const;  // -1 without a journal
  const std::string& name() const { return name_; }
  // On rank 0, where it is resumable.
  ResumableOutput* resumable() { return resumable_.get(); }

  // Writes what this rank's machine holds back to where all see it.
  void sync() const { sync_file(fd(), name_); }
  // On rank 0: gives the complete file its name.
  void commit();

 private:
  std::string name_;
  std::unique_ptr<OutputFile> plain_;
  std::unique_ptr<ResumableOutput> resumable_;
  Descriptor opened_, journal_;  // on other ranks
};

}  // namespace stockade::cmd
