#include "base/fault.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace stockade::format {
namespace {

struct Buffer {
  char* text;
  uint64_t size;
};

// Writes one sentence, as snprintf.
[[gnu::format(printf, 2, 3)]] uint64_t say(const Buffer& to, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(to.text, to.size, format, values);
  va_end(values);
  return length < 0 ? 0 : static_cast<uint64_t>(length);
}

uint64_t describe_truncation(const stockade_fault& fault, const Buffer& to) {
  if (fault.line != 0 && fault.offset != nowhere) return say(to, "the file is truncated: it ends inside the header");
  if (fault.line != 0)
    return say(to, "the file is truncated: its armor ends in line %" PRIu64 ", without an end line", fault.line);
  if (fault.chunk != nowhere && fault.offset != nowhere) {
    return say(to,
               "the file is truncated: it ends with chunk %" PRIu64 ", which begins at offset %" PRIu64
               " and is not complete",
               fault.chunk, fault.offset);
  }
  if (fault.offset != nowhere)
    return say(to, "the file is truncated: it ends too early, at offset %" PRIu64, fault.offset);
  return say(to, "the file is truncated: it ends too early");
}

uint64_t describe_chunk(const stockade_fault& fault, const Buffer& to) {
  if (fault.chunk == nowhere) return say(to, "a chunk is damaged");
  if (fault.offset == nowhere) return say(to, "chunk %" PRIu64 " is damaged", fault.chunk);
  // Where a file was cut inside its last chunk, nothing can tell this from damage.
  const char* const verdict = fault.value == 0 ? "is damaged" : "is the last one, and damaged or cut short";
  return say(to, "chunk %" PRIu64 " at offset %" PRIu64 " %s", fault.chunk, fault.offset, verdict);
}

uint64_t describe_trailing_data(const stockade_fault& fault, const Buffer& to) {
  if (fault.line != 0) return say(to, "data after the end of the armor, from line %" PRIu64, fault.line);
  if (fault.offset != nowhere) return say(to, "data after the last chunk, from offset %" PRIu64, fault.offset);
  return say(to, "data after the end of the file");
}

uint64_t describe_header_line(const stockade_fault& fault, const Buffer& to) {
  if (fault.line == 0) return say(to, "the header is malformed");
  return say(to, "line %" PRIu64 " of the header is malformed", fault.line);
}

uint64_t describe_company(const stockade_fault& fault, const Buffer& to) {
  if (fault.line == 0) return say(to, "a passphrase cannot stand beside another recipient");
  return say(to, "line %" PRIu64 " of the header puts a passphrase beside another recipient", fault.line);
}

uint64_t describe_armor(const stockade_fault& fault, const Buffer& to) {
  if (fault.line == 0) return say(to, "an armored file can be read from front to back only");
  return say(to, "line %" PRIu64 " of the armor is malformed", fault.line);
}

}  // namespace

uint64_t describe(const stockade_fault& fault, char* text, uint64_t size) {
  const Buffer to{text, size};
  // A caller in C may have put any number here, and an enum may not hold any number here.
  int status;
  static_assert(sizeof status == sizeof fault.status);
  std::memcpy(&status, &fault.status, sizeof status);
  switch (status) {
    case STOCKADE_ERROR_MAGIC:
      return say(to, "this is not a Stockade file");
    case STOCKADE_ERROR_VERSION:
      return say(to, "this is a Stockade file of a version that is not known here; only version 1 is");
    case STOCKADE_ERROR_CIPHER:
      return say(to, "the header names a cipher that is not known here");
    case STOCKADE_ERROR_HEADER_TOO_LONG:
      return say(to, "the header is longer than 1 MiB or has more than 1024 stanzas");
    case STOCKADE_ERROR_HEADER:
      return describe_header_line(fault, to);
    case STOCKADE_ERROR_SCRYPT_NOT_ALONE:
      return describe_company(fault, to);
    case STOCKADE_ERROR_WORK_FACTOR:
      return say(to, "work factor %" PRIu64 " is above the limit", fault.value);
    case STOCKADE_ERROR_NO_IDENTITY:
      return say(to, "none of the keys given opens this file");
    case STOCKADE_ERROR_PASSPHRASE:
      return say(to, "the passphrase does not open this file");
    case STOCKADE_ERROR_HEADER_MAC:
      return say(to, "the header was changed after it was made");
    case STOCKADE_ERROR_COMMITMENT:
      return say(to, "the payload was made with another key, or its beginning is damaged");
    case STOCKADE_ERROR_TRUNCATED:
      return describe_truncation(fault, to);
    case STOCKADE_ERROR_CHUNK:
      return describe_chunk(fault, to);
    case STOCKADE_ERROR_TRAILING_DATA:
      return describe_trailing_data(fault, to);
    case STOCKADE_ERROR_TOO_MANY_CHUNKS:
      return say(to, "the payload has more than 2^38 chunks");
    case STOCKADE_ERROR_ARMOR:
      return describe_armor(fault, to);
    case STOCKADE_ERROR_RANDOM:
      return say(to, "the operating system gives no random bytes");
    case STOCKADE_ERROR_JOURNAL:
      return say(to, "the journal is damaged, or belongs to another job");
    case STOCKADE_ERROR_LIBRARY:
      return say(to, "libcrypto refuses a function that Stockade files need: HMAC, SHA-2 or scrypt");
    default:
      // Listed ones have their sentence; others are none of the enumerators, and are not passed on as if they were.
      return say(
          to, "%s",
          status >= 0 && status <= STOCKADE_ERROR_INCOMPLETE ? stockade_status_text(fault.status) : "unknown status");
  }
}

}  // namespace stockade::format
