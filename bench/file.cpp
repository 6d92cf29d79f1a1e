#include "file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "file_questions.h"

namespace stockade::bench {
namespace {

bool has_age() { return !find_program("age").empty() && !find_program("age-keygen").empty(); }

std::string python_version(const std::string& python) {
  return first_line_of({python, "-c", "import cryptography.cobblestone; print(cryptography.__version__)"});
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

uint64_t file_space(const FileSettings& settings) {
  // The file, encrypted, what is made of it, and age's own form; tags and small files beside.
  const uint64_t large = (has_age() ? 4 : 3) * (settings.size + settings.size / 256);
  const bool needs_large = is_asked(settings, "files") || is_asked(settings, "range");
  return (needs_large ? large : 0) + (uint64_t{192} << 20);
}

std::string find_python(const std::string& wanted, const std::string& program) {
  std::vector<std::string> candidates{wanted};
  if (wanted.empty()) candidates = {folder_of(folder_of(program)) + "/venv/bin/python3", find_program("python3")};
  for (const std::string& python : candidates) {
    if (!python.empty() && !python_version(python).empty()) return python;
  }
  return {};
}

std::vector<FilePeer> file_peers(const FileSettings& settings) {
  const auto version = [](const std::string& program, const char* option) {
    return program.empty() ? std::string(not_installed) : first_line_of({program, option});
  };
  return {{"openssl", version(find_program("openssl"), "version")},
          {"age", has_age() ? version(find_program("age"), "--version") : not_installed},
          {"pyca/cryptography", settings.python.empty() ? not_installed : python_version(settings.python)}};
}

bool is_asked(const FileSettings& settings, const std::string& question) {
  return std::find(settings.questions.begin(), settings.questions.end(), question) != settings.questions.end();
}

void write_file(const std::string& path, const void* data, size_t size) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && write(fd, data, size) == static_cast<ssize_t>(size);
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!written) throw std::runtime_error("cannot write '" + path + "': " + std::strerror(error));
}

std::string key_file(const FileSettings& settings) {
  std::string path = settings.folder + "/key";
  if (access(path.c_str(), R_OK) != 0) write_file(path, bench_key, sizeof bench_key);
  return path;
}

std::optional<AgeKey> age_key(const FileSettings& settings) {
  if (!has_age()) return std::nullopt;
  const std::string path = settings.folder + "/age.key", public_key = "# public key: ";
  if (access(path.c_str(), R_OK) != 0) {
    // A line with the date, one with the public key, one with the secret key.
    Coprocess keygen({find_program("age-keygen")});
    std::string text;
    for (int i = 0; i < 3; ++i) text += keygen.read_line() + "\n";
    write_file(path, text.data(), text.size());
  }
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(public_key)) return AgeKey{find_program("age"), path, line.substr(public_key.size())};
  }
  throw std::runtime_error("age-keygen made a key that cannot be read");
}

std::vector<std::string> openssl_words(const std::string& openssl, const std::string& in, const std::string& out) {
  std::vector<std::string> words{openssl,
                                 "enc",
                                 "-aes-256-ctr",
                                 "-K",
                                 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
                                 "-iv",
                                 "000102030405060708090a0b0c0d0e0f"};
  if (!in.empty()) words.insert(words.end(), {"-in", in, "-out", out});
  return words;
}

void run_file(const FileSettings& settings, const std::function<void(const std::string&)>& on_turn,
              const std::function<void(const FilePoint&)>& on_point) {
  if (is_asked(settings, "memory")) ask_memory(settings, on_turn, on_point);
  if (is_asked(settings, "files") || is_asked(settings, "range")) ask_large_file(settings, on_turn, on_point);
  if (is_asked(settings, "start")) ask_start(settings, on_turn, on_point);
  if (is_asked(settings, "many")) ask_many(settings, on_turn, on_point);
}

}  // namespace stockade::bench
