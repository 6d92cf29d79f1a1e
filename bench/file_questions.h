// What each file of a question gives to run_file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "file.h"
#include "turns.h"

namespace stockade::bench {

using OnPoint = std::function<void(const FilePoint&)>;

void ask_memory(const FileSettings& settings, const OnTurn& on_turn, const OnPoint& on_point);
// The three that need the large file, as far as they are asked for.
void ask_large_file(const FileSettings& settings, const OnTurn& on_turn, const OnPoint& on_point);
void ask_start(const FileSettings& settings, const OnTurn& on_turn, const OnPoint& on_point);
void ask_many(const FileSettings& settings, const OnTurn& on_turn, const OnPoint& on_point);

bool is_asked(const FileSettings& settings, const std::string& question);

// The key file of the commands, made where it is not there yet.
std::string key_file(const FileSettings& settings);
// Its bytes, for calls within this process.
inline constexpr uint8_t bench_key[32] = {0x73, 0x74, 0x6f, 0x63, 0x6b, 0x61, 0x64, 0x65};
// Key and IV of `openssl enc -aes-256-ctr`.
std::vector<std::string> openssl_words(const std::string& openssl, const std::string& in, const std::string& out);

// A key for age, in a file of age's own form; made where it is not there yet. None where age is not installed.
struct AgeKey {
  std::string program, file, recipient;
};
std::optional<AgeKey> age_key(const FileSettings& settings);

// The whole file at once. Throws std::runtime_error.
void write_file(const std::string& path, const void* data, size_t size);

}  // namespace stockade::bench
