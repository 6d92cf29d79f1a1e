#include "session.h"

#include <signal.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "cmd/stockade/handles.h"
#include "cmd/stockade/interrupt.h"
#include "cmd/stockade/ui.h"
#include "launch.h"

namespace stockade::cmd {
namespace {

using TeamHandle = Handle<stockade_mpi_team, stockade_mpi_team_free>;

void say(const Failure& failure) {
  ui::error(failure.message);
  for (const std::string& hint : failure.hints) ui::hint(hint);
}

int run_and_report(Ranks& ranks, const std::function<void(Ranks&)>& work) {
  try {
    work(ranks);
    return 0;
  } catch (const AgreedFailure& failure) {
    say(failure);
    if (failure.status > static_cast<int>(Exit::interrupted) && interrupt::hint() != nullptr) {
      ui::hint(interrupt::hint());
    }
    return failure.status;
  }
}

// The others know nothing of it and would wait.
[[noreturn]] void abandon(stockade_mpi_team* team, const Failure& failure) {
  ui::set_speaking(true);
  stockade_mpi_abort(team, report(failure));
  std::abort();
}

TeamHandle start(int* argc, char*** argv) {
  choose_drivers();
  stockade_mpi_team* team = nullptr;
  const stockade_status status = stockade_mpi_team_start(&team, argc, argv);
  if (status == STOCKADE_ERROR_MISMATCH) {
    throw Failure(Exit::io, "the ranks run different versions of stockade-mpi",
                  {"install the same on every machine, or name the program by its whole path"});
  }
  if (status != STOCKADE_OK) throw Failure(exit_for(status), stockade_status_text(status));
  shorten_end();
  return TeamHandle(team);
}

}  // namespace

void Session::run(const std::function<void(Ranks&)>& work) {
  const TeamHandle team = start(&argc_, &argv_);
  Ranks ranks(team.get());
  ui::set_speaking(ranks.first());
  try {
    exit_status_ = run_and_report(ranks, work);
  } catch (const Failure& failure) {
    abandon(team.get(), failure);
  } catch (const std::bad_alloc&) {
    abandon(team.get(), Failure(Exit::io, "out of memory"));
  } catch (const std::exception& error) {
    abandon(team.get(), Failure(Exit::io, error.what()));
  }
  // A launcher ends the other ranks once one has returned with an error: all is said and done by then.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGALRM}) signal(number, SIG_IGN);
}

int report(const Failure& failure) {
  // Whatever failed after a signal, failed because of it.
  if (interrupt::requested()) {
    interrupt::answer();
    return interrupt::exit_status();
  }
  say(failure);
  return static_cast<int>(failure.exit);
}

}  // namespace stockade::cmd
