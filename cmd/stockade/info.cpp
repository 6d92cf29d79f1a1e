// stockade info: what this machine is and what a new key would use on it.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line.h"
#include "exit_status.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct Engine {
  std::string name, summary;
};

struct Information {
  stockade_machine machine{};
  std::vector<stockade_feature> features;
  std::vector<stockade_row> rows;
  std::vector<Engine> engines;
  std::vector<stockade_device> devices;
  std::string no_devices;  // why there are none
  stockade_experience experience{};
};

void gather_devices(Information& info) {
  stockade_device device{};
  stockade_status status = STOCKADE_OK;
  for (uint32_t i = 0; (status = stockade_device_get(i, &device)) == STOCKADE_OK; ++i) info.devices.push_back(device);
  info.no_devices = stockade_device_absence();
  const bool ended = status == STOCKADE_ERROR_ARGUMENT || !info.no_devices.empty();
  if (!ended) info.no_devices = stockade_status_text(status);
}

Information gather() {
  Information info;
  stockade_status status = stockade_machine_get(&info.machine);
  if (status != STOCKADE_OK) throw environment_failure(status);
  stockade_feature feature{};
  for (uint32_t i = 0; stockade_feature_get(i, &feature) == STOCKADE_OK; ++i) info.features.push_back(feature);
  stockade_row row{};
  for (uint32_t i = 0; (status = stockade_row_get(i, &row)) == STOCKADE_OK; ++i) info.rows.push_back(row);
  if (info.rows.empty() || status != STOCKADE_ERROR_ARGUMENT) throw environment_failure(status);
  const char* name = nullptr;
  const char* summary = nullptr;
  for (uint32_t i = 0; stockade_engine_get(i, &name, &summary) == STOCKADE_OK; ++i)
    info.engines.push_back({name, summary});
  gather_devices(info);
  status = stockade_experience_get(&info.experience);
  if (status != STOCKADE_OK) throw environment_failure(status);
  return info;
}

std::string cache_text(const char* name, uint64_t bytes) {
  return bytes == 0 ? std::string() : fmt::format("{} {}", ui::size_text(bytes), name);
}

std::string rows_text(const Information& info, std::string_view primitive) {
  std::string out = fmt::format("\n{} rows, best first\n", primitive);
  for (const stockade_row& row : info.rows) {
    if (primitive != row.primitive) continue;
    const char* verdict = row.chosen ? "would run" : row.available ? "available" : "-";
    out += fmt::format("  {:<12}{:<12}{}\n", row.name, verdict, row.reason);
  }
  return out;
}

std::string devices_text(const Information& info) {
  std::string out = "\nGPUs\n";
  for (size_t i = 0; i < info.devices.size(); ++i) {
    const stockade_device& device = info.devices[i];
    out += fmt::format("  {:<4}{}, compute capability {}.{}, {}, {}: {}\n", i, device.name, device.capability / 10,
                       device.capability % 10, ui::size_text(device.memory), device.bus,
                       device.usable ? "usable" : "too old, 7.5 is the least");
  }
  if (!info.no_devices.empty()) out += fmt::format("  none: {}\n", ui::escaped(info.no_devices));
  return out;
}

std::string experience_text(const stockade_experience& experience) {
  std::string text = experience.user != nullptr      ? fmt::format("{}", experience.path)
                     : experience.problem != nullptr ? fmt::format("'{}' is not used", experience.path)
                                                     : "no profile of yours ('stockade tune' makes one)";
  if (experience.built_in != nullptr) text += fmt::format(", built in: {}", experience.built_in);
  return text;
}

