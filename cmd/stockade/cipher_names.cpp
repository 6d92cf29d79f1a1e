#include "cipher_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "exit_status.h"
#include "values.h"

namespace stockade::cmd {
namespace {

std::vector<Cipher> make_ciphers() {
  static constexpr struct {
    const char* name;
    stockade_mode mode;
  } modes[] = {{"ecb", STOCKADE_ECB}, {"cbc", STOCKADE_CBC}, {"cfb", STOCKADE_CFB}, {"ofb", STOCKADE_OFB},
               {"ctr", STOCKADE_CTR}, {"xts", STOCKADE_XTS}, {"gcm", STOCKADE_GCM}};
  std::vector<Cipher> all;
  for (const auto& mode : modes) {
    for (const uint32_t bits : {128U, 192U, 256U}) {
      // IEEE 1619 5.1 defines XTS-AES-128 and XTS-AES-256 only.
      if (mode.mode == STOCKADE_XTS && bits == 192) continue;
      all.push_back({fmt::format("aes-{}-{}", bits, mode.name), mode.mode, bits});
    }
  }
  return all;
}

}  // namespace

std::span<const Cipher> ciphers() {
  static const std::vector<Cipher> all = make_ciphers();
  return all;
}

const Cipher& parse_cipher(std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  std::vector<std::string> names;
  for (const Cipher& cipher : ciphers()) {
    if (cipher.name == name) return cipher;
    names.push_back(cipher.name);
  }
  std::vector<std::string> hints = did_you_mean(name, names);
  if (name == "aes-192-xts") hints = {"IEEE 1619 defines XTS for AES-128 and AES-256 only"};
  hints.push_back("the ciphers are aes-{128,192,256}-{ecb,cbc,cfb,ofb,ctr,gcm} and aes-{128,256}-xts");
  throw Failure(Exit::usage, fmt::format("unknown cipher '{}'", text), hints);
}

}  // namespace stockade::cmd
