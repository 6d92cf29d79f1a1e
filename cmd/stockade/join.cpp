// stockade join: gives a file that was made in parts its name, once all of them are done.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "exit_status.h"
#include "file_failure.h"
#include "file_job.h"
#include "keyring_input.h"
#include "plan_file.h"
#include "run_options.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

// The command line as it was written; absent where it was not.
struct JoinLine {
  KeyOptions keys;
  PlanOptions plan;
  std::optional<std::string> output;
  bool force = false, unchecked = false;
  RunOptions run;
};

// "0 to 3, 7 and 9": the first few runs of neighbours.
std::string ranges_text(const std::vector<uint64_t>& slices) {
  constexpr size_t most = 8;
  std::vector<std::string> ranges;
  for (size_t i = 0, end; i < slices.size(); i = end) {
    for (end = i + 1; end < slices.size() && slices[end] == slices[end - 1] + 1;) ++end;
    if (ranges.size() == most) {
      ranges.emplace_back("more");
      break;
    }
    ranges.push_back(end - i == 1 ? fmt::format("{}", slices[i]) : fmt::format("{} to {}", slices[i], slices[end - 1]));
  }
  return listed(ranges);
}

Failure incomplete(const Plan& plan, const PartedOutput& output) {
  const std::vector<uint64_t> missing = plan.missing();
  return {Exit::io,
          fmt::format("{} of {} slices of {} are not done: {}", missing.size(), plan.info().slices, output.name(),
                      ranges_text(missing)),
          {"run the parts again that have failed; --part 1/1 does all that is left"}};
}

Failure join_failure(const stockade_fault& fault, int error, const Plan& plan, const PartedOutput& output) {
  switch (fault.status) {
    case STOCKADE_ERROR_INCOMPLETE:
      return incomplete(plan, output);
    case STOCKADE_ERROR_JOURNAL:
      return {Exit::io, fmt::format("{} is damaged, or not of {}", output.parts_name(), plan.name())};
    case STOCKADE_ERROR_CHUNK: {
      // It has just been noted as not done, which all others are.
      const std::vector<uint64_t> bad = plan.missing();
      return {Exit::io,
              fmt::format("{} of {} slices in {} are not what was written there: {}", bad.size(), plan.info().slices,
                          output.parts_name(), ranges_text(bad)),
              {"they count as not done now: run their parts again; --part 1/1 does all that is left"}};
    }
    default:
      return file_failure(
          fault, error,
          {.direction = plan.direction(), .input = output.parts_name(), .output = "", .head = nullptr, .key_ids = {}});
  }
}

struct NextSlice {
  uint64_t next, end;
  static uint64_t take(void* self) {
    NextSlice& slices = *static_cast<NextSlice*>(self);
    return slices.next < slices.end ? slices.next++ : STOCKADE_NO_SLICE;
  }
};

void check_quickly(const Plan& plan, const PartedOutput& output) {
  stockade_fault fault{};
  errno = 0;
  if (stockade_shared_check(plan.job(), output.fd(), plan.fd(), &fault) != STOCKADE_OK) {
    throw join_failure(fault, errno, plan, output);
  }
}

// Reads all slices back, on all cores.
void read_back(const JoinLine& line, const Plan& plan, const PartedOutput& output) {
  const EngineHandle engine = line.run.make_engine();
  const stockade_shared_info& info = plan.info();
  const uint64_t total = (info.slices - 1) * info.slice_bytes + info.last_slice_bytes;
  ui::Progress progress(line.run.progress_when(), {.engine = "reading back", .total = total});
  progress.start_file(*line.output);
  NextSlice slices{0, info.slices};
  stockade_shared_work work{};
  work.struct_size = sizeof work;
  work.in_fd = -1;
  work.out_fd = output.fd();
  work.journal_fd = plan.fd();
  work.next = NextSlice::take;
  work.next_context = &slices;
  work.progress = on_progress;
  work.progress_context = &progress;
  work.total = total;
  errno = 0;
  const stockade_status status = stockade_shared_read_back(plan.job(), &work, engine.get());
  const int error = errno;
  progress.clear();
  if (status != STOCKADE_OK) {
    work.fault.status = status;
    throw join_failure(work.fault, error, plan, output);
  }
  progress.end_file(total);
  progress.finish();
}

void run_join(const JoinLine& line) {
  line.run.set_verbosity();
  if (!line.output) throw Failure(Exit::usage, "the output is missing", {"name it with -o OUT, as for the parts"});
  if (line.keys.stdin_readers() + line.plan.stdin_readers() > 1) {
    throw Failure(Exit::usage, "keys and passphrase cannot all come from standard input",
                  {"name a file for all but one of them"});
  }
  PartedOutput output({.path = *line.output, .force = line.force});
  const Plan plan(line.plan, line.keys);
  output.open_alone();
  check_quickly(plan, output);
  if (line.unchecked) {
    ui::note("the slices are not read back: 'verify' does that");
  } else {
    read_back(line, plan, output);
    // Its beginning once more, right before it gets its name.
    check_quickly(plan, output);
  }
  const mode_t mask = umask(0);
  umask(mask);
  output.commit(plan.direction() == STOCKADE_DECRYPT ? 0600 : 0666 & ~mask);
  plan.remove();
  ui::note(fmt::format("{}: {}", output.name(), plural(plan.info().slices, "slice")));
}

constexpr char help_text[] = R"(Only once every slice of the plan is done, and has been read back and is what was
written, does OUT appear under its name, with its last bytes on the disk; the plan
is then removed. Else the slices that are missing or damaged are named, and OUT does
not appear. The input is not needed.

Where one machine is too slow to read all of it, 'encrypt --part I/N --check' reads
back one part on each, and --unchecked then leaves it at that. Without either,
'stockade verify' finds what storage has altered since it was written.

examples:
  stockade join --plan disk.plan -k backup.key -o disk.img.stk
)";

}  // namespace

void add_join(Command& root) {
  root.add("join", "--plan FILE [-k KEY ... | -i PRIV ... | -p] -o OUT", "Completes a file that was made in parts.")
      .when_named([](Command& command) {
        const auto line = std::make_shared<JoinLine>();
        line->keys.declare(command, Purpose::decrypt);
        line->plan.declare(command, "parts");
        command.option("parts", "-o,--output", "OUT", line->output, "the file whose parts these are");
        command.flag("parts", "-f,--force", line->force, "replace an existing file of this name");
        command.flag("parts", "--unchecked", line->unchecked, "do not read the slices back");
        line->run.declare(command);
        command.footer(fmt::format("{}\n{}", help_text, exit_status_help));
        command.action([line] { run_join(*line); });
      });
}

}  // namespace stockade::cmd
