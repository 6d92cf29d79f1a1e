// What the outputs are called where the command line does not say: the input's name with .stk behind it, or without.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exit_status.h"
#include "stockade/stockade.h"

namespace stockade::cmd {

inline constexpr char file_suffix[] = ".stk";

struct OutputName {
  std::string path;                // empty: standard output
  std::optional<Failure> refusal;  // of this file alone
};

struct OutputChoice {
  std::optional<std::string> output, folder;  // -o and --output-dir
  bool resumable = false;                     // outputs grow in files beside their names
};

// One for each input. Throws Failure (usage) where they cannot all be meant: -o for several inputs, two inputs with one
// output, an output that is another input, or a file in which an output grows that is one of the others.
std::vector<OutputName> name_outputs(stockade_direction direction, std::span<const std::string> inputs,
                                     const OutputChoice& choice);

}  // namespace stockade::cmd
