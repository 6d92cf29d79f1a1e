#include "file_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "exit_status.h"
#include "values.h"

namespace stockade::cmd {
namespace {

Recipient recipient_of(const stockade_stanza& stanza) {
  Recipient recipient{.kind = stanza.kind, .id = {}};
  const std::string_view arguments = stanza.arguments;
  const size_t space = arguments.find(' ');
  if (recipient.kind == "scrypt") {
    const std::string_view factor = space == std::string_view::npos ? std::string_view() : arguments.substr(space + 1);
    std::from_chars(factor.data(), factor.data() + factor.size(), recipient.work_factor);
  } else {
    recipient.id = arguments.substr(0, space);
  }
  return recipient;
}

}  // namespace

std::string Recipient::text() const {
  if (kind == "scrypt") return "a passphrase";
  if (kind == "rsa-oaep-sha256") return "RSA key " + id;
  return id.empty() ? kind : kind + " " + id;
}

std::vector<Recipient> FileHead::recipients() const {
  std::vector<Recipient> recipients;
  stockade_stanza stanza{};
  for (uint32_t i = 0; header && stockade_header_stanza(header.get(), i, &stanza) == STOCKADE_OK; ++i) {
    if (std::string_view(stanza.kind) != "pad") recipients.push_back(recipient_of(stanza));
  }
  return recipients;
}

bool FileHead::has_passphrase() const {
  const auto all = recipients();
  return std::any_of(all.begin(), all.end(), [](const Recipient& recipient) { return recipient.kind == "scrypt"; });
}

std::vector<std::string> recipient_texts(const FileHead& head) {
  std::vector<std::string> texts;
  for (const Recipient& recipient : head.recipients()) texts.push_back(recipient.text());
  return texts;
}

FileHead parse_head(std::span<const uint8_t> bytes) {
  FileHead head;
  head.armored = !bytes.empty() && bytes[0] == '-';
  std::vector<uint8_t> decoded;
  if (head.armored) {
    decoded.resize(bytes.size());
    uint64_t length = 0;
    head.status =
        stockade_armor_decode(bytes.data(), bytes.size(), 0, decoded.data(), decoded.size(), &length, &head.fault);
    head.fault.status = head.status;
    if (head.status != STOCKADE_OK) return head;
    bytes = {decoded.data(), length};
  }
  stockade_header* header = nullptr;
  head.status = stockade_header_parse(&header, bytes.data(), bytes.size(), &head.fault);
  head.fault.status = head.status;
  if (head.status == STOCKADE_OK) head.header.reset(header);
  return head;
}

FileHead read_head(const Input& input) {
  Preview preview(input);
  FileHead head;
  while (head.status == STOCKADE_ERROR_TRUNCATED && preview.look_further()) head = parse_head(preview.bytes());
  return head;
}

const char* cipher_name(stockade_cipher cipher) {
  return cipher == STOCKADE_COBBLESTONE_128 ? "cobblestone-128" : "cobblestone-256";
}

stockade_cipher parse_file_cipher(const std::optional<std::string>& text) {
  if (!text || *text == cipher_name(STOCKADE_COBBLESTONE_256)) return STOCKADE_COBBLESTONE_256;
  if (*text == cipher_name(STOCKADE_COBBLESTONE_128)) return STOCKADE_COBBLESTONE_128;
  const std::vector<std::string> names = {cipher_name(STOCKADE_COBBLESTONE_256), cipher_name(STOCKADE_COBBLESTONE_128)};
  std::vector<std::string> hints = did_you_mean(*text, names);
  hints.push_back("the ciphers are " + listed(names));
  throw Failure(Exit::usage, fmt::format("unknown cipher '{}'", *text), hints);
}

}  // namespace stockade::cmd