std::string table(const Information& info) {
  const auto line = [](const char* name, const std::string& value) {
    return fmt::format("{:<14}{}\n", name, ui::escaped(value));
  };
  std::string out = line("stockade", stockade_version()) + line("build", stockade_build());
  out += line("processor", info.machine.cpu);
  out +=
      line("cores", fmt::format("{}, of which the default engine uses {}", info.machine.cores, info.machine.threads));
  std::vector<std::string> caches;
  for (const auto& text :
       {cache_text("L1d", info.machine.l1d), cache_text("L2", info.machine.l2), cache_text("L3", info.machine.l3)}) {
    if (!text.empty()) caches.push_back(text);
  }
  out += line("caches", caches.empty() ? "unknown" : joined(caches, ", "));
  out += line("experience", experience_text(info.experience));
  const auto environment = environment_in_force();
  out += line("environment", environment.empty() ? "nothing set" : joined(environment, " "));

  out += "\ninstruction sets\n";
  for (const stockade_feature& feature : info.features) {
    const char* state = feature.masked ? "hidden by STOCKADE_MASK" : feature.present ? "present" : "absent";
    out += fmt::format("  {:<12}{}\n", feature.name, state);
  }
  for (const char* primitive : {"aes", "gcm", "bignum"}) out += rows_text(info, primitive);
  out += "\nengines\n";
  for (const Engine& engine : info.engines) out += fmt::format("  {:<12}{}\n", engine.name, engine.summary);
  return out + devices_text(info);
}

nlohmann::ordered_json document(const Information& info) {
  using nlohmann::ordered_json;
  ordered_json json;
  json["schema"] = "stockade-info/1";
  json["version"] = stockade_version();
  json["build"] = stockade_build();
  json["machine"] = {{"cpu", info.machine.cpu}, {"cores", info.machine.cores}, {"threads", info.machine.threads},
                     {"l1d", info.machine.l1d}, {"l2", info.machine.l2},       {"l3", info.machine.l3}};
  const auto text_or_null = [](const char* text) { return text == nullptr ? ordered_json() : ordered_json(text); };
  json["experience"] = {{"path", info.experience.path},
                        {"fingerprint", info.experience.fingerprint},
                        {"user", text_or_null(info.experience.user)},
                        {"problem", text_or_null(info.experience.problem)},
                        {"built_in", text_or_null(info.experience.built_in)}};
  json["environment"] = environment_in_force();
  for (const stockade_feature& feature : info.features) {
    json["instruction_sets"].push_back(
        ordered_json{{"name", feature.name}, {"present", feature.present != 0}, {"masked", feature.masked != 0}});
  }
  for (const stockade_row& row : info.rows) {
    json["rows"].push_back(ordered_json{{"primitive", row.primitive},
                                        {"name", row.name},
                                        {"available", row.available != 0},
                                        {"chosen", row.chosen != 0},
                                        {"reason", row.reason}});
  }
  for (const Engine& engine : info.engines) {
    json["engines"].push_back(ordered_json{{"name", engine.name}, {"summary", engine.summary}});
  }
  json["devices"] = ordered_json::array();
  for (const stockade_device& device : info.devices) {
    json["devices"].push_back(ordered_json{{"name", device.name},
                                           {"capability", device.capability},
                                           {"multiprocessors", device.multiprocessors},
                                           {"memory", device.memory},
                                           {"bus", device.bus},
                                           {"usable", device.usable != 0}});
  }
  json["no_devices"] = info.no_devices.empty() ? ordered_json() : ordered_json(info.no_devices);
  return json;
}

}  // namespace

void add_info(Command& root) {
  Command& info = root.add("info", "[--json]", "Shows what this machine can run and what would be used.");
  const auto json = std::make_shared<bool>(false);
  info.flag("options", "--json", *json, "as JSON, with the schema's name in its first member");
  info.footer(R"(A row is one implementation of a primitive, named after the instructions it uses.
These variables steer the choice, and 'info' shows what they bring about:
  STOCKADE_FORCE=aes:ROW,gcm:ROW,engine:NAME   use these, or fail
  STOCKADE_MASK=vaes,avx512                    behave as if these were absent
  STOCKADE_THREADS=N, OMP_NUM_THREADS=N        at most N threads
  STOCKADE_DEVICES=0,2                         of the GPUs these
  STOCKADE_PROFILE=FILE                        what 'stockade tune' has found; 'none': nothing
  CUDA_VISIBLE_DEVICES=1,3                     of the driver: no other GPU is there)");
  info.action([json] {
    const Information information = gather();
    ui::print(*json ? ui::json_text(document(information)) : table(information));
  });
}

}  // namespace stockade::cmd
