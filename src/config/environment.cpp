#include "config/environment.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include "aes/aes_cuda.h"
#include "aes/aes_variants.h"
#include "bignum/bignum_variants.h"
#include "cpu/features.h"
#include "gcm/gcm_variants.h"

namespace stockade::config {
namespace {

// The table's own copy of a row's name, which outlives the text that named it. UNKNOWN_NAME.
template <typename Variants>
Status parse_row(const Variants& variants, std::string_view name, std::string_view& row) {
  for (const auto& variant : variants) {
    if (name != variant.name) continue;
    row = variant.name;
    return STOCKADE_OK;
  }
  return STOCKADE_ERROR_UNKNOWN_NAME;
}

Status parse_layers(std::string_view name, std::string_view& layers) {
  const auto* const found = std::find(std::begin(rsa_layers), std::end(rsa_layers), name);
  if (found == std::end(rsa_layers)) return STOCKADE_ERROR_UNKNOWN_NAME;
  layers = *found;
  return STOCKADE_OK;
}

Status parse_entry(std::string_view entry, Environment& environment) {
  const size_t colon = entry.find(':');
  if (colon == std::string_view::npos) return STOCKADE_ERROR_UNKNOWN_NAME;
  const std::string_view subject = entry.substr(0, colon);
  const std::string_view name = entry.substr(colon + 1);
  if (subject == "engine") return parse_kind(name, environment.kind);
  if (subject == "aes") return parse_row(aes::variants(), name, environment.aes_row);
  if (subject == "gcm") return parse_row(gcm::variants(), name, environment.gcm_row);
  if (subject == "bignum") return parse_row(bignum::variants(), name, environment.bignum_row);
  if (subject == "rsa") return parse_layers(name, environment.rsa_layers);
  if (subject == "gpu-ctr") return parse_row(aes::gpu_ctr_variants(), name, environment.gpu_ctr_row);
  return STOCKADE_ERROR_UNKNOWN_NAME;
}

Status parse_threads(std::string_view text, uint32_t& threads) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, threads);
  const bool valid = error == std::errc() && stop == end && threads >= 1 && threads <= max_threads;
  return valid ? STOCKADE_OK : STOCKADE_ERROR_ARGUMENT;
}

// What OpenMP's programs read: numbers for teams within teams, of which the first counts. 0: nothing that makes sense, which no
// program of these takes for a fault.
uint32_t parse_openmp_threads(std::string_view text) {
  text = text.substr(0, text.find(','));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  uint32_t threads = 0;
  return parse_threads(text, threads) == STOCKADE_OK ? threads : 0;
}

// Empty for a variable that is not set: both mean that nothing was asked for.
std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

Environment read_environment() {
  Environment found{};
  found.status = parse_force(variable("STOCKADE_FORCE"), found);
  const std::string_view threads = variable("STOCKADE_THREADS");
  if (found.status == STOCKADE_OK && !threads.empty()) found.status = parse_threads(threads, found.threads);
  if (threads.empty()) found.threads = parse_openmp_threads(variable("OMP_NUM_THREADS"));
  const std::string_view devices = variable("STOCKADE_DEVICES");
  if (found.status == STOCKADE_OK && !devices.empty()) found.status = parse_devices(devices, found.devices);
  const cpu::Mask mask = cpu::environment_mask();
  if (found.status == STOCKADE_OK && !mask.valid) found.status = STOCKADE_ERROR_UNKNOWN_NAME;
  found.usable = cpu::detected() & ~mask.hidden;
  return found;
}

}  // namespace

Status parse_kind(std::string_view name, Kind& kind) {
  for (const Kind known : {Kind::automatic, Kind::serial, Kind::threads, Kind::cuda, Kind::hybrid}) {
    if (name != kind_name(known)) continue;
    kind = known;
    return STOCKADE_OK;
  }
  return STOCKADE_ERROR_UNKNOWN_NAME;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::serial:
      return "serial";
    case Kind::threads:
      return "threads";
    case Kind::cuda:
      return "cuda";
    case Kind::hybrid:
      return "hybrid";
    default:
      return "auto";
  }
}

const Environment& environment() {
  // Nothing in it is allocated or destroyed: the first call may come without memory, the last while the process exits.
  static const Environment found = read_environment();
  static_assert(std::is_trivially_destructible_v<Environment>);
  return found;
}

Status parse_force(std::string_view text, Environment& environment) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (const Status status = parse_entry(text.substr(0, comma), environment); status != STOCKADE_OK) return status;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return STOCKADE_ERROR_UNKNOWN_NAME;
  }
  return STOCKADE_OK;
}

Status parse_devices(std::string_view text, uint64_t& devices) {
  devices = 0;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    uint32_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + comma, number);
    if (error != std::errc() || stop != text.data() + comma || number >= 64) return STOCKADE_ERROR_ARGUMENT;
    devices |= uint64_t{1} << number;
    if (comma == text.size()) return STOCKADE_OK;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace stockade::config
