// stockade inspect: what a Stockade file says of itself without a key. None of it is authenticated.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "exit_status.h"
#include "file_failure.h"
#include "file_head.h"
#include "input_file.h"
#include "interrupt.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct InspectLine {
  std::optional<std::string> input;
  bool json = false;
};

struct Description {
  FileHead head;
  uint64_t file_bytes = 0;     // as it lies there, armor included
  uint64_t payload_bytes = 0;  // before armor
  std::optional<uint64_t> plaintext_bytes;
  uint64_t chunks = 0;
  // What the lengths cannot be; OK if they can.
  stockade_fault length_fault{};
};

// Bytes that a text in armor stands for, counted as it passes: lines of base64 between two lines that begin with a hyphen.
class ArmorLength {
 public:
  void pass(const uint8_t* bytes, size_t length) {
    for (size_t i = 0; i < length; ++i) {
      if (at_line_start_) in_boundary_ = bytes[i] == '-';
      at_line_start_ = bytes[i] == '\n';
      if (at_line_start_ || in_boundary_) continue;
      ++characters_;
      if (bytes[i] == '=') ++padding_;
    }
  }
  uint64_t bytes() const { return characters_ / 4 * 3 - std::min(padding_, characters_ / 4 * 3); }

 private:
  bool at_line_start_ = true, in_boundary_ = false;
  uint64_t characters_ = 0, padding_ = 0;
};

// What stands at the front of an input that has to be read through to learn its length.
class Passage {
 public:
  // False at the end, or once it is plain that this is no Stockade file.
  bool pass(const Input& input) {
    const ssize_t got = read(input.fd.get(), buffer_.data(), buffer_.size());
    if (got < 0 && errno == EINTR && !interrupt::requested()) return true;
    if (got < 0) throw io_failure(errno, input.name, "");
    const auto length = static_cast<size_t>(got);
    armor_.pass(buffer_.data(), length);
    bytes_ += length;
    if (head_.status != STOCKADE_ERROR_TRUNCATED) return length > 0;
    front_.insert(front_.end(), buffer_.data(), buffer_.data() + length);
    if (length == 0 || front_.size() >= next_look_) {
      head_ = parse_head(front_);
      next_look_ = 4 * front_.size();
    }
    return length > 0 && (head_.status == STOCKADE_OK || head_.status == STOCKADE_ERROR_TRUNCATED);
  }
  FileHead take_head() { return std::move(head_); }
  uint64_t bytes() const { return bytes_; }
  uint64_t decoded_bytes() const { return armor_.bytes(); }

 private:
  std::vector<uint8_t> buffer_ = std::vector<uint8_t>(1 << 18), front_;
  size_t next_look_ = 1;
  FileHead head_;
  ArmorLength armor_;
  uint64_t bytes_ = 0;
};

Description describe(const Input& input) {
  Description description;
  if (input.regular()) description.head = read_head(input);
  uint64_t decoded = input.length;
  description.file_bytes = input.length;
  if (!input.regular() || description.head.armored) {
    Passage passage;
    while (passage.pass(input)) continue;
    description.head = passage.take_head();
    description.file_bytes = passage.bytes();
    decoded = description.head.armored ? passage.decoded_bytes() : passage.bytes();
  }
  const FileHead& head = description.head;
  if (head.status != STOCKADE_OK) {
    throw file_failure(head.fault, 0, {STOCKADE_DECRYPT, input.name, "", nullptr, {}});
  }
  description.payload_bytes = decoded - std::min(decoded, head.length());
  uint64_t plaintext = 0;
  const auto status = stockade_plaintext_length(description.payload_bytes, &plaintext);
  description.length_fault = {status, UINT64_MAX, UINT64_MAX, 0, 0};
  if (status == STOCKADE_OK) {
    description.plaintext_bytes = plaintext;
    description.chunks = plaintext / STOCKADE_CHUNK_BYTES + 1;
  }
  return description;
}

