#include "ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <optional>

#include "cmd/stockade/interrupt.h"
#include "cmd/stockade/ui.h"

namespace stockade::cmd {
namespace {

// What ranks tell one another of how they have fared. Plain bytes.
struct Verdict {
  uint32_t failed;
  uint32_t gravity;
  int32_t status;  // of the process
  uint32_t text_length;
  uint64_t offset;
  uint64_t text_hash;
};

// Interrupted stands above all: whatever failed after a signal, failed because of it.
uint32_t gravity_of(int status) {
  constexpr Exit order[] = {Exit::ok, Exit::usage, Exit::io, Exit::unavailable, Exit::no_key, Exit::corrupt};
  const auto* const found = std::find(std::begin(order), std::end(order), static_cast<Exit>(status));
  return static_cast<uint32_t>(found - std::begin(order));
}

bool is_graver(const Verdict& a, const Verdict& b) {
  if (a.failed != b.failed) return a.failed > b.failed;
  if (a.gravity != b.gravity) return a.gravity > b.gravity;
  return a.offset < b.offset;
}

// Message and hints as one text; neither holds a zero.
std::string packed(const Failure& failure) {
  std::string text = failure.message;
  for (const std::string& hint : failure.hints) text += '\0' + hint;
  return text;
}

std::vector<std::string> unpacked(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "an unnamed machine";
}

struct Ranks::Report {
  std::optional<Failure> failure;
  uint64_t offset = UINT64_MAX;
};

void Ranks::lose() {
  ui::set_speaking(true);
  ui::error("the connection to other ranks is lost");
  stockade_mpi_abort(team_, static_cast<int>(Exit::io));
  std::abort();
}

void Ranks::gather_bytes(const void* bytes, uint64_t length, void* all) {
  if (stockade_mpi_gather(team_, bytes, length, all) != STOCKADE_OK) lose();
}

void Ranks::share_from(uint32_t root, void* bytes, uint64_t length) {
  if (length == 0) return;
  if (stockade_mpi_broadcast(team_, root, bytes, length) != STOCKADE_OK) lose();
}

void Ranks::share(void* bytes, uint64_t length) { share_from(0, bytes, length); }

void Ranks::settle(const Report& report, bool by_first) {
  Verdict mine{.failed = 0, .gravity = 0, .status = 0, .text_length = 0, .offset = report.offset, .text_hash = 0};
  std::string text;
  if (report.failure) {
    mine.failed = 1;
    mine.status = interrupt::requested() ? interrupt::exit_status() : static_cast<int>(report.failure->exit);
    mine.gravity = gravity_of(mine.status);
    text = interrupt::requested() ? interrupt::message : packed(*report.failure);
    mine.text_length = static_cast<uint32_t>(text.size());
    mine.text_hash = std::hash<std::string>()(text);
  }
  const std::vector<Verdict> all = gather(mine);
  const auto gravest = std::min_element(all.begin(), all.end(), is_graver);
  if (gravest->failed == 0) return;
  const auto root = static_cast<uint32_t>(gravest - all.begin());
  const bool alike = std::all_of(all.begin(), all.end(), [&](const Verdict& other) {
    return other.failed != 0 && other.text_hash == gravest->text_hash;
  });
  text.resize(gravest->text_length);
  share_from(root, text.data(), text.size());
  std::vector<char> host(256);
  host_name().copy(host.data(), host.size() - 1);
  share_from(root, host.data(), host.size());
  std::vector<std::string> parts = unpacked(text);
  std::string message = parts.front();
  parts.erase(parts.begin());
  const bool interrupted = gravest->status > static_cast<int>(Exit::interrupted);
  if (!alike && !by_first && !interrupted) message = fmt::format("rank {} on {}: {}", root, host.data(), message);
  throw AgreedFailure(gravest->status, message, parts);
}

void Ranks::everywhere(const std::function<void()>& action) {
  Report report;
  try {
    action();
  } catch (const FailureAt& failure) {
    report = {failure, failure.offset};
  } catch (const Failure& failure) {
    report.failure = failure;
  } catch (const std::bad_alloc&) {
    report.failure = Failure(Exit::io, "out of memory");
  } catch (const std::exception& error) {
    report.failure = Failure(Exit::io, error.what());
  }
  settle(report, false);
}

void Ranks::on_first(const std::function<void()>& action) {
  Report report;
  try {
    if (first()) action();
  } catch (const Failure& failure) {
    report.failure = failure;
  } catch (const std::bad_alloc&) {
    report.failure = Failure(Exit::io, "out of memory");
  } catch (const std::exception& error) {
    report.failure = Failure(Exit::io, error.what());
  }
  settle(report, true);
}

void Ranks::check(stockade_status status, const std::function<Failure()>& failure) {
  if (status == STOCKADE_OK) return;
  if (status == STOCKADE_ERROR_MPI) lose();
  const Failure meant = failure();
  throw AgreedFailure(static_cast<int>(meant.exit), meant.message, meant.hints);
}

uint32_t Ranks::machines() {
  if (machines_ == 0) {
    const std::vector<uint32_t> local = gather(stockade_mpi_local_rank(team_));
    machines_ = static_cast<uint32_t>(std::count(local.begin(), local.end(), 0));
  }
  return machines_;
}

}  // namespace stockade::cmd
