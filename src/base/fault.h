// Where something is wrong with a file: stockade_fault, and how the format's functions fill it in. What is given says what
// kind of place it is:
//   header   line and offset, of the beginning of the line (TRUNCATED: the offset is the end of the file)
//   armor    line alone, for offsets are those of the file without its armor (ARMOR without a line: the armor is fine, but
//            what was asked for is not possible with one)
//   payload  offset, and the chunk where it is about one
#pragma once

#include <cstdint>

#include "base/status.h"

namespace stockade {

inline constexpr uint64_t nowhere = UINT64_MAX;

inline stockade_fault make_fault(Status status) { return {status, nowhere, nowhere, 0, 0}; }
inline stockade_fault fault_in_chunk(Status status, uint64_t chunk, uint64_t offset) {
  return {status, chunk, offset, 0, 0};
}
inline stockade_fault fault_at(Status status, uint64_t offset) { return {status, nowhere, offset, 0, 0}; }
inline stockade_fault fault_in_line(Status status, uint64_t line, uint64_t offset) {
  return {status, nowhere, offset, line, 0};
}
inline stockade_fault fault_in_armor(Status status, uint64_t line) { return {status, nowhere, nowhere, line, 0}; }

}  // namespace stockade
