// Armor: a Stockade file as strict PEM (RFC 7468 section 3, strict textual encoding) with the label STOCKADE FILE. Lines of
// 64 columns that end in LF, the last one shorter or full, with '=' padding; nothing before or behind it. In pieces.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault.h"
#include "base/status.h"

namespace stockade::format {

inline constexpr std::string_view armor_begin = "-----BEGIN STOCKADE FILE-----\n";
inline constexpr std::string_view armor_end = "-----END STOCKADE FILE-----\n";
inline constexpr uint64_t armor_line_bytes = 48, armor_columns = 64;

// Throws std::bad_alloc.
class ArmorEncoder {
 public:
  // Appends to `out`. `finish` ends the text; nothing may follow.
  void update(std::span<const uint8_t> in, std::vector<uint8_t>& out);
  void finish(std::vector<uint8_t>& out);
  // The most that update() with `length` bytes, or finish() with 0, will append.
  static uint64_t bound(uint64_t length);

 private:
  bool begun_ = false;
  uint8_t held_[armor_line_bytes];  // the bytes of a line that is not full
  uint64_t held_length_ = 0;
};

class ArmorDecoder {
 public:
  // ARMOR, TRAILING_DATA (behind the end line), MEMORY; `fault` says in which line. On an error the lines before that one
  // are appended, and nothing more may be asked.
  Status update(std::span<const uint8_t> in, std::vector<uint8_t>& out, stockade_fault& fault);
  // TRUNCATED if the end line has not been seen.
  Status finish(stockade_fault& fault);

 private:
  Status decode(std::string_view text, std::vector<uint8_t>& out);
  Status check_start(std::string_view line) const;
  Status decode_line(std::string_view line, std::vector<uint8_t>& out);

  std::string line_;             // the beginning of a line whose end has not come
  uint64_t lines_ = 0;           // complete ones
  bool last_line_seen_ = false;  // a line that was shorter or padded: only the end line may follow
  bool ended_ = false;
};

}  // namespace stockade::format
