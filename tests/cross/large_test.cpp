// A file of more than 4 GiB, mostly a hole, there and back: offsets beyond 32 bits, bounded memory. Needs twice as much on the
// disk.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "base/bytes.h"
#include "cross/handles.h"
#include "cross/message.h"
#include "cross/oracle.h"
#include "cross/random_source.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

constexpr uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
// Not a multiple of anything.
constexpr uint64_t file_bytes = 4 * gib + 64 * mib + 12345;
constexpr uint64_t step = 4 * mib;
// What a program of this size may use beside the buffers, whose size does not depend on the file's.
constexpr uint64_t memory_allowance = 64 * mib;

// Islands of random bytes in a file of zeros, so that no two stretches of ciphertext are alike by accident: at the
// begin and end, around each GiB, and somewhere else.
void write_islands(const TemporaryFile& file, RandomSource& random) {
  file.resize(file_bytes);
  std::vector<uint64_t> places = {0, file_bytes - 100 * kib};
  for (uint64_t at = gib; at < file_bytes; at += gib) places.push_back(at - 50 * kib);
  for (int i = 0; i < 20; ++i) places.push_back(random.below(file_bytes - 100 * kib));
  for (const uint64_t place : places) {
    const Bytes island = random.bytes(100 * kib);
    write_exactly(file.fd(), place, island.data(), island.size());
  }
}

bool enough_room(uint64_t bytes, std::string& reason) {
  struct statvfs found;
  if (statvfs(temporary_folder().c_str(), &found) != 0) {
    reason = "cannot ask " + temporary_folder() + " for its free space";
    return false;
  }
  const uint64_t free_bytes = uint64_t{found.f_bavail} * found.f_frsize;
  reason = temporary_folder() + " has " + std::to_string(free_bytes / mib) + " MiB free, the test needs " +
           std::to_string(bytes / mib) + " (TMPDIR names another folder)";
  return free_bytes >= bytes;
}

uint64_t peak_memory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * kib;
}

// The counter block of the file's block `block`: the whole block counts in CTR, 32 bits from 2 on in GCM.
Bytes counter_at(const Message& m, uint64_t block) {
  Bytes counter = m.iv;
  if (m.mode == STOCKADE_CTR) {
    add_be128(counter.data(), block);
  } else {
    counter.resize(16);
    store_be32(counter.data() + 12, static_cast<uint32_t>(2 + block));
  }
  return counter;
}

// Both modes are counter modes, so OpenSSL can be asked about any place of the file.
void expect_ciphertext_at(const Message& m, const TemporaryFile& plain, const TemporaryFile& sealed, uint64_t offset,
                          uint64_t length) {
  Bytes plaintext(length), ciphertext(length);
  read_exactly(plain.fd(), offset, plaintext.data(), length);
  read_exactly(sealed.fd(), offset, ciphertext.data(), length);
  const Bytes expected =
      oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, m.key, counter_at(m, offset / 16), plaintext.data(), length);
  EXPECT_TRUE(same_bytes(ciphertext.data(), expected.data(), length)) << "at offset " << offset;
}

// The tag that OpenSSL makes of the whole file.
Bytes tag_by_openssl(const Message& m, const TemporaryFile& plain) {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                EVP_CIPHER_CTX_free);
  int count = 0;
  EXPECT_EQ(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, m.key.data(), m.iv.data()), 1);
  Bytes in(step), out(step + 16), tag(16);
  for (uint64_t done = 0; done < file_bytes; done += step) {
    const uint64_t length = std::min(step, file_bytes - done);
    read_exactly(plain.fd(), done, in.data(), length);
    EXPECT_EQ(EVP_EncryptUpdate(context.get(), out.data(), &count, in.data(), static_cast<int>(length)), 1);
  }
  EXPECT_EQ(EVP_EncryptFinal_ex(context.get(), out.data(), &count), 1);
  EXPECT_EQ(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, 16, tag.data()), 1);
  return tag;
}

void expect_same_content(const TemporaryFile& a, const TemporaryFile& b) {
  ASSERT_EQ(a.size(), b.size());
  Bytes first(step), second(step);
  for (uint64_t done = 0; done < a.size(); done += step) {
    const uint64_t length = std::min(step, a.size() - done);
    read_exactly(a.fd(), done, first.data(), length);
    read_exactly(b.fd(), done, second.data(), length);
    ASSERT_TRUE(same_bytes(first.data(), second.data(), length)) << "behind offset " << done;
  }
}

class Large : public testing::TestWithParam<stockade_mode> {};
std::string mode_label(const testing::TestParamInfo<stockade_mode>& info) { return mode_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Modes, Large, testing::Values(STOCKADE_CTR, STOCKADE_GCM), mode_label);

