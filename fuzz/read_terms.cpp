// Any bytes as the terms of a shared job, which one process hands to another, and as their record in a plan file: what is
// accepted leads to slices that cover the length and to no overflow, and is read back as it is written.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cipher/transform.h"
#include "slices/terms.h"

namespace {

using namespace stockade;
using namespace stockade::format;
using namespace stockade::slices;

constexpr uint64_t all = STOCKADE_SHARED_TERMS_BYTES;

void require(bool condition) {
  if (!condition) std::abort();
}

void expect_sound(const Terms& terms) {
  const uint64_t slices = terms.slices(), whole = terms.slice_bytes();
  require(slices >= 1 && slices <= max_slices && whole != 0);
  // The last one has what would be too little for one more.
  const uint64_t last = terms.bytes_in(slices - 1);
  require(last <= whole + cipher::segment_reserve && (slices - 1) * whole + last == terms.length);
  require((slices == 1 || last > 0) && (slices == 1 || terms.bytes_in(0) == whole));
  require(terms.plain_length() <= terms.length && terms.file_length() >= terms.length);
  require(terms.beginning_length() <= max_header_bytes + stockade::chunked::preamble_bytes);
}

// As they come out again, for any number of processes.
void expect_same_again(const Terms& terms, uint32_t processes) {
  uint8_t written[all], again[all];
  write_terms(terms, written);
  Terms read{};
  require(read_terms(written, read) == STOCKADE_OK);
  write_terms(read, again);
  require(std::memcmp(written, again, all) == 0);
  require(choose_slices(0, processes, read) == STOCKADE_OK);
  expect_sound(read);
  write_terms(read, written);
  require(read_terms(written, read) == STOCKADE_OK);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint8_t bytes[all] = {};
  std::copy_n(data, std::min<size_t>(size, all), bytes);
  const uint32_t processes = size == 0 ? 0 : data[size - 1] * 257U;
  Terms terms{};
  const Status status = read_terms(bytes, terms);
  require(status == STOCKADE_OK || status == STOCKADE_ERROR_MISMATCH);
  // What stands in front, a name and this version, is no riddle: the same with it.
  uint8_t beginning[all];
  write_terms(Terms{}, beginning);
  constexpr uint64_t beginning_bytes = 24 + 3 * 8;
  std::memcpy(bytes, beginning, beginning_bytes);
  if (read_terms(bytes, terms) == STOCKADE_OK) {
    expect_sound(terms);
    expect_same_again(terms, processes);
  }
  Terms of_record{};
  if (size >= terms_record_bytes && read_record(data, of_record)) {
    expect_sound(of_record);
    uint8_t record[terms_record_bytes];
    write_record(of_record, record);
    require(std::memcmp(record, data, terms_record_bytes) == 0);
  }
  return 0;
}
