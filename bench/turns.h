// Contenders that take turns, each with a fixed amount of work per turn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "file.h"
#include "handles.h"
#include "stockade/stockade.h"

namespace stockade::bench {

using OnTurn = std::function<void(const std::string&)>;

struct FileContender {
  FileLine line;  // name, threads, bytes; a reason leaves it out
  std::function<Usage()> turn;
  // Times how often the turn's work fits into that of the point.
  double scale = 1;
};

// One turn each that does not count, then the rounds, in an order that rotates. Fills the lines of the point.
void take_turns(FilePoint& point, std::vector<FileContender>& contenders, const FileSettings& settings,
                const OnTurn& on_turn);

// Work of this process, with the time of all its threads.
Usage timed(const std::function<void()>& work);

// Throws std::runtime_error with the status' words.
void check(stockade_status status, const char* what);

// Throws std::runtime_error.
Engine make_engine(const char* name, uint32_t threads);

// A contender that has no turns, and a line that says why.
FileContender left_out(const std::string& name, const std::string& reason);
inline constexpr char not_installed[] = "not installed";

}  // namespace stockade::bench
