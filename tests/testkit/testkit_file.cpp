#include "testkit_file.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace stockade::testkit {
namespace {

// The largest there is holds 1 MiB of header.
constexpr std::size_t largest_inflated = std::size_t{4} << 20;

std::optional<std::string> from_hex(std::string_view text) {
  std::string out;
  for (; text.size() >= 2; text.remove_prefix(2)) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + 2, byte, 16);
    if (error != std::errc() || end != text.data() + 2) return std::nullopt;
    out.push_back(static_cast<char>(byte));
  }
  return text.empty() ? std::optional(out) : std::nullopt;
}

std::optional<std::string> inflated(const std::string& data) {
  std::string out(largest_inflated, '\0');
  uLongf length = out.size();
  if (uncompress(reinterpret_cast<Bytef*>(out.data()), &length, reinterpret_cast<const Bytef*>(data.data()),
                 data.size()) != Z_OK) {
    return std::nullopt;
  }
  out.resize(length);
  return out;
}

stockade_status add(stockade_keyring* ring, const std::string& name, const std::string& value,
                    ReadIdentity read_identity) {
  if (name == "key") {
    const auto key = from_hex(value);
    return key ? stockade_keyring_add_key(ring, key->data(), key->size()) : STOCKADE_ERROR_KEY_LENGTH;
  }
  if (name == "passphrase") return stockade_keyring_add_passphrase(ring, value.data(), value.size(), 0);
  if (name != "identity") return STOCKADE_OK;
  const auto pem = read_identity(value);
  return pem ? stockade_keyring_add_rsa_private(ring, pem->data(), pem->size(), nullptr, nullptr)
             : STOCKADE_ERROR_KEY_FILE;
}

}  // namespace

std::string Case::value(const std::string& name) const {
  const auto found = head.find(name);
  return found == head.end() ? "" : found->second;
}

std::optional<Case> parse_case(std::string_view text, std::string& error) {
  Case item;
  while (true) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      error = "no empty line behind the head";
      return std::nullopt;
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) break;
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) {
      error = "not 'name: value': " + std::string(line);
      return std::nullopt;
    }
    item.head.emplace(line.substr(0, colon), line.substr(colon + 2));
  }
  item.data = text;
  if (const std::string how = item.value("compressed"); !how.empty()) {
    const auto data = how == "zlib" ? inflated(item.data) : std::nullopt;
    if (!data) {
      error = "cannot be inflated: " + how;
      return std::nullopt;
    }
    item.data = *data;
  }
  return item;
}

Keyring make_keyring(const Case& item, ReadIdentity read_identity, std::string& error) {
  stockade_keyring* made = nullptr;
  stockade_status status = stockade_keyring_create(&made);
  Keyring ring(made, &stockade_keyring_free);
  for (const auto& [name, value] : item.head) {
    if (status == STOCKADE_OK) status = add(made, name, value, read_identity);
    if (status == STOCKADE_OK) continue;
    error = name + ": " + stockade_status_name(status);
    return {nullptr, &stockade_keyring_free};
  }
  return ring;
}

stockade_format make_format(const Case& item, const stockade_keyring* ring) {
  stockade_format format{};
  format.struct_size = sizeof format;
  format.keyring = ring;
  const std::string limit = item.value("max-work-factor");
  std::from_chars(limit.data(), limit.data() + limit.size(), format.max_work_factor);
  return format;
}

Outcome push(const Case& item, const stockade_format& format, std::size_t piece) {
  stockade_file* file = nullptr;
  Outcome out{stockade_file_create(&file, STOCKADE_DECRYPT, &format, nullptr), ""};
  std::string buffer;
  for (std::size_t at = 0; out.status == STOCKADE_OK && at <= item.data.size(); at += piece) {
    const std::size_t length = std::min(piece, item.data.size() - at);
    const bool last = at + piece > item.data.size();
    std::uint64_t written = 0;
    if (length != 0) {
      buffer.resize(stockade_file_bound(file, length));
      out.status = stockade_file_update(file, item.data.data() + at, length, buffer.data(), buffer.size(), &written);
      out.plaintext.append(buffer, 0, written);
    }
    if (out.status == STOCKADE_OK && last) {
      buffer.resize(stockade_file_bound(file, 0));
      out.status = stockade_file_final(file, buffer.data(), buffer.size(), &written);
      out.plaintext.append(buffer, 0, written);
    }
  }
  stockade_file_free(file);
  return out;
}

}  // namespace stockade::testkit
