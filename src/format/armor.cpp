#include "format/armor.h"

#include <algorithm>
#include <cstring>

#include "base/without_throwing.h"
#include "format/base64.h"

namespace stockade::format {
namespace {

constexpr std::string_view without_line_end(std::string_view line) { return line.substr(0, line.size() - 1); }
constexpr std::string_view begin_line = without_line_end(armor_begin);
constexpr std::string_view end_line = without_line_end(armor_end);

uint8_t* append(std::vector<uint8_t>& out, uint64_t length) {
  out.resize(out.size() + length);
  return out.data() + out.size() - length;
}

void append_text(std::vector<uint8_t>& out, std::string_view text) {
  std::copy(text.begin(), text.end(), append(out, text.size()));
}

// `bytes` as whole lines, the last of which may be shorter.
void append_lines(std::vector<uint8_t>& out, std::span<const uint8_t> bytes) {
  const uint64_t length = bytes.size();
  const uint64_t lines = (length + armor_line_bytes - 1) / armor_line_bytes;
  uint8_t* to = append(out, (length + 2) / 3 * 4 + lines);
  while (!bytes.empty()) {
    const auto line = bytes.first(std::min(bytes.size(), armor_line_bytes));
    encode_base64(line, reinterpret_cast<char*>(to));
    to = std::fill_n(to + base64_length(line.size()), (3 - line.size() % 3) % 3, '=');
    *to++ = '\n';
    bytes = bytes.subspan(line.size());
  }
}

}  // namespace

void ArmorEncoder::update(std::span<const uint8_t> in, std::vector<uint8_t>& out) {
  if (!begun_) append_text(out, armor_begin);
  begun_ = true;
  if (held_length_ != 0) {
    const uint64_t taken = std::min(in.size(), armor_line_bytes - held_length_);
    std::copy_n(in.data(), taken, held_ + held_length_);
    held_length_ += taken;
    in = in.subspan(taken);
    if (held_length_ < armor_line_bytes) return;
    append_lines(out, held_);
  }
  held_length_ = in.size() % armor_line_bytes;
  append_lines(out, in.first(in.size() - held_length_));
  std::copy_n(in.end() - held_length_, held_length_, held_);
}

void ArmorEncoder::finish(std::vector<uint8_t>& out) {
  if (!begun_) append_text(out, armor_begin);
  append_lines(out, {held_, held_length_});
  append_text(out, armor_end);
}

uint64_t ArmorEncoder::bound(uint64_t length) {
  if (length == 0) return armor_begin.size() + armor_columns + 1 + armor_end.size();
  // As many lines as with all but one byte of a line held back from before.
  return armor_begin.size() + (length + armor_line_bytes - 1) / armor_line_bytes * (armor_columns + 1);
}

Status ArmorDecoder::update(std::span<const uint8_t> in, std::vector<uint8_t>& out, stockade_fault& fault) {
  const Status status = without_throwing([&] {
    return decode({reinterpret_cast<const char*>(in.data()), in.size()}, out);
  });
  if (status == STOCKADE_OK) return status;
  fault = status == STOCKADE_ERROR_MEMORY ? make_fault(status) : fault_in_armor(status, lines_ + 1);
  return status;
}

Status ArmorDecoder::decode(std::string_view text, std::vector<uint8_t>& out) {
  while (!text.empty()) {
    if (ended_) return STOCKADE_ERROR_TRAILING_DATA;
    const size_t end = text.find('\n');
    const std::string_view piece = text.substr(0, end);
    std::string_view line = piece;
    if (!line_.empty() || end == std::string_view::npos) {
      // Refused before it is kept, so that no line is kept that is longer than any can be.
      if (line_.size() + piece.size() > armor_columns) return STOCKADE_ERROR_ARMOR;
      line = line_.append(piece);
    }
    if (end == std::string_view::npos) return check_start(line);
    const size_t before = out.size();
    if (const Status status = decode_line(line, out); status != STOCKADE_OK) {
      out.resize(before);
      return status;
    }
    line_.clear();
    ++lines_;
    text.remove_prefix(end + 1);
  }
  return STOCKADE_OK;
}

// Whether a line may begin like this.
Status ArmorDecoder::check_start(std::string_view line) const {
  if (lines_ == 0) return begin_line.starts_with(line) ? STOCKADE_OK : STOCKADE_ERROR_ARMOR;
  if (lines_ == 1 && line.starts_with('-')) return STOCKADE_ERROR_ARMOR;
  if (last_line_seen_ || line.starts_with('-')) return end_line.starts_with(line) ? STOCKADE_OK : STOCKADE_ERROR_ARMOR;
  return STOCKADE_OK;
}

Status ArmorDecoder::decode_line(std::string_view line, std::vector<uint8_t>& out) {
  if (lines_ == 0) return line == begin_line ? STOCKADE_OK : STOCKADE_ERROR_ARMOR;
  if (line == end_line) {
    // Around nothing there is no armor.
    if (lines_ == 1) return STOCKADE_ERROR_ARMOR;
    ended_ = true;
    return STOCKADE_OK;
  }
  if (last_line_seen_ || line.empty() || line.size() > armor_columns || line.size() % 4 != 0)
    return STOCKADE_ERROR_ARMOR;
  const size_t padding = line.ends_with("==") ? 2 : line.ends_with('=') ? 1 : 0;
  last_line_seen_ = padding != 0 || line.size() < armor_columns;
  return decode_base64(line.substr(0, line.size() - padding), out) ? STOCKADE_OK : STOCKADE_ERROR_ARMOR;
}

Status ArmorDecoder::finish(stockade_fault& fault) {
  if (ended_) return STOCKADE_OK;
  fault = fault_in_armor(STOCKADE_ERROR_TRUNCATED, lines_ + 1);
  return STOCKADE_ERROR_TRUNCATED;
}

}  // namespace stockade::format
