#include "capi/rsa_reading.h"

#include <cstring>
#include <string_view>

#include "capi/arguments.h"
#include "config/environment.h"

namespace stockade::capi {
namespace {

Status copy_passphrase(const void* from, uint64_t length, SecretBuffer& passphrase) {
  if (length > longest_passphrase) return STOCKADE_ERROR_ARGUMENT;
  if (!passphrase.allocate(length)) return STOCKADE_ERROR_MEMORY;
  if (length != 0) std::memcpy(passphrase.data(), from, length);
  return STOCKADE_OK;
}

Status ask_for_passphrase(const stockade_rsa_reading& reading, SecretBuffer& passphrase) {
  if (reading.passphrase != nullptr) return copy_passphrase(reading.passphrase, reading.passphrase_length, passphrase);
  Secret<uint8_t[1024]> asked;
  const int64_t length = reading.ask(reading.ask_context, *asked, sizeof *asked);
  if (length < 0 || length > static_cast<int64_t>(sizeof *asked)) return STOCKADE_ERROR_PASSPHRASE_NEEDED;
  return copy_passphrase(*asked, static_cast<uint64_t>(length), passphrase);
}

// Whether `force` names what is no key's business, and so would silently do nothing.
bool forces_more_than_keys(std::string_view force) {
  return force.find("engine:") != std::string_view::npos || force.find("rsa:") != std::string_view::npos;
}

}  // namespace

Status check_reading(const stockade_rsa_reading* reading) {
  if (reading == nullptr) return STOCKADE_OK;
  if (reading->struct_size != sizeof *reading) return STOCKADE_ERROR_ARGUMENT;
  return missing(reading->passphrase, reading->passphrase_length) ? STOCKADE_ERROR_NULL_POINTER : STOCKADE_OK;
}

Status choose_row(const char* force, const bignum::Variant** row) {
  config::Environment wish = config::environment();
  if (wish.status != STOCKADE_OK) return wish.status;
  if (force != nullptr) {
    if (forces_more_than_keys(force)) return STOCKADE_ERROR_UNKNOWN_NAME;
    if (const Status status = config::parse_force(force, wish); status != STOCKADE_OK) return status;
  }
  return bignum::choose(wish.bignum_row, wish.usable, row);
}

rsa::AskPassphrase asking(const stockade_rsa_reading* reading) {
  if (reading == nullptr || (reading->passphrase == nullptr && reading->ask == nullptr)) return {};
  return [reading](SecretBuffer& passphrase) { return ask_for_passphrase(*reading, passphrase); };
}

}  // namespace stockade::capi
