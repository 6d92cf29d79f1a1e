// Every file of the testkit through the public C interface: pushed in pieces of several sizes, and by descriptors. The status must
// be the one that the file's head names, and the plaintext of a success must have its hash.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stockade/stockade.h"

namespace {

namespace fs = std::filesystem;
using Keyring = std::unique_ptr<stockade_keyring, decltype(&stockade_keyring_free)>;

struct Case {
  std::string name;
  std::multimap<std::string, std::string> head;
  std::string data;

  std::string Value(const std::string& key) const {
    const auto found = head.find(key);
    return found == head.end() ? "" : found->second;
  }
};

struct Outcome {
  stockade_status status;
  std::string plaintext;
};

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string FromHex(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::string Sha256Hex(const std::string& data) {
  unsigned char digest[32];
  EVP_Digest(data.data(), data.size(), digest, nullptr, EVP_sha256(), nullptr);
  std::string out;
  for (const unsigned byte : digest) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    out += two;
  }
  return out;
}

std::string Inflate(const std::string& data) {
  std::string out(std::size_t{4} << 20, '\0');
  uLongf length = out.size();
  if (uncompress(reinterpret_cast<Bytef*>(out.data()), &length, reinterpret_cast<const Bytef*>(data.data()),
                 data.size()) != Z_OK) {
    return {};
  }
  out.resize(length);
  return out;
}

Case Load(const fs::path& path) {
  Case out;
  out.name = path.filename();
  const std::string all = ReadAll(path);
  const std::size_t end = all.find("\n\n");
  for (std::size_t at = 0; end != std::string::npos && at < end;) {
    const std::size_t stop = std::min(all.find('\n', at), end);
    const std::string line = all.substr(at, stop - at);
    const std::size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << out.name << ": " << line;
    if (colon != std::string::npos) {
      out.head.emplace(line.substr(0, colon), line.substr(colon + 2));
    }
    at = stop + 1;
  }
  EXPECT_NE(end, std::string::npos) << out.name;
  out.data = end == std::string::npos ? "" : all.substr(end + 2);
  if (out.head.count("compressed") != 0) {
    out.data = Inflate(out.data);
    EXPECT_FALSE(out.data.empty()) << out.name;
  }
  return out;
}

std::vector<Case> LoadAll() {
  std::vector<Case> out;
  for (const auto& entry : fs::directory_iterator(fs::path(STOCKADE_TESTKIT) / "files")) {
    out.push_back(Load(entry.path()));
  }
  std::sort(out.begin(), out.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return out;
}

Keyring MakeKeyring(const Case& c) {
  stockade_keyring* ring = nullptr;
  EXPECT_EQ(stockade_keyring_create(&ring), STOCKADE_OK);
  for (const auto& [name, value] : c.head) {
    stockade_status status = STOCKADE_OK;
    if (name == "key") {
      const std::string key = FromHex(value);
      status = stockade_keyring_add_key(ring, key.data(), key.size());
    } else if (name == "passphrase") {
      status = stockade_keyring_add_passphrase(ring, value.data(), value.size(), 0);
    } else if (name == "identity") {
      const std::string pem = ReadAll(fs::path(STOCKADE_TESTKIT) / "keys" / (value + ".pem"));
      status = stockade_keyring_add_rsa_private(ring, pem.data(), pem.size(), nullptr, nullptr);
    }
    EXPECT_EQ(status, STOCKADE_OK) << c.name << ": " << name;
  }
  return {ring, &stockade_keyring_free};
}

stockade_format MakeFormat(const Case& c, const stockade_keyring* ring) {
  stockade_format format{};
  format.struct_size = sizeof format;
  format.keyring = ring;
  const std::string limit = c.Value("max-work-factor");
  format.max_work_factor = limit.empty() ? 0 : static_cast<std::uint32_t>(std::stoul(limit));
  return format;
}

Outcome Push(const Case& c, std::size_t piece) {
  const Keyring ring = MakeKeyring(c);
  const stockade_format format = MakeFormat(c, ring.get());
  stockade_file* file = nullptr;
  Outcome out{stockade_file_create(&file, STOCKADE_DECRYPT, &format, nullptr), ""};
  std::string buffer;
  for (std::size_t at = 0; out.status == STOCKADE_OK && at <= c.data.size(); at += piece) {
    const std::size_t length = std::min(piece, c.data.size() - at);
    const bool last = at + piece > c.data.size();
    std::uint64_t written = 0;
    if (length != 0) {
      buffer.resize(stockade_file_bound(file, length));
      out.status = stockade_file_update(file, c.data.data() + at, length, buffer.data(), buffer.size(), &written);
      out.plaintext.append(buffer, 0, written);
    }
    if (out.status == STOCKADE_OK && last) {
      buffer.resize(stockade_file_bound(file, 0));
      out.status = stockade_file_final(file, buffer.data(), buffer.size(), &written);
      out.plaintext.append(buffer, 0, written);
    }
  }
  stockade_file_free(file);
  return out;
}

Outcome Descriptors(const Case& c) {
  const Keyring ring = MakeKeyring(c);
  const stockade_format format = MakeFormat(c, ring.get());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::tmpfile(), &std::fclose);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> to(std::tmpfile(), &std::fclose);
  if (in == nullptr || to == nullptr) {
    ADD_FAILURE() << "no temporary file";
    return {STOCKADE_ERROR_IO, ""};
  }
  const int in_fd = fileno(in.get());
  const int out_fd = fileno(to.get());
  EXPECT_EQ(::write(in_fd, c.data.data(), c.data.size()), static_cast<ssize_t>(c.data.size()));
  EXPECT_EQ(::lseek(in_fd, 0, SEEK_SET), 0);
  stockade_file_job job{};
  job.struct_size = sizeof job;
  job.journal_fd = -1;
  Outcome out{stockade_file_decrypt_fd(in_fd, out_fd, &format, &job, nullptr), ""};
  out.plaintext.resize(static_cast<std::size_t>(::lseek(out_fd, 0, SEEK_END)));
  EXPECT_EQ(::pread(out_fd, out.plaintext.data(), out.plaintext.size(), 0), static_cast<ssize_t>(out.plaintext.size()));
  return out;
}

void Check(const Case& c, const Outcome& got, const std::string& how) {
  const std::string expect = c.Value("expect");
  const std::string wanted = expect == "SUCCESS" ? "STOCKADE_OK" : "STOCKADE_ERROR_" + expect;
  EXPECT_EQ(stockade_status_name(got.status), wanted) << c.name << " " << how << ": " << c.Value("comment");
  if (got.status == STOCKADE_OK && expect == "SUCCESS") {
    EXPECT_EQ(Sha256Hex(got.plaintext), c.Value("sha256")) << c.name << " " << how;
  }
}

TEST(Testkit, is_all_there) { EXPECT_GE(LoadAll().size(), 200U); }

TEST(Testkit, pushed_whole) {
  for (const Case& c : LoadAll()) {
    Check(c, Push(c, std::max<std::size_t>(c.data.size(), 1)), "whole");
  }
}

TEST(Testkit, pushed_in_pieces) {
  for (const Case& c : LoadAll()) {
    Check(c, Push(c, 1), "byte by byte");
    Check(c, Push(c, 61), "in pieces of 61");
    Check(c, Push(c, 16400), "in pieces of 16400");
  }
}

TEST(Testkit, by_descriptors) {
  for (const Case& c : LoadAll()) {
    Check(c, Descriptors(c), "by descriptors");
  }
}

}  // namespace