TEST_P(Large, sparse_file_there_and_back) {
  std::string reason;
  if (!enough_room(2 * file_bytes + gib, reason)) GTEST_SKIP() << reason;
  RandomSource random;
  Message message;
  message.mode = GetParam();
  message.key = random.bytes(32);
  message.iv = random.bytes(iv_bytes(message.mode));
  const uint64_t tag_bytes = message.mode == STOCKADE_GCM ? 16 : 0;
  const Key key = make_key(message.mode, message.key);
  const TemporaryFile plain, sealed, opened;
  write_islands(plain, random);
  stockade_raw_options options = {};
  options.struct_size = sizeof options;
  options.iv = message.iv.data();
  options.iv_length = message.iv.size();

  const uint64_t before = peak_memory();
  ASSERT_EQ(stockade_raw_encrypt_fd(key.get(), plain.fd(), sealed.fd(), &options, nullptr), STOCKADE_OK);
  EXPECT_EQ(options.in_length, file_bytes);
  EXPECT_EQ(options.out_length, file_bytes + tag_bytes);
  ASSERT_EQ(sealed.size(), file_bytes + tag_bytes);
  sealed.seek(0);
  ASSERT_EQ(stockade_raw_decrypt_fd(key.get(), sealed.fd(), opened.fd(), &options, nullptr), STOCKADE_OK);
  EXPECT_EQ(options.out_length, file_bytes);
  EXPECT_LE(peak_memory(), before + memory_allowance);
  std::printf("peak memory before %llu MiB, after %llu MiB\n", static_cast<unsigned long long>(before / mib),
              static_cast<unsigned long long>(peak_memory() / mib));

  for (const uint64_t offset :
       {uint64_t{0}, 2 * gib - 64 * kib, 4 * gib - 64 * kib, 4 * gib + 16, file_bytes / 16 * 16 - 128 * kib}) {
    expect_ciphertext_at(message, plain, sealed, offset, 128 * kib + (offset > file_bytes - mib ? file_bytes % 16 : 0));
  }
  for (int i = 0; i < 200; ++i) {
    expect_ciphertext_at(message, plain, sealed, random.below(file_bytes / 16 - 4096) * 16, 64 * kib);
  }
  if (tag_bytes != 0) {
    Bytes tag(16);
    read_exactly(sealed.fd(), file_bytes, tag.data(), 16);
    EXPECT_EQ(tag, tag_by_openssl(message, plain));
  }
  expect_same_content(plain, opened);
}

// Reads a pipe to its end and counts how many bytes were those of the file, up to the first that was not.
uint64_t compare_with(int fd, const TemporaryFile& plain) {
  Bytes got(mib), expected(mib);
  uint64_t same = 0;
  bool equal = true;
  for (ssize_t n; (n = read(fd, got.data(), got.size())) > 0;) {
    if (!equal) continue;
    const auto length = static_cast<uint64_t>(n);
    equal = same + length <= file_bytes;
    if (equal) read_exactly(plain.fd(), same, expected.data(), length);
    equal = equal && same_bytes(got.data(), expected.data(), length);
    if (equal) same += length;
  }
  return same;
}

TEST(LargeSealed, sparse_file_there_and_back_through_a_pipe) {
  std::string reason;
  if (!enough_room(file_bytes + gib, reason)) GTEST_SKIP() << reason;
  RandomSource random;
  const TemporaryFile plain, sealed;
  write_islands(plain, random);
  stockade_keyring* ring = nullptr;
  ASSERT_EQ(stockade_keyring_create(&ring), STOCKADE_OK);
  const Bytes key = random.bytes(32);
  ASSERT_EQ(stockade_keyring_add_key(ring, key.data(), key.size()), STOCKADE_OK);
  stockade_format format{};
  format.struct_size = sizeof format;
  format.keyring = ring;
  stockade_file_job job{};
  job.struct_size = sizeof job;

  const uint64_t before = peak_memory();
  ASSERT_EQ(stockade_file_encrypt_fd(plain.fd(), sealed.fd(), &format, &job, nullptr), STOCKADE_OK);
  EXPECT_EQ(job.in_length, file_bytes);
  ASSERT_EQ(sealed.size(), 1024 + STOCKADE_PREAMBLE_BYTES + file_bytes + (file_bytes / STOCKADE_CHUNK_BYTES + 1) * 16);
  sealed.seek(0);
  ASSERT_EQ(stockade_file_verify_fd(sealed.fd(), &format, &job, nullptr), STOCKADE_OK);
  EXPECT_EQ(job.out_length, file_bytes);
  sealed.seek(0);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  uint64_t same = 0;
  std::thread reader([&] { same = compare_with(ends[0], plain); });
  EXPECT_EQ(stockade_file_decrypt_fd(sealed.fd(), ends[1], &format, &job, nullptr), STOCKADE_OK);
  close(ends[1]);
  reader.join();
  close(ends[0]);
  EXPECT_EQ(same, file_bytes);
  EXPECT_LE(peak_memory(), before + memory_allowance);
  std::printf("peak memory before %llu MiB, after %llu MiB\n", static_cast<unsigned long long>(before / mib),
              static_cast<unsigned long long>(peak_memory() / mib));
  stockade_keyring_free(ring);
}

}  // namespace
}  // namespace stockade::tests
