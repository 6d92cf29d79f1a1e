// What `stockade bench --json` has printed, read back as far as comparing needs it. bench/README.md describes the files.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "noise.h"

namespace stockade::bench {

// A file that cannot be used; the text says which one, where and why.
struct RefusedResult : std::runtime_error {
  enum class Reason {
    unreadable,  // by the operating system
    damaged,     // no JSON, or not what its schema says
    unfit        // of a kind that is not known, newer than this program, or not of the other's kind
  };
  RefusedResult(Reason reason_, const std::string& text) : std::runtime_error(text), reason(reason_) {}
  Reason reason;
};

// One time with its spread.
struct Measurement {
  nlohmann::ordered_json axes;  // the members that tell it from all others of its run
  Spread seconds;
  bool peer = false;  // not Stockade's code: the same in both runs where its version is
  // Peers tell how far the machine has moved for measurements of the same group: tails of latencies, and making keys, move
  // by chance, and more than others.
  std::string group = {};
};

struct ResultFile {
  std::string path;
  std::string kind;  // aes, file, gpu, mpi, rsa, rsa-ablation, rsa-keys, rsa-queue or studies
  nlohmann::ordered_json json;
  std::vector<Measurement> measurements;  // in the order of the file

  // 0 to 1: how much of the time the one-threaded figures had a core, on average; 1 where the run does not say.
  double share_on_core() const;
};

// "cipher aes-128-ctr, threads 2"
std::string axes_text(const nlohmann::ordered_json& axes);

// Both throw RefusedResult.
ResultFile read_result_file(const std::string& path);
// The same of a text that `path` names.
ResultFile read_result_text(const std::string& path, std::string_view text);

}  // namespace stockade::bench
