// Every file of the testkit through the public C interface: pushed in pieces of several sizes, and by descriptors. The status must
// be the one that the file's head names, and the plaintext of a success must have its hash.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "testkit_file.h"

namespace stockade::testkit {
namespace {

namespace fs = std::filesystem;

struct NamedCase {
  std::string name;
  Case item;
};

std::string read_all(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string sha256_hex(const std::string& data) {
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

std::vector<NamedCase> load_all() {
  std::vector<NamedCase> out;
  for (const auto& entry : fs::directory_iterator(fs::path(STOCKADE_TESTKIT) / "files")) {
    std::string error;
    const auto item = parse_case(read_all(entry.path()), error);
    EXPECT_TRUE(item) << entry.path() << ": " << error;
    if (item) out.push_back({entry.path().filename(), *item});
  }
  std::sort(out.begin(), out.end(), [](const NamedCase& a, const NamedCase& b) { return a.name < b.name; });
  return out;
}

Keyring keyring_of(const NamedCase& c) {
  std::string error;
  const auto read_identity = [](const std::string& name) -> std::optional<std::string> {
    return read_all(fs::path(STOCKADE_TESTKIT) / "keys" / (name + ".pem"));
  };
  Keyring ring = make_keyring(c.item, read_identity, error);
  EXPECT_NE(ring, nullptr) << c.name << ": " << error;
  return ring;
}

Outcome pushed(const NamedCase& c, std::size_t piece) {
  const Keyring ring = keyring_of(c);
  return push(c.item, make_format(c.item, ring.get()), piece);
}

Outcome through_descriptors(const NamedCase& c) {
  const Keyring ring = keyring_of(c);
  const stockade_format format = make_format(c.item, ring.get());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::tmpfile(), &std::fclose);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> to(std::tmpfile(), &std::fclose);
  if (in == nullptr || to == nullptr) {
    ADD_FAILURE() << "no temporary file";
    return {STOCKADE_ERROR_IO, ""};
  }
  const int in_fd = fileno(in.get());
  const int out_fd = fileno(to.get());
  EXPECT_EQ(::write(in_fd, c.item.data.data(), c.item.data.size()), static_cast<ssize_t>(c.item.data.size()));
  EXPECT_EQ(::lseek(in_fd, 0, SEEK_SET), 0);
  stockade_file_job job{};
  job.struct_size = sizeof job;
  job.journal_fd = -1;
  Outcome out{stockade_file_decrypt_fd(in_fd, out_fd, &format, &job, nullptr), ""};
  out.plaintext.resize(static_cast<std::size_t>(::lseek(out_fd, 0, SEEK_END)));
  EXPECT_EQ(::pread(out_fd, out.plaintext.data(), out.plaintext.size(), 0), static_cast<ssize_t>(out.plaintext.size()));
  return out;
}

void check(const NamedCase& c, const Outcome& got, const std::string& how) {
  const std::string expect = c.item.value("expect");
  const std::string wanted = expect == "SUCCESS" ? "STOCKADE_OK" : "STOCKADE_ERROR_" + expect;
  EXPECT_EQ(stockade_status_name(got.status), wanted) << c.name << " " << how << ": " << c.item.value("comment");
  if (got.status == STOCKADE_OK && expect == "SUCCESS") {
    EXPECT_EQ(sha256_hex(got.plaintext), c.item.value("sha256")) << c.name << " " << how;
  }
}

TEST(Testkit, is_all_there) { EXPECT_GE(load_all().size(), 200U); }

TEST(Testkit, pushed_whole) {
  for (const NamedCase& c : load_all()) {
    check(c, pushed(c, std::max<std::size_t>(c.item.data.size(), 1)), "whole");
  }
}

TEST(Testkit, pushed_in_pieces) {
  for (const NamedCase& c : load_all()) {
    check(c, pushed(c, 1), "byte by byte");
    check(c, pushed(c, 61), "in pieces of 61");
    check(c, pushed(c, 16400), "in pieces of 16400");
  }
}

TEST(Testkit, by_descriptors) {
  for (const NamedCase& c : load_all()) {
    check(c, through_descriptors(c), "by descriptors");
  }
}

}  // namespace
}  // namespace stockade::testkit
