#include "compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace stockade::bench {
namespace {

using nlohmann::ordered_json;

// Below this share of the time on a core something else ran as well.
constexpr double alone = 0.97;

using Pairs = std::vector<std::pair<const Measurement*, const Measurement*>>;

ordered_json member(const ResultFile& file, const char* name) { return file.json.value(name, ordered_json()); }

// By groups: the largest factor, less 1, between the times of a peer in the two runs. Nothing with different peers.
std::map<std::string, double> movements(const ResultFile& before, const ResultFile& after, const Pairs& pairs) {
  for (const char* name : {"peer", "peers", "peer_ia32cap"}) {
    if (member(before, name) != member(after, name)) return {};
  }
  std::map<std::string, double> most;
  for (const auto& [a, b] : pairs) {
    const double factor = b->seconds.median / a->seconds.median;
    if (a->peer && factor != 1) most[a->group] = std::max({most[a->group], factor - 1, 1 / factor - 1});
  }
  return most;
}

// What of the machine is the same in two runs on it; its clock moves by itself.
std::string machine_of(const ResultFile& file) {
  const ordered_json& machine = file.json["machine"];
  const ordered_json cpu = machine.value("cpu", ordered_json());
  std::string text = cpu.is_string() ? cpu.get<std::string>() : "an unknown processor";
  text += " with " + machine.value("cores", ordered_json()).dump() + " cores";
  for (const ordered_json& gpu : member(file, "gpus")) {
    if (gpu.is_object()) text += ", GPU " + gpu.value("name", ordered_json()).dump();
  }
  return text;
}

std::string shown(const ordered_json& value) {
  if (value.is_null() || value.empty()) return "none";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string percent_of_one(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

std::vector<std::string> notes_on(const ResultFile& before, const ResultFile& after) {
  std::vector<std::string> notes;
  if (machine_of(before) != machine_of(after)) {
    notes.push_back("these are two machines, " + machine_of(before) + " and " + machine_of(after) +
                    ": a difference may be theirs");
  }
  for (const char* name : {"environment", "peer", "peers", "peer_ia32cap", "mpi"}) {
    ordered_json a = member(before, name), b = member(after, name);
    if (std::string_view(name) == "mpi") {
      // The rest of it are measurements.
      a = a.is_object() ? a.value("library", ordered_json()) : ordered_json();
      b = b.is_object() ? b.value("library", ordered_json()) : ordered_json();
    }
    if (a != b) notes.push_back(std::string(name) + " differs: " + shown(a) + ", then " + shown(b));
  }
  for (const auto& [name, a] : before.json["settings"].items()) {
    const ordered_json b = after.json["settings"].value(name, ordered_json());
    if (a != b) notes.push_back("the setting " + name + " differs: " + shown(a) + ", then " + shown(b));
  }
  for (const ResultFile* file : {&before, &after}) {
    const double share = file->share_on_core();
    if (share >= alone) continue;
    notes.push_back(file->path + " had its core for " + percent_of_one(share) + " of the time: its bounds are wide");
  }
  return notes;
}

Difference judged(const Measurement& a, const Measurement& b, Noise& noise, double probability, double least) {
  Difference difference{axes_text(a.axes), a.axes, a.peer, a.seconds, b.seconds, 0, {}};
  difference.change = b.seconds.median / a.seconds.median - 1;
  if (const auto chance = noise.bound(a.seconds, b.seconds, probability)) {
    // Beyond e^50 it is the same: nothing can be said.
    difference.bound = std::max(least, std::exp(std::min(*chance, 50.0)) - 1);
  }
  return difference;
}

}  // namespace

Comparison compare(const ResultFile& before, const ResultFile& after, double threshold) {
  const auto refuse = [](const std::string& text) { throw RefusedResult(RefusedResult::Reason::unfit, text); };
  if (before.kind != after.kind) {
    refuse(before.path + " holds results of '" + before.kind + "' and " + after.path + " of '" + after.kind +
           "': there is nothing to compare");
  }
  std::map<std::string, const Measurement*> later;
  for (const Measurement& one : after.measurements) later.emplace(one.axes.dump(), &one);
  Comparison found;
  Pairs pairs;
  for (const Measurement& one : before.measurements) {
    const auto other = later.extract(one.axes.dump());
    if (other.empty()) {
      found.gone.push_back(axes_text(one.axes));
    } else {
      pairs.emplace_back(&one, other.mapped());
    }
  }
  for (const Measurement& one : after.measurements) {
    if (later.contains(one.axes.dump())) found.added.push_back(axes_text(one.axes));
  }
  if (pairs.empty()) refuse(before.path + " and " + after.path + " have no measurement in common");
  found.peers_moved = movements(before, after, pairs);
  found.notes = notes_on(before, after);
  // Bonferroni: each measurement has a share of the error of all, and half of that for either direction.
  const double probability = comparison_error / 2 / static_cast<double>(pairs.size());
  Noise noise;
  for (const auto& [a, b] : pairs) {
    const auto moved = found.peers_moved.find(a->group);
    const double least = moved == found.peers_moved.end() ? threshold : std::max(threshold, moved->second);
    found.differences.push_back(judged(*a, *b, noise, probability, least));
  }
  return found;
}

namespace {

std::vector<const Difference*> chosen(const Comparison& all, auto wanted, bool slowest_first) {
  std::vector<const Difference*> some;
  for (const Difference& one : all.differences) {
    if (!one.peer && wanted(one)) some.push_back(&one);
  }
  std::ranges::stable_sort(some, [&](const Difference* a, const Difference* b) {
    return slowest_first ? a->change > b->change : a->change < b->change;
  });
  return some;
}

}  // namespace

std::vector<const Difference*> Comparison::slower() const {
  return chosen(
      *this, [](const Difference& one) { return one.slower(); }, true);
}

std::vector<const Difference*> Comparison::faster() const {
  return chosen(
      *this, [](const Difference& one) { return one.faster(); }, false);
}

std::vector<const Difference*> Comparison::within() const {
  return chosen(
      *this, [](const Difference& one) { return one.bound && !one.slower() && !one.faster(); }, true);
}

std::vector<const Difference*> Comparison::unjudged() const {
  return chosen(
      *this, [](const Difference& one) { return !one.bound; }, true);
}

}  // namespace stockade::bench