std::string recipient_line(const Recipient& recipient) {
  if (recipient.kind == "rsa-oaep-sha256") return fmt::format("  {:<12}{}\n", "rsa", recipient.id);
  if (recipient.kind != "scrypt") return fmt::format("  {:<12}{}\n", recipient.kind, recipient.id);
  // N blocks of 128 * r bytes, r being 8.
  return fmt::format("  {:<12}work factor {}, {} of memory\n", "passphrase", recipient.work_factor,
                     ui::power_text(recipient.work_factor + 10));
}

std::string table(const Description& file) {
  const auto line = [](const char* name, const std::string& value) { return fmt::format("{:<14}{}\n", name, value); };
  const bool short_key = stockade_header_cipher(file.head.header.get()) == STOCKADE_COBBLESTONE_128;
  std::string out = line("version", "1");
  out += line("cipher", fmt::format("{}: AES-{}-GCM in chunks of {} bytes",
                                    cipher_name(stockade_header_cipher(file.head.header.get())), short_key ? 128 : 256,
                                    STOCKADE_CHUNK_BYTES));
  out += line("armor", file.head.armored ? "yes" : "no");
  const std::vector<Recipient> recipients = file.head.recipients();
  out += line("recipients", fmt::format("{}", recipients.size()));
  for (const Recipient& recipient : recipients) out += recipient_line(recipient);
  out += line("file", plural(file.file_bytes, "byte"));
  out += line("header", plural(file.head.length(), "byte"));
  out += line("payload", plural(file.payload_bytes, "byte"));
  if (!file.plaintext_bytes) return out;
  out += line("chunks", fmt::format("{}", file.chunks));
  out += line("plaintext", plural(*file.plaintext_bytes, "byte") + ", as the length says; not authenticated");
  const uint64_t overhead = file.file_bytes - std::min(file.file_bytes, *file.plaintext_bytes);
  out += line("overhead", plural(overhead, "byte"));
  return out;
}

nlohmann::ordered_json document(const Description& file, const std::string& name) {
  using nlohmann::ordered_json;
  ordered_json json;
  json["schema"] = "stockade-inspect/1";
  json["file"] = name;
  json["version"] = 1;
  json["cipher"] = cipher_name(stockade_header_cipher(file.head.header.get()));
  json["armored"] = file.head.armored;
  json["recipients"] = ordered_json::array();
  for (const Recipient& recipient : file.head.recipients()) {
    ordered_json entry = {{"kind", recipient.kind}};
    if (recipient.kind == "scrypt") {
      entry["work_factor"] = recipient.work_factor;
    } else {
      entry["id"] = recipient.id;
    }
    json["recipients"].push_back(entry);
  }
  json["file_bytes"] = file.file_bytes;
  json["header_bytes"] = file.head.length();
  json["payload_bytes"] = file.payload_bytes;
  json["chunk_bytes"] = STOCKADE_CHUNK_BYTES;
  const bool known = file.plaintext_bytes.has_value();
  json["chunks"] = known ? ordered_json(file.chunks) : ordered_json();
  json["plaintext_bytes"] = known ? ordered_json(*file.plaintext_bytes) : ordered_json();
  json["authenticated"] = false;
  return json;
}

void run_inspect(const InspectLine& line) {
  const std::string path = line.input.value_or("-");
  const Input input = open_input(path, false);
  const Description description = describe(input);
  ui::print(line.json ? ui::json_text(document(description, path)) : table(description));
  if (description.length_fault.status == STOCKADE_OK) return;
  throw Failure(Exit::corrupt, fmt::format("{}: {}: no payload has {}", input.name,
                                           stockade_status_text(description.length_fault.status),
                                           plural(description.payload_bytes, "byte")));
}

}  // namespace

void add_inspect(Command& root) {
  root.add("inspect", "[--json] [FILE]", "Shows what a Stockade file says of itself; no key is needed.")
      .when_named([](Command& command) {
        const auto line = std::make_shared<InspectLine>();
        command.operand("options", "FILE", line->input, "the file; - or nothing is standard input, read to its end");
        command.flag("options", "--json", line->json, "as JSON, with the schema's name in its first member");
        command.footer(fmt::format(R"(Only a key can tell whether any of it is true: 'stockade verify' does. A plaintext
length is what follows from the length of the file.

{})",
                                   exit_status_help));
        command.action([line] { run_inspect(*line); });
      });
}

}  // namespace stockade::cmd
