#include "cross/handles.h"

#include <cstdlib>
#include <stdexcept>

namespace stockade::tests {

namespace {

void require_ok(stockade_status status, const std::string& what) {
  if (status != STOCKADE_OK) throw std::runtime_error(what + ": " + stockade_status_name(status));
}

}  // namespace

const char* mode_name(stockade_mode mode) {
  constexpr const char* names[] = {"ecb", "cbc", "cfb", "ofb", "ctr", "xts", "gcm"};
  return names[mode];
}

std::vector<uint32_t> key_sizes(stockade_mode mode) {
  if (mode == STOCKADE_XTS) return {128, 256};
  return {128, 192, 256};
}

uint64_t key_bytes(stockade_mode mode, uint32_t bits) { return mode == STOCKADE_XTS ? bits / 4 : bits / 8; }

uint64_t iv_bytes(stockade_mode mode) { return mode == STOCKADE_ECB ? 0 : mode == STOCKADE_GCM ? 12 : 16; }

uint64_t length_step(stockade_mode mode) { return mode == STOCKADE_ECB || mode == STOCKADE_CBC ? 16 : 1; }

uint64_t shortest(stockade_mode mode) { return mode == STOCKADE_XTS ? 16 : 0; }

uint64_t allowed_length(stockade_mode mode, uint64_t length) {
  const uint64_t step = length_step(mode);
  const uint64_t rounded = (length + step - 1) / step * step;
  return rounded < shortest(mode) ? shortest(mode) : rounded;
}

std::ostream& operator<<(std::ostream& stream, const Row& row) { return stream << row.force(); }

std::vector<Row> rows_for(stockade_mode mode) {
  const std::string primitive = mode == STOCKADE_GCM ? "gcm" : "aes";
  const bool forced = std::getenv("STOCKADE_FORCE") != nullptr;
  std::vector<Row> rows;
  stockade_row row;
  for (uint32_t index = 0; stockade_row_get(index, &row) == STOCKADE_OK; ++index) {
    if (row.primitive == primitive && (forced ? row.chosen : row.available)) rows.push_back({primitive, row.name});
  }
  if (rows.empty()) throw std::runtime_error("no row of " + primitive + " can be run");
  return rows;
}

Key make_key(stockade_mode mode, const Bytes& bytes, const std::string& force) {
  stockade_key* key = nullptr;
  require_ok(stockade_key_create(&key, mode, bytes.data(), bytes.size(), force.empty() ? nullptr : force.c_str()),
             std::string("key for ") + mode_name(mode) + " " + force);
  return Key(key);
}

Key make_key(stockade_mode mode, const Bytes& bytes, const Row& row) {
  Key key = make_key(mode, bytes, row.force());
  if (stockade_key_row(key.get()) != row.name) throw std::runtime_error("the key does not run on " + row.name);
  return key;
}

Engine make_engine(const char* name, uint32_t threads) {
  stockade_engine* engine = nullptr;
  require_ok(stockade_engine_create(&engine, name, threads), std::string("engine ") + (name ? name : "default"));
  return Engine(engine);
}

Stream make_stream(const stockade_key* key, stockade_direction direction, const Bytes& iv, stockade_padding padding,
                   const stockade_engine* engine) {
  stockade_stream* stream = nullptr;
  require_ok(stockade_stream_create(&stream, key, direction, iv.data(), iv.size(), padding, engine), "stream");
  return Stream(stream);
}

const std::vector<NamedEngine>& all_engines() {
  static const Engine serial = make_engine("serial", 0), two = make_engine("threads", 2),
                      three = make_engine("threads", 3), eight = make_engine("threads", 8);
  static const std::vector<NamedEngine> engines = {
      {"serial", serial.get()}, {"threads x2", two.get()}, {"threads x3", three.get()}, {"threads x8", eight.get()}};
  return engines;
}

stockade_status run(stockade_direction direction, const stockade_key* key, const Bytes& iv, const uint8_t* in,
                    uint64_t length, uint8_t* out, const stockade_engine* engine) {
  return direction == STOCKADE_ENCRYPT ? stockade_encrypt(key, iv.data(), iv.size(), in, length, out, engine)
                                       : stockade_decrypt(key, iv.data(), iv.size(), in, length, out, engine);
}

}  // namespace stockade::tests
