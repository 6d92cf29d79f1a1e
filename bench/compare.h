// Two runs of one benchmark, measurement by measurement: `stockade bench compare`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "noise.h"
#include "result_file.h"

namespace stockade::bench {

// Of a whole comparison: how often it may report a difference where there is none.
inline constexpr double comparison_error = 0.05;

struct Difference {
  std::string name;             // what was measured: "cipher aes-256-gcm, operation seal, ..."
  nlohmann::ordered_json axes;  // the same, member by member
  bool peer = false;
  Spread before, after;  // seconds
  double change = 0;     // of the time: 0.1 for a tenth more
  // How large a change has to be to count; nothing where a file has no spread.
  std::optional<double> bound;

  bool slower() const { return bound && change > *bound; }
  // As a factor the bound is the same in both directions.
  bool faster() const { return bound && 1 / (1 + change) - 1 > *bound; }
};

struct Comparison {
  std::vector<Difference> differences;   // in the order of the first file
  std::vector<std::string> gone, added;  // what is in one file only
  // The largest change of a peer, as a factor less 1, by the groups of measurements; without those where no peer can tell.
  std::map<std::string, double> peers_moved;
  std::vector<std::string> notes;  // what makes the two hard to compare, a line each

  // Of Stockade, slowest first.
  std::vector<const Difference*> slower() const;
  // Fastest first.
  std::vector<const Difference*> faster() const;
  std::vector<const Difference*> within() const;
  // Without a spread; most slowed first.
  std::vector<const Difference*> unjudged() const;
};

// `threshold`: a change below this share of the time never counts, because machines drift from run to run. Throws
// RefusedResult where the two have nothing in common.
Comparison compare(const ResultFile& before, const ResultFile& after, double threshold);

}  // namespace stockade::bench
