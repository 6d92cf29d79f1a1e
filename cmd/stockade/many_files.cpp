#include "many_files.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <vector>

#include "exit_status.h"
#include "handles.h"
#include "interrupt.h"
#include "run_options.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

using Outcome = std::optional<Failure>;

template <typename Action>
Outcome outcome_of(const Action& action) {
  try {
    action();
    return {};
  } catch (const Failure& failure) {
    return failure;
  } catch (const std::bad_alloc&) {
    return Failure(Exit::io, "out of memory");
  } catch (const std::exception& error) {
    return Failure(Exit::io, error.what());
  }
}

void throw_if_interrupted() {
  if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
}

// Each file of a group keeps its output open until it is settled.
size_t group_size() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return group_files;
  return std::clamp<size_t>(limit.rlim_cur / 4, 1, group_files);
}

bool is_small(const std::string& path) {
  struct stat status {};
  return path != "-" && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<uint64_t>(status.st_size) < small_file_bytes;
}

class Run {
 public:
  Run(std::span<const std::string> paths, const stockade_engine* engine, FileWork& work)
      : paths_(paths), engine_(engine), work_(work) {}

  void all() {
    std::vector<size_t> small, large;
    for (size_t i = 0; i < paths_.size(); ++i) (is_small(paths_[i]) ? small : large).push_back(i);
    const std::span<const size_t> indexes(small);
    const size_t size = group_size();
    for (size_t begin = 0; begin < small.size(); begin += size) {
      run_group(indexes.subspan(begin, std::min(size, small.size() - begin)));
    }
    for (const size_t index : large) {
      settle(index, outcome_of([&] { work_.run(index, engine_); }));
      settle_group();
    }
    if (failed_ > 0 && folder_failure_) report(*folder_failure_);
    if (failed_ > 0) throw Failure(gravest_, fmt::format("{} of {} files failed", failed_, paths_.size()));
    if (folder_failure_) throw Failure(*folder_failure_);
  }

 private:
  struct Group {
    FileWork& work;
    const stockade_engine* engine;
    std::span<const size_t> indexes;
    std::vector<Outcome> outcomes;
  };

  static int run_item(void* context, uint64_t item) {
    Group& group = *static_cast<Group*>(context);
    group.outcomes[item] = outcome_of([&] { group.work.run(group.indexes[item], group.engine); });
    return interrupt::requested() ? 1 : 0;
  }

  // Each file stays on its thread, but what GPUs alone shall do they do.
  const stockade_engine* engine_of_items() {
    if (is_gpus_alone(engine_)) return engine_;
    if (!serial_) serial_ = make_serial_engine();
    return serial_.get();
  }

  void run_group(std::span<const size_t> indexes) {
    Group group{work_, engine_of_items(), indexes, std::vector<Outcome>(indexes.size())};
    const stockade_status status = stockade_for_each(indexes.size(), run_item, &group, engine_);
    throw_if_interrupted();
    if (status != STOCKADE_OK) throw environment_failure(status);
    std::vector<size_t> good;
    for (size_t i = 0; i < indexes.size(); ++i) {
      if (!group.outcomes[i]) good.push_back(indexes[i]);
    }
    work_.settle_together(good);
    for (size_t i = 0; i < indexes.size(); ++i) settle(indexes[i], group.outcomes[i]);
    settle_group();
  }

  // A folder that cannot be written is no reason to leave the files of others undone. The first one is reported at the end.
  void settle_group() {
    const Outcome outcome = outcome_of([&] { work_.settle_group(); });
    if (!outcome) return;
    gravest_ = graver(gravest_, outcome->exit);
    if (!folder_failure_) folder_failure_ = outcome;
  }

  void settle(size_t index, Outcome outcome) {
    throw_if_interrupted();
    if (!outcome) outcome = outcome_of([&] { work_.settle(index); });
    if (!outcome) return;
    work_.drop(index);
    gravest_ = graver(gravest_, outcome->exit);
    ++failed_;
    report(*outcome);
  }

  static void report(const Failure& failure) {
    ui::error(failure.message);
    for (const std::string& hint : failure.hints) ui::hint(hint);
  }

  std::span<const std::string> paths_;
  const stockade_engine* engine_;
  FileWork& work_;
  EngineHandle serial_;
  size_t failed_ = 0;
  Outcome folder_failure_;
  Exit gravest_ = Exit::ok;
};

}  // namespace

void work_on_files(std::span<const std::string> paths, const stockade_engine* engine, FileWork& work) {
  if (paths.size() > 1) return Run(paths, engine, work).all();
  work.run(0, engine);
  throw_if_interrupted();
  work.settle(0);
  work.settle_group();
}

}  // namespace stockade::cmd
