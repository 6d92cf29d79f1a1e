// Says what the library does in this process and environment, one line "name = value" for each fact. Arguments are
// further values of `force` for which a key is made.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "stockade/stockade.h"

namespace {

// FNV-1a: enough to see that two outputs are the same.
uint64_t checksum(const std::vector<uint8_t>& bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) sum = (sum ^ byte) * 0x100000001b3;
  return sum;
}

void say(const std::string& name, const std::string& value) { std::printf("%s = %s\n", name.c_str(), value.c_str()); }

constexpr uint8_t key_bytes[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr uint8_t iv[16] = {0xff, 0xfe};

// The status of a new key, and its row.
stockade_key* describe_key(const std::string& name, stockade_mode mode, const char* force) {
  stockade_key* key = nullptr;
  const stockade_status status = stockade_key_create(&key, mode, key_bytes, 32, force);
  say(name, stockade_status_name(status));
  if (key != nullptr) say(name + " row", stockade_key_row(key));
  return key;
}

void describe_plan(const stockade_key* key, uint64_t length) {
  char text[256] = "";
  const stockade_status status = stockade_explain(key, STOCKADE_ENCRYPT, length, nullptr, text, sizeof text);
  say("explain " + std::to_string(length), status == STOCKADE_OK ? text : stockade_status_name(status));
}

void describe_output(const stockade_key* key) {
  std::vector<uint8_t> buffer(1000003);
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<uint8_t>(i * i >> 3);
  uint8_t tag[16] = {};
  stockade_status status;
  if (stockade_key_mode(key) == STOCKADE_GCM) {
    status = stockade_seal(key, iv, 12, nullptr, 0, buffer.data(), buffer.size(), buffer.data(), tag, 16, nullptr);
    buffer.insert(buffer.end(), tag, tag + 16);
  } else {
    status = stockade_encrypt(key, iv, 16, buffer.data(), buffer.size(), buffer.data(), nullptr);
  }
  const char* name = stockade_key_mode(key) == STOCKADE_GCM ? "gcm output" : "ctr output";
  say(name, status == STOCKADE_OK ? std::to_string(checksum(buffer)) : stockade_status_name(status));
}

void describe_rows() {
  stockade_row row;
  stockade_status status;
  for (uint32_t i = 0; (status = stockade_row_get(i, &row)) == STOCKADE_OK; ++i) {
    const std::string name = std::string("row ") + row.primitive + ":" + row.name;
    say(name, std::string(row.available ? "available" : "unavailable") + (row.chosen ? " chosen" : ""));
    say(name + " reason", row.reason);
  }
  say("rows", stockade_status_name(status));
}

void describe_features() {
  stockade_feature feature;
  for (uint32_t i = 0; stockade_feature_get(i, &feature) == STOCKADE_OK; ++i) {
    say(std::string("feature ") + feature.name,
        std::string(feature.present ? "present" : "absent") + (feature.masked ? " masked" : ""));
  }
}

void describe_machine() {
  stockade_machine machine;
  const stockade_status status = stockade_machine_get(&machine);
  say("machine", stockade_status_name(status));
  if (status != STOCKADE_OK) return;
  say("cores", std::to_string(machine.cores));
  say("threads", std::to_string(machine.threads));
}

void describe_experience() {
  stockade_experience experience;
  say("experience", stockade_status_name(stockade_experience_get(&experience)));
  say("profile path", experience.path);
  say("fingerprint", experience.fingerprint);
  say("profile", experience.user == nullptr ? "" : experience.user);
  const std::string line = experience.problem_line == 0 ? "" : "line " + std::to_string(experience.problem_line) + ": ";
  say("profile problem", experience.problem == nullptr ? "" : line + experience.problem);
  say("built in", experience.built_in == nullptr ? "" : experience.built_in);
}

void describe_engine(const std::string& question, const char* name, uint32_t threads) {
  stockade_engine* engine = nullptr;
  say(question, stockade_status_name(stockade_engine_create(&engine, name, threads)));
  stockade_engine_free(engine);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const stockade_mode mode = std::strncmp(argv[i], "gcm:", 4) == 0 ? STOCKADE_GCM : STOCKADE_CTR;
    stockade_key_free(describe_key(std::string("force ") + argv[i], mode, argv[i]));
  }
  for (const auto& [name, mode] : {std::pair("aes key", STOCKADE_CTR), std::pair("gcm key", STOCKADE_GCM)}) {
    stockade_key* key = describe_key(name, mode, nullptr);
    if (key == nullptr) continue;
    describe_output(key);
    if (mode == STOCKADE_CTR) {
      for (const uint64_t length : {uint64_t{64}, uint64_t{96} << 10, uint64_t{1} << 28}) describe_plan(key, length);
    }
    stockade_key_free(key);
  }
  describe_engine("engine", nullptr, 0);
  describe_engine("engine serial", "serial", 0);
  describe_rows();
  describe_features();
  describe_machine();
  describe_experience();
  return 0;
}
