// The C interface's handles with an owner, and the implementation rows that a test goes through.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "stockade/stockade.h"

namespace stockade::tests {

using Bytes = std::vector<uint8_t>;

struct KeyDeleter {
  void operator()(stockade_key* key) const { stockade_key_free(key); }
};
struct EngineDeleter {
  void operator()(stockade_engine* engine) const { stockade_engine_free(engine); }
};
struct StreamDeleter {
  void operator()(stockade_stream* stream) const { stockade_stream_free(stream); }
};
using Key = std::unique_ptr<stockade_key, KeyDeleter>;
using Engine = std::unique_ptr<stockade_engine, EngineDeleter>;
using Stream = std::unique_ptr<stockade_stream, StreamDeleter>;

inline constexpr stockade_mode all_modes[] = {STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_OFB,
                                              STOCKADE_CTR, STOCKADE_XTS, STOCKADE_GCM};
inline constexpr stockade_direction both_directions[] = {STOCKADE_ENCRYPT, STOCKADE_DECRYPT};

const char* mode_name(stockade_mode mode);
// The cipher key sizes that the mode takes, in bits.
std::vector<uint32_t> key_sizes(stockade_mode mode);
// Bytes of key material for a cipher of `bits`: twice as many for XTS.
uint64_t key_bytes(stockade_mode mode, uint32_t bits);
uint64_t iv_bytes(stockade_mode mode);
// What a message's length must be a multiple of, and its least.
uint64_t length_step(stockade_mode mode);
uint64_t shortest(stockade_mode mode);
// The nearest length up from `length` that the mode allows.
uint64_t allowed_length(stockade_mode mode, uint64_t length);

// An implementation row that this machine can run.
struct Row {
  std::string primitive, name;
  // For stockade_key_create, such as "aes:vaes256".
  std::string force() const { return primitive + ":" + name; }
  // The bytewise row is slower than the others by orders of magnitude: tests give it fewer bytes.
  bool slow() const { return name == "reference"; }
  // So is the row that works on many blocks at once, where each block needs the one before it.
  bool slow_in(stockade_mode mode) const {
    return slow() || (name == "portable" && (mode == STOCKADE_CBC || mode == STOCKADE_CFB || mode == STOCKADE_OFB));
  }
};
inline bool operator==(const Row& a, const Row& b) { return a.primitive == b.primitive && a.name == b.name; }
std::ostream& operator<<(std::ostream& stream, const Row& row);

// The rows that run `mode`: under STOCKADE_FORCE the one that it leads to, else every available one.
std::vector<Row> rows_for(stockade_mode mode);

// Throws std::runtime_error with the status's name if the handle cannot be made.
Key make_key(stockade_mode mode, const Bytes& bytes, const std::string& force = "");
Key make_key(stockade_mode mode, const Bytes& bytes, const Row& row);
Engine make_engine(const char* name, uint32_t threads);
Stream make_stream(const stockade_key* key, stockade_direction direction, const Bytes& iv,
                   stockade_padding padding = STOCKADE_PADDING_NONE, const stockade_engine* engine = nullptr);

// Serial, and threads with 2, 3 and 8 workers; made once.
struct NamedEngine {
  std::string name;
  const stockade_engine* engine;
};
const std::vector<NamedEngine>& all_engines();

// An enum argument that is none of its enumerators, as a C caller can pass it. (The preset asan compiles the tests without
// UBSan's check of enums, which would end here.)
template <typename Enum>
Enum out_of_range(int32_t value) {
  static_assert(sizeof(Enum) == sizeof value);
  Enum result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

// stockade_encrypt or stockade_decrypt.
stockade_status run(stockade_direction direction, const stockade_key* key, const Bytes& iv, const uint8_t* in,
                    uint64_t length, uint8_t* out, const stockade_engine* engine);

}  // namespace stockade::tests
