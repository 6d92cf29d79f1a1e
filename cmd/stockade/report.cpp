// stockade report: hands its words to the program `stockade-report`, which is the Python package of report/.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "command_line.h"
#include "exit_status.h"
#include "ui.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

constexpr char program[] = "stockade-report";

// Found as the shell would, or beside this program, where an installation into the same prefix puts it.
[[noreturn]] void become_report(char** argv) {
  // What is ignored stays so in the next program.
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  std::string name = program;
  argv[0] = name.data();
  execvp(program, argv);
  int reason = errno;
  if (reason == ENOENT) {
    std::error_code unknown;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
    execv((self.parent_path() / program).c_str(), argv);
    reason = errno;
  }
  if (reason == ENOENT) {
    throw Failure(Exit::unavailable,
                  fmt::format("the report is drawn by the program '{}', which is not installed", program),
                  {"'pip install ./report' in Stockade's source installs it; without that, 'make report' there draws"});
  }
  throw Failure(Exit::unavailable, fmt::format("cannot run '{}': {}", program, ui::system_text(reason)));
}

}  // namespace

void add_report(Command& root) {
  root.add("report", "RESULTS.json ... -o PAGE.html", "Draws results of benchmarks: runs stockade-report.")
      .other_program(become_report);
}

}  // namespace stockade::cmd
