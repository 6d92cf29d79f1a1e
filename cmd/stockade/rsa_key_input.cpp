#include "rsa_key_input.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "recipients_text.h"

namespace stockade::cmd {
namespace {

// Room for the largest keys, and for certificates with their chain; for a thousand recipients.
constexpr size_t longest_key_file = 1 << 18, longest_recipients_file = 1 << 22;
constexpr std::string_view ssh_prefix = "ssh-rsa ";

void read_key_file(const std::string& path, const std::string& where, SecretBytes& content, bool is_public) {
  read_secret_file(path, where, content, is_public);
  if (content.size() == content.capacity()) {
    throw Failure(Exit::usage, fmt::format("{} is too long to be a key", where));
  }
}

std::string key_file(const std::string& path) {
  return path == "-" ? "the key from standard input" : fmt::format("the key file '{}'", path);
}

RsaText text_of(const std::string& where, std::string_view text) {
  auto bytes = std::make_unique<SecretBytes>(text.size());
  std::memcpy(bytes->data(), text.data(), text.size());
  bytes->resize(text.size());
  return {where, std::move(bytes)};
}

stockade_rsa_reading with_passphrase(const Passphrase& passphrase) {
  stockade_rsa_reading reading{};
  reading.struct_size = sizeof reading;
  reading.passphrase = passphrase.data();
  reading.passphrase_length = passphrase.size();
  return reading;
}

}  // namespace

RsaText read_rsa_text(const std::string& source) {
  if (source.starts_with(ssh_prefix)) return text_of("the key on the command line", source);
  RsaText text{key_file(source), std::make_unique<SecretBytes>(longest_key_file)};
  read_key_file(source, text.where, *text.bytes, true);
  return text;
}

std::vector<RsaText> read_rsa_texts(const std::string& path) {
  const std::string where =
      path == "-" ? "the recipients from standard input" : fmt::format("the recipients file '{}'", path);
  SecretBytes content(longest_recipients_file);
  read_key_file(path, where, content, true);
  std::vector<RsaText> texts;
  for (const auto& [line, text] : split_recipients(content.text())) {
    texts.push_back(text_of(fmt::format("{}, line {}", where, line), text));
  }
  if (texts.empty()) throw Failure(Exit::usage, fmt::format("{} holds no key", where));
  return texts;
}

Failure rsa_key_failure(stockade_status status, const std::string& where, const char* type) {
  // A damaged key is no damaged input.
  const Exit exit = exit_for(status) == Exit::corrupt ? Exit::usage : exit_for(status);
  switch (status) {
    case STOCKADE_ERROR_KEY_TYPE: {
      if (std::string_view(type) == "RSA-PSS") {
        return {exit, fmt::format("{} is an RSA-PSS key, which is restricted to PSS signatures; only plain RSA keys "
                                  "(rsaEncryption) are supported",
                                  where)};
      }
      if (std::string_view(type) == "RSA of more than two primes") {
        return {exit, fmt::format("{} is an RSA key of more than two primes; only keys of two are supported", where)};
      }
      std::vector<std::string> hints = {"the keys that are supported are RSA keys of 2048 to 16384 bits"};
      if (std::string_view(type) == "OpenSSH private key") {
        hints = {"make a PKCS#8 file of a copy of it: ssh-keygen -p -m PKCS8 -f COPY"};
      }
      return {exit, fmt::format("{}: unsupported key type: {}", where, *type == 0 ? "unknown" : type), hints};
    }
    case STOCKADE_ERROR_PASSPHRASE:
      return {exit, fmt::format("the passphrase does not open {}", where)};
    case STOCKADE_ERROR_PASSPHRASE_NEEDED:
      return {exit,
              fmt::format("{} is encrypted, and no passphrase is given", where),
              {"--passphrase-file FILE and --passphrase-fd N read it from elsewhere"}};
    case STOCKADE_ERROR_UNKNOWN_NAME:
    case STOCKADE_ERROR_UNAVAILABLE:
      return environment_failure(status);
    default:
      return {exit, fmt::format("{}: {}", where, stockade_status_text(status))};
  }
}

stockade_status KeyPassphrases::try_known(const SecretBytes& content, stockade_rsa_reading& reading,
                                          const Read& read) const {
  if (given_.size() > 0) {
    reading = with_passphrase(given_);
    return read(content.data(), content.size(), &reading);
  }
  for (const auto& passphrase : asked_) {
    reading = with_passphrase(*passphrase);
    const stockade_status status = read(content.data(), content.size(), &reading);
    if (status != STOCKADE_ERROR_PASSPHRASE) return status;
  }
  return STOCKADE_ERROR_PASSPHRASE_NEEDED;
}

void KeyPassphrases::read(const std::string& path, const Read& read) {
  const std::string where = key_file(path);
  SecretBytes content(longest_key_file);
  read_key_file(path, where, content, false);
  stockade_rsa_reading reading{};
  reading.struct_size = sizeof reading;
  stockade_status status = read(content.data(), content.size(), &reading);
  if (status == STOCKADE_ERROR_PASSPHRASE_NEEDED) status = try_known(content, reading, read);
  if (status == STOCKADE_ERROR_PASSPHRASE_NEEDED) {
    auto passphrase = std::make_unique<Passphrase>();
    if (ask_passphrase(fmt::format("passphrase of {}: ", where), no_input_, *passphrase)) {
      reading = with_passphrase(*passphrase);
      status = read(content.data(), content.size(), &reading);
      asked_.push_back(std::move(passphrase));
    }
  }
  if (status != STOCKADE_OK) throw rsa_key_failure(status, where, reading.type);
}

}  // namespace stockade::cmd
