#include "vectors/vector_file.h"

#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace stockade::tests {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool parse_hex(std::string_view text, Bytes& bytes) {
  if (text.size() % 2 != 0) return false;
  bytes.clear();
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = digit_value(text[i]);
    const int low = digit_value(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return true;
}

const std::map<std::string_view, stockade_mode> mode_names = {
    {"ecb", STOCKADE_ECB}, {"cbc", STOCKADE_CBC}, {"cfb", STOCKADE_CFB}, {"ofb", STOCKADE_OFB},
    {"ctr", STOCKADE_CTR}, {"xts", STOCKADE_XTS}, {"gcm", STOCKADE_GCM},
};
const std::map<std::string_view, Procedure> procedure_names = {
    {"monte_carlo_encrypt", Procedure::monte_carlo_encrypt},
    {"monte_carlo_decrypt", Procedure::monte_carlo_decrypt},
};
const std::map<std::string_view, stockade_status> result_names = {
    {"ok", STOCKADE_OK},
    {"authentication", STOCKADE_ERROR_AUTHENTICATION},
    {"padding", STOCKADE_ERROR_PADDING},
    {"weak_key", STOCKADE_ERROR_WEAK_KEY},
};
const std::map<std::string_view, Bytes Vector::*> byte_fields = {
    {"key", &Vector::key},
    {"iv", &Vector::iv},
    {"aad", &Vector::aad},
    {"plaintext", &Vector::plaintext},
    {"ciphertext", &Vector::ciphertext},
    {"tag", &Vector::tag},
    {"first_round_key", &Vector::first_round_key},
    {"last_round_key", &Vector::last_round_key},
};

struct Field {
  int line;
  std::string_view value;
};
using Record = std::map<std::string_view, Field>;

std::string at_line(int line, std::string_view what, std::string_view detail) {
  return "line " + std::to_string(line) + ": " + std::string(what) + " '" + std::string(detail) + "'";
}

// The names of the fields that the record's kind demands; every other field but the optional ones is refused.
std::set<std::string_view> required_fields(const Vector& vector) {
  if (vector.kind == VectorMode::key_expansion) return {"name", "mode", "key", "first_round_key", "last_round_key"};
  std::set<std::string_view> names = {"name", "mode", "key", "ciphertext"};
  if (vector.mode != STOCKADE_ECB) names.insert("iv");
  if (vector.mode == STOCKADE_GCM) names.insert({"aad", "tag"});
  if (vector.result == STOCKADE_OK || vector.result == STOCKADE_ERROR_WEAK_KEY) names.insert("plaintext");
  return names;
}

std::string set_field(Vector& vector, std::string_view name, const Field& field) {
  if (name == "name") {
    vector.name = field.value;
    return field.value.empty() ? at_line(field.line, "empty", name) : "";
  }
  if (const auto bytes = byte_fields.find(name); bytes != byte_fields.end()) {
    return parse_hex(field.value, vector.*(bytes->second)) ? "" : at_line(field.line, "not hexadecimal bytes in", name);
  }
  if (name == "padding" && field.value == "pkcs7") {
    vector.padded = true;
    return "";
  }
  if (name == "mode") {
    if (field.value == "key_expansion") {
      vector.kind = VectorMode::key_expansion;
      return "";
    }
    if (const auto mode = mode_names.find(field.value); mode != mode_names.end()) {
      vector.mode = mode->second;
      return "";
    }
  }
  if (const auto found = procedure_names.find(field.value); name == "procedure" && found != procedure_names.end()) {
    vector.procedure = found->second;
    return "";
  }
  if (const auto found = result_names.find(field.value); name == "result" && found != result_names.end()) {
    vector.result = found->second;
    return "";
  }
  const bool known = name == "padding" || name == "mode" || name == "procedure" || name == "result";
  return known ? at_line(field.line, "unknown value", field.value) : at_line(field.line, "unknown field", name);
}

std::string make_vector(const Record& record, int line, Vector& vector) {
  vector.line = line;
  for (const auto& [name, field] : record) {
    if (std::string error = set_field(vector, name, field); !error.empty()) return error;
  }
  std::set<std::string_view> allowed = required_fields(vector);
  for (const std::string_view name : allowed) {
    if (!record.contains(name)) return at_line(line, "record without", name);
  }
  if (vector.kind == VectorMode::cipher) allowed.insert({"padding", "procedure", "result"});
  for (const auto& [name, field] : record) {
    if (!allowed.contains(name)) return at_line(field.line, "field that this record cannot have:", name);
  }
  return "";
}

}  // namespace

std::optional<VectorFile> parse_vectors(std::string_view text, std::string& error) {
  VectorFile file;
  Record record;
  int line = 0, record_line = 0;
  error.clear();
  const auto end_record = [&] {
    if (record.empty()) return true;
    Vector vector;
    error = make_vector(record, record_line, vector);
    record.clear();
    file.vectors.push_back(std::move(vector));
    return error.empty();
  };
  while (!text.empty() && error.empty()) {
    ++line;
    const size_t end = text.find('\n');
    const std::string_view content = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (content.starts_with('#')) continue;
    if (content.empty()) {
      end_record();
      continue;
    }
    const size_t equals = content.find('=');
    if (equals == std::string_view::npos) {
      error = at_line(line, "no 'field = value':", content);
      break;
    }
    const std::string_view name = trimmed(content.substr(0, equals));
    const std::string_view value = trimmed(content.substr(equals + 1));
    if (name == "source" && file.source.empty() && file.vectors.empty() && record.empty()) {
      file.source = value;
      continue;
    }
    if (record.empty()) record_line = line;
    if (!record.emplace(name, Field{line, value}).second) error = at_line(line, "given twice:", name);
  }
  if (error.empty()) end_record();
  if (error.empty() && file.source.empty()) error = "no source named before the first record";
  if (error.empty() && file.vectors.empty()) error = "no record";
  if (!error.empty()) return std::nullopt;
  return file;
}

std::optional<VectorFile> load_vectors(const std::filesystem::path& path, std::string& error) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    error = "cannot open " + path.string();
    return std::nullopt;
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  auto file = parse_vectors(text, error);
  if (!file) error = path.string() + ": " + error;
  return file;
}

}  // namespace stockade::tests
