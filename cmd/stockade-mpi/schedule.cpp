#include "schedule.h"

#include <fmt/format.h>

#include "cmd/stockade/ui.h"
#include "cmd/stockade/values.h"

namespace stockade::cmd {

namespace {

// How often a rank with a fixed share looks whether another one has failed.
constexpr auto patience = std::chrono::seconds(2);

}  // namespace

const char schedule_help[] =
    "dynamic: ranks take slices of the file as they are free; static: a fixed share each. Default dynamic on one "
    "machine, "
    "static on several";

void check_schedule(const std::optional<std::string>& text) {
  if (!text || *text == "dynamic" || *text == "static") return;
  const std::vector<std::string> names = {"dynamic", "static"};
  throw Failure(Exit::usage, fmt::format("--schedule: '{}' is neither dynamic nor static", *text),
                did_you_mean(*text, names));
}

bool is_dynamic(Ranks& ranks, const std::optional<std::string>& text) {
  return text ? *text == "dynamic" : ranks.machines() == 1;
}

// There are as many tickets as slices, and with fixed shares no slice takes more than one either. So whoever takes all
// that are left ends the work of all.
Schedule::Schedule(Ranks& ranks, uint64_t slices, bool dynamic) : ranks_(ranks), slices_(slices), end_(slices) {
  // Of one slice there is nothing to agree on, and a counter takes longer than a small file.
  const bool several = slices > 1;
  const bool counts = several && stockade_mpi_counter_create(&counter_, ranks.team()) == STOCKADE_OK;
  dynamic_ = dynamic && counts;
  if (dynamic && several && !counts) {
    ui::notice("this MPI library has no shared counter here: each rank gets a fixed share");
  }
  next_look_ = std::chrono::steady_clock::now() + patience;
  if (!dynamic_) stockade_mpi_share(slices, ranks.rank(), ranks.size(), &begin_, &end_);
}

Schedule::~Schedule() { stockade_mpi_counter_free(counter_); }

uint64_t Schedule::take_ticket() {
  uint64_t ticket = 0;
  if (counter_ == nullptr) return ticket;
  if (stockade_mpi_counter_next(counter_, &ticket) != STOCKADE_OK) ranks_.lose();
  return ticket;
}

std::optional<uint64_t> Schedule::next() {
  if (dynamic_) {
    const uint64_t ticket = take_ticket();
    return ticket < slices_ ? std::optional(ticket) : std::nullopt;
  }
  if (begin_ == end_) return {};
  if (const auto now = std::chrono::steady_clock::now(); now >= next_look_) {
    next_look_ = now + patience;
    if (take_ticket() >= slices_) return {};
  }
  return begin_++;
}

void Schedule::stop() {
  if (counter_ == nullptr) return;
  while (take_ticket() < slices_) continue;
}

}  // namespace stockade::cmd
