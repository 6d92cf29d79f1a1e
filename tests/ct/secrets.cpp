#include "ct/secrets.h"

#include <valgrind/memcheck.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace stockade::ct {

void make_secret(const void* data, size_t bytes) { VALGRIND_MAKE_MEM_UNDEFINED(data, bytes); }
void make_public(const void* data, size_t bytes) { VALGRIND_MAKE_MEM_DEFINED(data, bytes); }

void make_secret_but(uint64_t& word, uint64_t known) {
  uint64_t undefined = ~known;
  VALGRIND_SET_VBITS(&word, &undefined, sizeof word);
}

bool is_secret(const void* data, size_t bytes) {
  std::vector<uint8_t> undefined(bytes);
  demand(VALGRIND_GET_VBITS(data, undefined.data(), bytes) == 1, "memory that memcheck can be asked about");
  return std::any_of(undefined.begin(), undefined.end(), [](uint8_t bits) { return bits != 0; });
}

uint64_t complaints() { return VALGRIND_COUNT_ERRORS; }

Status SecretSource::fill(uint8_t* out, uint64_t length) {
  const Status status = system_random().fill(out, length);
  make_secret(out, length);
  return status;
}

void demand(bool condition, std::string_view what) {
  if (condition) return;
  std::printf("ct: error: no %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(EXIT_FAILURE);
}

}  // namespace stockade::ct
