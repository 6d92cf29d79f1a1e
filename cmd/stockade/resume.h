// An output that can be taken up again: until it is complete it stands beside its name, together with a journal that says
// how far it is.
#pragma once

#include <array>
#include <string>

#include "output_file.h"
#include "side_file.h"

namespace stockade::cmd {

// For OUT in some folder these are .OUT.stockade-partial and .OUT.stockade-journal. The partial is made before the journal,
// and the journal goes before the partial gets the output's name. One without the other is worth nothing. Both are locked
// while a process is at work on them, and only files that are this user's alone are taken up.
class ResumableOutput {
 public:
  // Opens what an interrupted job has left, or begins. The mode is that of the finished file, whatever the umask. Throws
  // Failure: (usage) for what OutputFile refuses too and for a
  // target that is no file, (io) where another process is at work.
  explicit ResumableOutput(const OutputFile::Options& options);
  ResumableOutput(const ResumableOutput&) = delete;
  ResumableOutput& operator=(const ResumableOutput&) = delete;
  // Unless it was committed or kept, what this process has made is removed; what it has found stays.
  ~ResumableOutput();

  static bool has_journal(const std::string& path);
  // The partial and the journal of an output of that name.
  static std::array<std::string, 2> side_files(const std::string& path);

  // An interrupted job was found.
  bool was_begun() const { return was_begun_; }
  int fd() const { return partial_.get(); }
  int journal_fd() const { return journal_.get(); }
  const std::string& name() const { return name_; }
  const std::string& partial_path() const { return partial_path_; }
  const std::string& journal_path() const { return journal_path_; }

  // Forgets what the interrupted job has done.
  void start_over();
  // Both stay, to be taken up again.
  void keep() { kept_ = true; }
  // Both go, also what was found.
  void discard() { made_ = true; }
  // Makes the output durable, removes the journal and gives the output its name. Throws Failure.
  void commit();

 private:
  void check_target(const OutputFile::Options& options);
  bool open_both();
  void remove_both();
  bool try_to_open(Descriptor& file, const std::string& path, int flags);

  std::string name_, path_, partial_path_, journal_path_;
  bool force_, exists_ = false;
  mode_t mode_;
  Descriptor partial_, journal_;
  bool was_begun_ = false, made_ = false, kept_ = false;
};

}  // namespace stockade::cmd
