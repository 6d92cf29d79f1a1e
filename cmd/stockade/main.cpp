// stockade: reads the command line, runs one verb, and turns what went wrong into words and an exit status.
#include <fmt/format.h>

#include <exception>
#include <new>

#include "command_line.h"
#include "exit_status.h"
#include "interrupt.h"
#include "key_input.h"
#include "standard_descriptors.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

// A profile that is there and cannot be used, once: whoever has tuned would wonder.
void warn_of_profile() {
  stockade_experience experience{};
  if (stockade_experience_get(&experience) != STOCKADE_OK || experience.problem == nullptr) return;
  const std::string where =
      experience.problem_line == 0 ? std::string() : fmt::format("line {}: ", experience.problem_line);
  ui::notice(fmt::format("the profile '{}' is ignored: {}{}; 'stockade tune' makes another", experience.path, where,
                         experience.problem));
}

void run(int argc, char** argv) {
  KeyArgument key_argument;
  take_key_argument(argc, argv, key_argument);
  CommandLine line("stockade", "COMMAND ...",
                   "Stockade encrypts files with AES-GCM, on every core and with the same bytes whoever runs it.",
                   fmt::format("stockade {}\nbuild: {}\n", stockade_version(), stockade_build()));
  line.footer(fmt::format(R"(examples:
  stockade keygen --symmetric -o backup.key
  stockade encrypt -k backup.key disk.img
  stockade decrypt -k backup.key disk.img.stk
  stockade encrypt -p letter.txt
  stockade verify -k backup.key *.stk
  stockade bench aes --quick

{})",
                          exit_status_help));
  add_keygen(line);
  add_encrypt(line);
  add_decrypt(line);
  add_inspect(line);
  add_verify(line);
  add_rekey(line);
  add_plan(line);
  add_join(line);
  add_cobblestone(line);
  add_raw(line, key_argument);
  add_rsa(line);
  add_info(line);
  add_bench(line);
  add_tune(line);
  add_report(line);
  line.run(argc, argv);
  warn_of_profile();
}

int report(const Failure& failure) {
  // Whatever failed after a signal, failed because of it.
  if (interrupt::requested()) {
    interrupt::answer();
    return interrupt::exit_status();
  }
  ui::error(failure.message);
  for (const std::string& hint : failure.hints) ui::hint(hint);
  return static_cast<int>(failure.exit);
}

}  // namespace
}  // namespace stockade::cmd

int main(int argc, char** argv) {
  namespace cmd = stockade::cmd;
  using cmd::Exit;
  using cmd::Failure;
  using cmd::report;
  cmd::fill_standard_descriptors();
  cmd::interrupt::install();
  try {
    cmd::run(argc, argv);
    return 0;
  } catch (const Failure& failure) {
    return report(failure);
  } catch (const std::bad_alloc&) {
    return report(Failure(Exit::io, "out of memory"));
  } catch (const std::exception& error) {
    return report(Failure(Exit::io, error.what()));
  }
}
