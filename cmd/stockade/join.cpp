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
#include "keyring_input.h"
#include "plan_file.h"
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
  bool force = false, quiet = false, verbose = false;
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
    case STOCKADE_ERROR_CHUNK:
      return {Exit::io,
              fmt::format("{}: {}", output.parts_name(), fault_text(fault)),
              {"what the file system has lost of it is counted as not done now: run its part again"}};
    default:
      return file_failure(
          fault, error,
          {.direction = plan.direction(), .input = output.parts_name(), .output = "", .head = nullptr, .key_ids = {}});
  }
}

void run_join(const JoinLine& line) {
  ui::set_verbosity(line.quiet, line.verbose);
  if (!line.output) throw Failure(Exit::usage, "the output is missing", {"name it with -o OUT, as for the parts"});
  if (line.keys.stdin_readers() + line.plan.stdin_readers() > 1) {
    throw Failure(Exit::usage, "keys and passphrase cannot all come from standard input",
                  {"name a file for all but one of them"});
  }
  PartedOutput output({.path = *line.output, .force = line.force});
  const Plan plan(line.plan, line.keys);
  output.open_alone();
  stockade_fault fault{};
  errno = 0;
  if (stockade_shared_check(plan.job(), output.fd(), plan.fd(), &fault) != STOCKADE_OK) {
    throw join_failure(fault, errno, plan, output);
  }
  const mode_t mask = umask(0);
  umask(mask);
  output.commit(plan.direction() == STOCKADE_DECRYPT ? 0600 : 0666 & ~mask);
  plan.remove();
  ui::note(fmt::format("{}: {}", output.name(), plural(plan.info().slices, "slice")));
}

constexpr char help_text[] = R"(Only once every slice of the plan is done does OUT appear under its name, with its
last bytes on the disk; the plan is then removed. Else the slices that are missing
are named, and nothing changes. The input is not needed.

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
        command.flag("other options", "-q,--quiet", line->quiet, "say nothing but errors");
        command.flag("other options", "-v,--verbose", line->verbose, "say how it was done");
        command.footer(fmt::format("{}\n{}", help_text, exit_status_help));
        command.action([line] { run_join(*line); });
      });
}

}  // namespace stockade::cmd
