// What the parts of one job have in common: the plan, which each of them reads and in which it notes what it has done,
// and the output, which stands beside its name until it is joined.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "exit_status.h"
#include "file_head.h"
#include "handles.h"
#include "keyring_input.h"
#include "output_file.h"
#include "stockade/stockade.h"

namespace stockade::cmd {

struct PlanOptions {
  std::optional<std::string> plan, key;

  void declare(Command& command, const char* group);
  bool given() const { return plan || key; }
  // The plan's path. Throws Failure where there is none.
  const std::string& path() const;
  // How many of the two are standard input.
  int stdin_readers() const { return key == "-" ? 1 : 0; }
};

// A plan that has been opened.
class Plan {
 public:
  // With the plan's own key, if one is named, else with what `keys` name. Throws Failure.
  Plan(const PlanOptions& options, const KeyOptions& keys);

  const std::string& name() const { return name_; }  // for messages
  int fd() const { return fd_.get(); }
  const stockade_shared_job* job() const { return job_.get(); }
  const stockade_shared_info& info() const { return info_; }
  stockade_direction direction() const {
    return info_.kind == STOCKADE_SHARED_DECRYPT ? STOCKADE_DECRYPT : STOCKADE_ENCRYPT;
  }
  // The slices that are not done, ascending. Throws Failure.
  std::vector<uint64_t> missing() const;
  std::vector<uint64_t> all() const;
  // Of plaintext in a slice but the last.
  uint64_t plain_slice_bytes() const;
  // The output has its name, so nobody needs the plan any more.
  void remove() const;

 private:
  void open_with(const stockade_keyring* keyring, uint32_t max_work_factor);
  Failure failure(const stockade_fault& fault, int error) const;

  std::string path_, name_;
  Descriptor fd_;
  FileHead head_;
  std::vector<std::string> key_ids_;
  SharedJobHandle job_;
  stockade_shared_info info_{};
};

// For OUT in some folder .OUT.stockade-parts, of this user alone.
class PartedOutput {
 public:
  // Throws Failure (usage) for a target that is no file, and for the input.
  explicit PartedOutput(const OutputFile::Options& options);
  PartedOutput(const PartedOutput&) = delete;
  PartedOutput& operator=(const PartedOutput&) = delete;
  // Unless it was kept, what make() has made is removed.
  ~PartedOutput();

  const std::string& name() const { return name_; }              // of the output, for messages
  const std::string& parts_name() const { return parts_name_; }  // of what stands beside it
  int fd() const { return fd_.get(); }

  // Makes it, for the parts to fill; with keep() it stays. Throws Failure where the output exists, or parts of it do,
  // unless it was forced; then older ones stay until keep().
  void make();
  void keep();
  // Opens what `make` has made, for a part. Throws Failure.
  void open_shared();
  // Opens it for this process alone. Throws Failure where a part is at work.
  void open_alone();
  // Makes it durable and gives it its name, with this mode. Throws Failure.
  void commit(mode_t mode);
  // Throws Failure (usage) where the output exists and may not be replaced.
  void check_target() const;

 private:
  void open();
  [[noreturn]] void refuse_missing() const;
  bool lock(short type, int command) const;

  std::string name_, path_, parts_path_, parts_name_, made_path_;
  bool force_, made_ = false;
  std::optional<interrupt::Doomed> doomed_;
  Descriptor fd_;
};

}  // namespace stockade::cmd
