// What every benchmark says of the machine and of the library, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stockade/stockade.h"

namespace stockade::cmd {

struct Machine {
  stockade_machine machine{};
  std::vector<stockade_row> rows;
  double hertz = 0;     // of the core clock; 0 where unknown
  uint64_t memory = 0;  // bytes; 0 where unknown
  // The governor of the clock, and GPUs and the version of their driver as the system lists them; empty where unknown. No
  // driver is started to find out.
  std::string governor, driver;
  std::vector<std::string> gpus;
  std::string kernel, date;
};

// Throws Failure where the environment is bad.
Machine look_around();

// The lines that head a report. `peers`: names and descriptions.
std::string head_text(const Machine& machine, std::string_view benchmark,
                      const std::vector<std::pair<std::string, std::string>>& peers);

// The members schema, date, machine, library, environment and rows.
nlohmann::ordered_json head_json(const Machine& machine, std::string_view schema);

// Bytes that programs may take before the system has to swap; 0 where unknown.
uint64_t available_memory();

// Three significant digits.
std::string figure(double value);
// "1.23 ms"
std::string time_text(double seconds);

// A number of JSON, or null where it is not above 0.
nlohmann::ordered_json or_null(double value);

}  // namespace stockade::cmd
