#include "shared_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "cmd/stockade/interrupt.h"
#include "rank_engine.h"
#include "schedule.h"

namespace stockade::cmd {
namespace {

// This rank's part of the work, as the library's callbacks see it.
struct Part {
  Ranks& ranks;
  const SlicesWork& work;
  Schedule schedule;
  stockade_shared_info info;
  uint64_t number = 0;       // of the slice at hand
  uint64_t done_before = 0;  // bytes that this rank had done when it began that one
  uint64_t done = 0;
};

uint64_t next_slice(void* context) {
  Part& part = *static_cast<Part*>(context);
  part.done_before = part.done;
  const auto number = part.schedule.next();
  if (!number) return STOCKADE_NO_SLICE;
  part.number = *number;
  return *number;
}

// What all have done, as one rank can tell: in a dynamic order all before the slice at hand are done or nearly so; with
// fixed shares all ranks are equally far.
int on_progress(void* context, uint64_t done, uint64_t) {
  Part& part = *static_cast<Part*>(context);
  part.done = done;
  const uint64_t total = (part.info.slices - 1) * part.info.slice_bytes + part.info.last_slice_bytes;
  const uint64_t all = part.schedule.dynamic() ? part.number * part.info.slice_bytes + (done - part.done_before)
                                               : done * part.ranks.size();
  part.work.progress.update(std::min(all, total), total);
  return interrupt::requested() ? 1 : 0;
}

// What of a file is the same on every machine that sees it, and which machine that is. Plain bytes.
struct Identity {
  uint64_t length;
  int64_t seconds, nanoseconds;
  char host[64];
  bool is_same(const Identity& other) const {
    return length == other.length && seconds == other.seconds && nanoseconds == other.nanoseconds;
  }
};

void check_library(stockade_status status) {
  if (status != STOCKADE_OK) throw Failure(exit_for(status), stockade_status_text(status));
}

}  // namespace

void check_input_path(const std::optional<std::string>& path) {
  if (!path) throw Failure(Exit::usage, "the input is missing", {"name the file to read"});
  if (*path == "-") {
    throw Failure(Exit::usage, "many ranks cannot read from standard input", {"name a file that all of them see"});
  }
}

Input open_shared_input(Ranks& ranks, const std::string& path) {
  Input input;
  ranks.everywhere([&] {
    input = open_input(path, true);
    if (!input.regular()) {
      throw Failure(Exit::usage, fmt::format("{} is no regular file, of which ranks could read parts", input.name),
                    {"'stockade' itself reads pipes"});
    }
  });
  Identity mine{input.length, input.status.st_mtim.tv_sec, input.status.st_mtim.tv_nsec, {}};
  host_name().copy(mine.host, sizeof mine.host - 1);
  const std::vector<Identity> all = ranks.gather(mine);
  const auto other =
      std::find_if(all.begin(), all.end(), [&](const Identity& identity) { return !identity.is_same(all.front()); });
  if (other == all.end()) return input;
  throw AgreedFailure(static_cast<int>(Exit::io),
                      fmt::format("rank {} on {}: {} is not the file that rank 0 has opened: its size or its time of "
                                  "modification differs",
                                  other - all.begin(), other->host, input.name),
                      {"every rank must see the same file by this path"});
}

void export_job(const stockade_shared_job* job, SecretBytes& terms) {
  check_library(stockade_shared_export(job, terms.data()));
}

SharedJobHandle import_job(const SecretBytes& terms) {
  stockade_shared_job* job = nullptr;
  check_library(stockade_shared_import(&job, terms.data()));
  return SharedJobHandle(job);
}

FailureAt failure_at(const stockade_fault& fault, int error, const FileContext& context) {
  if (fault.status == STOCKADE_ERROR_JOURNAL) {
    return {Failure(Exit::io, fmt::format("what stands for {} is not what rank 0 has made", context.output),
                    {"the output must be in a folder that all ranks see by the same path"}),
            fault.offset};
  }
  return {file_failure(fault, error, context), fault.offset};
}

SlicesDone run_slices(Ranks& ranks, const SlicesWork& work, const stockade_engine* engine, const Judge& judge) {
  stockade_shared_info info{};
  stockade_shared_info_get(work.job, &info);
  Part part{.ranks = ranks, .work = work, .schedule{ranks, info.slices, work.dynamic}, .info = info};
  stockade_shared_work library_work{};
  library_work.struct_size = sizeof library_work;
  library_work.in_fd = work.input.fd.get();
  library_work.out_fd = work.out_fd;
  library_work.journal_fd = work.journal_fd;
  library_work.next = next_slice;
  library_work.next_context = &part;
  library_work.progress = on_progress;
  library_work.progress_context = &part;
  library_work.accept_changed_input = work.accept_changed_input ? 1 : 0;
  library_work.damage = work.damage;
  library_work.damage_context = work.damage_context;
  ranks.everywhere([&] {
    errno = 0;
    const stockade_status status = stockade_shared_run(work.job, &library_work, engine);
    const int error = errno;
    work.progress.clear();
    library_work.fault.status = status;
    try {
      judge(library_work, error);
    } catch (...) {
      part.schedule.stop();
      throw;
    }
  });
  struct Sums {
    uint64_t in, out;
  };
  SlicesDone done{.least = UINT64_MAX};
  for (const Sums& sums : ranks.gather(Sums{library_work.in_length, library_work.out_length})) {
    done.least = std::min(done.least, sums.in);
    done.most = std::max(done.most, sums.in);
    done.in_length += sums.in;
    done.out_length += sums.out;
  }
  return done;
}

std::string shared_plan_text(Ranks& ranks, const stockade_shared_info& info, bool dynamic, const std::string& plan) {
  const std::string slices =
      info.slices == 1 ? "1 slice" : fmt::format("{} slices of {}", info.slices, ui::size_text(info.slice_bytes));
  return fmt::format("{}, {}, {}; each {}", ranks_text(ranks), slices, dynamic ? "dynamic" : "static", plan);
}

}  // namespace stockade::cmd
