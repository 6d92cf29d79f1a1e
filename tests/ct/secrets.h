// Secrets as valgrind's memcheck sees them: memory that is marked undefined. What is computed from it is undefined too,
// and memcheck complains of a branch or an address that depends on such a value, which is what constant-time code must
// not have. It does not see instructions whose duration depends on their operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/random.h"

namespace stockade::ct {

void make_secret(const void* data, size_t bytes);
// The opposite. Outside declassified.cpp only for what the code under test gave to its caller.
void make_public(const void* data, size_t bytes);
// All bits but those that are set in `known`.
void make_secret_but(uint64_t& word, uint64_t known);

template <typename T>
void make_secret(const T& value) {
  make_secret(&value, sizeof value);
}
template <typename T>
void make_public(const T& value) {
  make_public(&value, sizeof value);
}

// Whether any bit depends on a secret. A case whose result does not has tested nothing.
bool is_secret(const void* data, size_t bytes);

// Complaints of memcheck so far.
uint64_t complaints();

// Random bytes that are secrets.
class SecretSource final : public RandomSource {
 public:
  Status fill(uint8_t* out, uint64_t length) override;
};

// Ends the program where a condition of the test itself does not hold.
void demand(bool condition, std::string_view what);

struct Case {
  const char* name;
  void (*run)();
};
std::span<const Case> bignum_cases();
std::span<const Case> rsa_cases();
std::span<const Case> aes_cases();
// Functions that are not constant-time, each on purpose.
std::span<const Case> leaks();

}  // namespace stockade::ct
