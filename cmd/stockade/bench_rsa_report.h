// What `stockade bench rsa` has found, as tables and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/rsa.h"

namespace stockade::cmd {

std::string table_text(const bench::RsaTable& table, const bench::RsaSettings& settings);
std::string load_text(const bench::RsaLoad& load);
std::string keys_text(const bench::RsaKeyTable& table);
std::string ablation_text(const bench::Ablation& ablation);

// One result for each figure.
void append_json(nlohmann::ordered_json& results, const bench::RsaTable& table);
void append_json(nlohmann::ordered_json& results, const bench::RsaLoad& load);
void append_json(nlohmann::ordered_json& results, const bench::RsaKeyTable& table);
nlohmann::ordered_json ablation_json(const bench::Ablation& ablation);

}  // namespace stockade::cmd
