// stockade-mpi: reads the command line, runs one verb on every rank, and turns what went wrong into words and an exit
// status.
#include <fmt/format.h>

#include <exception>
#include <new>

#include "cmd/stockade/command_line.h"
#include "cmd/stockade/exit_status.h"
#include "cmd/stockade/interrupt.h"
#include "cmd/stockade/key_input.h"
#include "cmd/stockade/standard_descriptors.h"
#include "cmd/stockade/ui.h"
#include "launch.h"
#include "session.h"
#include "stockade/stockade_mpi.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

int run(int argc, char** argv) {
  KeyArgument key_argument;
  take_key_argument(argc, argv, key_argument);
  Session session(argc, argv);
  CommandLine line("stockade-mpi", "COMMAND ...",
                   "Stockade for many processes: one file is encrypted or decrypted by all ranks of an MPI run.",
                   fmt::format("stockade-mpi {}\nbuild: {}\nmpi: {}\n", stockade_version(), stockade_build(),
                               stockade_mpi_library()));
  line.footer(fmt::format(R"(The files are those of 'stockade', whoever made them and with however many ranks.

examples:
  mpirun -n 8 stockade-mpi encrypt -k backup.key disk.img
  mpirun -n 4 stockade-mpi decrypt -k backup.key disk.img.stk
  mpirun -n 8 stockade-mpi verify -k backup.key disk.img.stk
  mpirun -n 8 stockade-mpi bench --quick

{})",
                          exit_status_help));
  add_encrypt(line, session);
  add_decrypt(line, session);
  add_verify(line, session);
  add_raw(line, session, key_argument);
  add_bench(line, session);
  line.run(argc, argv);
  return session.exit_status();
}

}  // namespace
}  // namespace stockade::cmd

int main(int argc, char** argv) {
  namespace cmd = stockade::cmd;
  using cmd::Exit;
  using cmd::Failure;
  cmd::fill_standard_descriptors();
  cmd::interrupt::install();
  // All ranks read the same command line and find the same wrong with it. A launcher ends a run once one of them has
  // failed, so only the one that speaks does.
  const bool speaks = cmd::launched_rank() == 0;
  cmd::ui::set_speaking(speaks);
  const auto report = [speaks](const Failure& failure) { return speaks ? cmd::report(failure) : 0; };
  try {
    return cmd::run(argc, argv);
  } catch (const Failure& failure) {
    return report(failure);
  } catch (const std::bad_alloc&) {
    return report(Failure(Exit::io, "out of memory"));
  } catch (const std::exception& error) {
    return report(Failure(Exit::io, error.what()));
  }
}
