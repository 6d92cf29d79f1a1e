#include "turns.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "runner.h"

namespace stockade::bench {
namespace {

double cpu_seconds_so_far() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Workers of the turn before may still be awake, waiting for more; their time is not that of the next turn.
void settle() {
  const timespec moment = {0, 10'000'000};
  nanosleep(&moment, nullptr);
}

const FileLine* find_yardstick(const FilePoint& point, const Yardstick& yardstick, uint32_t threads) {
  const FileLine* found = nullptr;
  for (const FileLine& line : point.lines) {
    if (line.contender != yardstick.contender || line.seconds == 0) continue;
    if (found == nullptr || (yardstick.same_threads && line.threads == threads)) found = &line;
  }
  return found;
}

// Lines of one point may have different amounts of work, so speeds are compared, not times.
double speed(const FileLine& line) { return (line.bytes > 0 ? static_cast<double>(line.bytes) : 1.0) / line.seconds; }

void compare(FilePoint& point) {
  for (FileLine& line : point.lines) {
    for (const Yardstick& yardstick : point.yardsticks) {
      const FileLine* other = find_yardstick(point, yardstick, line.threads);
      line.ratios.push_back(other != nullptr && line.seconds > 0 ? speed(line) / speed(*other) : 0);
    }
  }
}

}  // namespace

void take_turns(FilePoint& point, std::vector<FileContender>& contenders, const FileSettings& settings,
                const OnTurn& on_turn) {
  const size_t count = contenders.size();
  std::vector<std::vector<double>> seconds(count), cpu_seconds(count);
  for (uint32_t round = 0; round <= settings.rounds; ++round) {
    for (size_t turn = 0; turn < count; ++turn) {
      const size_t i = (turn + round) % count;
      FileContender& contender = contenders[i];
      if (!contender.line.reason.empty()) continue;
      on_turn(point.question + ": " + point.name + ", " + contender.line.contender);
      settle();
      const Usage usage = contender.turn();
      if (settings.stop()) throw std::runtime_error("the benchmark was stopped");
      // The first turns touch pages, start threads and wake the clock.
      if (round == 0) continue;
      seconds[i].push_back(usage.seconds * contender.scale);
      cpu_seconds[i].push_back(usage.cpu_seconds * contender.scale);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    FileLine line = std::move(contenders[i].line);
    if (!seconds[i].empty()) {
      line.seconds = median(seconds[i]);
      line.low = *std::min_element(seconds[i].begin(), seconds[i].end());
      line.high = *std::max_element(seconds[i].begin(), seconds[i].end());
      line.cpu_seconds = median(cpu_seconds[i]);
    }
    point.lines.push_back(std::move(line));
  }
  compare(point);
}

Usage timed(const std::function<void()>& work) {
  const double cpu_start = cpu_seconds_so_far();
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {elapsed.count(), cpu_seconds_so_far() - cpu_start};
}

void check(stockade_status status, const char* what) {
  if (status != STOCKADE_OK) throw std::runtime_error(std::string(what) + ": " + stockade_status_text(status));
}

Engine make_engine(const char* name, uint32_t threads) {
  stockade_engine* engine = nullptr;
  check(stockade_engine_create(&engine, name, threads), "stockade_engine_create");
  return Engine(engine);
}

FileContender left_out(const std::string& name, const std::string& reason) {
  FileContender contender;
  contender.line.contender = name;
  contender.line.reason = reason;
  return contender;
}

}  // namespace stockade::bench
