// What `stockade bench studies` has found, as tables and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/studies.h"

namespace stockade::cmd {

std::string table_text(const bench::StudyTable& table);
std::string gains_text(const std::vector<bench::LaunchGain>& gains);

// One result for each figure.
void append_json(nlohmann::ordered_json& results, const bench::StudyTable& table);
nlohmann::ordered_json gains_json(const std::vector<bench::LaunchGain>& gains);

}  // namespace stockade::cmd
