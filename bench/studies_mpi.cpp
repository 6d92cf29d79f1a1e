#include "studies_mpi.h"

#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace stockade::bench {
namespace {

std::string listed(const std::vector<uint64_t>& sizes) {
  std::string text;
  for (const uint64_t size : sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
  return text;
}

std::vector<MpiTime> read(const std::string& text, uint32_t ranks) {
  std::vector<MpiTime> times;
  try {
    const nlohmann::json report = nlohmann::json::parse(text);
    if (report.at("mpi").at("ranks") != ranks) throw std::runtime_error("other ranks than were asked for");
    for (const nlohmann::json& result : report.at("results")) {
      // Weak scaling: so many bytes for each rank.
      if (result.at("scaling") != "strong") continue;
      times.push_back({result.at("form"), result.at("bytes"), result.at("ranks"), report.at("settings").at("rounds"),
                       result.at("seconds_median"), result.at("seconds_low"), result.at("seconds_high")});
    }
  } catch (const nlohmann::json::exception&) {
    // Ranks that do not know of one another print a report each.
    throw std::runtime_error("stockade-mpi and mpirun are not of one MPI library");
  }
  return times;
}

std::string output_of_mpi(const ProcessCall& call, const Stop& stop) {
  try {
    return output_of(call, stop);
  } catch (const std::runtime_error& failure) {
    const bool refused = geteuid() == 0 && std::getenv("OMPI_ALLOW_RUN_AS_ROOT") == nullptr;
    if (!refused || stop()) throw;
    throw std::runtime_error(std::string(failure.what()) +
                             "; as root, Open MPI wants OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  }
}

}  // namespace

void find_mpi(StudySettings& settings, const std::string& program, bool quick) {
  std::string command = program.substr(0, program.rfind('/') + 1) + "stockade-mpi";
  if (access(command.c_str(), X_OK) != 0) command = find_program("stockade-mpi");
  const std::string launcher = find_program("mpirun");
  settings.no_mpi = command.empty() ? "stockade-mpi is not installed" : launcher.empty() ? "there is no mpirun" : "";
  if (!settings.no_mpi.empty()) return;
  const std::string ranks = std::to_string(settings.threads);
  settings.run_mpi = [=, count = settings.threads, rounds = quick ? 2U : 5U, stop = settings.stop](
                         const std::string& cipher, const std::vector<uint64_t>& sizes) {
    return read(output_of_mpi({{launcher, "-n", ranks, command, "bench", "-q", "--json", "--only", "root,distributed",
                                "--ranks", ranks, "--threads", "1", "--cipher", cipher, "--sizes", listed(sizes),
                                "--rounds", std::to_string(rounds)}},
                              stop),
                count);
  };
}

}  // namespace stockade::bench
