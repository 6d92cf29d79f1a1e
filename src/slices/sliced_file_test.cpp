// Shared jobs: whoever does which slices, in whatever order, the bytes are those of one process; and nothing that has
// been changed meanwhile gets by.
#include "slices/sliced_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/hmac.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cross/random_source.h"
#include "cross/sealed_oracle.h"
#include "cross/temporary_file.h"
#include "format/recipient_test.h"

namespace stockade::slices {
namespace {

using namespace format;  // NOLINT(google-build-using-namespace): slices are made of what it has

using tests::TemporaryFile;
using Buffer = std::vector<uint8_t>;

constexpr uint64_t kib = 1024, slice = 256 * kib;
constexpr uint64_t sealed_slice = segment_chunks * chunked::sealed_chunk_bytes;
constexpr config::EngineChoice serial{config::Kind::serial, 1}, threads{config::Kind::threads, 3};

// Gives out slices of a list.
struct List {
  std::vector<uint64_t> slices;
  size_t next = 0;
  static uint64_t take(void* self) {
    List& list = *static_cast<List*>(self);
    return list.next < list.slices.size() ? list.slices[list.next++] : STOCKADE_NO_SLICE;
  }
};

struct Damage {
  uint64_t chunk, count, offset, length;
  bool operator==(const Damage&) const = default;
  static int add(void* to, uint64_t chunk, uint64_t count, uint64_t offset, uint64_t length) {
    static_cast<std::vector<Damage>*>(to)->push_back({chunk, count, offset, length});
    return 0;
  }
};

std::vector<uint64_t> all(uint64_t count) {
  std::vector<uint64_t> slices(count);
  std::iota(slices.begin(), slices.end(), 0);
  return slices;
}

struct timespec modified(const TemporaryFile& file) {
  struct stat found;
  EXPECT_EQ(::fstat(file.fd(), &found), 0);
  return found.st_mtim;
}

void set_modified(const TemporaryFile& file, const struct timespec& time) {
  const struct timespec times[] = {{0, UTIME_OMIT}, time};
  EXPECT_EQ(::futimens(file.fd(), times), 0);
}

class SlicedFiles : public testing::Test {
 protected:
  SlicedFiles() : ring_(keys_of({1})) { format_.keyring = &ring_; }

  Buffer text(uint64_t length) { return random_.bytes(length); }

  // What one process makes of it.
  Buffer sealed(const Buffer& plain, uint8_t seed = 9) const {
    const TemporaryFile in(plain), out;
    CountingSource random(seed);
    stockade_file_job job{};
    EXPECT_EQ(encrypt_fd(format_, in.fd(), out.fd(), job, threads, random), STOCKADE_OK);
    return out.content();
  }

  static Options options(stockade_shared_kind kind, int journal_fd = -1, uint64_t slice_bytes = slice) {
    Options options;
    options.kind = kind;
    options.slice_bytes = slice_bytes;
    options.journal_fd = journal_fd;
    return options;
  }

  Status create(SlicedFile& job, stockade_shared_kind kind, int in_fd, int out_fd, int journal_fd = -1,
                uint64_t slice_bytes = slice, uint8_t seed = 9) {
    CountingSource random(seed);
    const Status status =
        job.create(format_, in_fd, out_fd, options(kind, journal_fd, slice_bytes), threads, random, fault_);
    EXPECT_EQ(fault_.status, status);
    return status;
  }

  Status run(const SlicedFile& job, const TemporaryFile& in, const TemporaryFile& out, std::vector<uint64_t> slices,
             int journal_fd = -1, const config::EngineChoice& engine = serial) {
    return run(job, in.fd(), out.fd(), std::move(slices), journal_fd, engine);
  }

  Status run(const SlicedFile& job, int in_fd, int out_fd, std::vector<uint64_t> slices, int journal_fd = -1,
             const config::EngineChoice& engine = serial) {
    List list{std::move(slices)};
    work_ = {};
    work_.in_fd = in_fd;
    work_.out_fd = out_fd;
    work_.journal_fd = journal_fd;
    work_.accept_changed_input = accepts_ ? 1 : 0;
    work_.next = List::take;
    work_.next_context = &list;
    work_.damage = Damage::add;
    work_.damage_context = &damages_;
    damages_.clear();
    const Status status = job.run(work_, engine);
    EXPECT_EQ(work_.fault.status, status);
    return status;
  }

  Status read_back(const SlicedFile& job, const TemporaryFile& out, const TemporaryFile& journal,
                   std::vector<uint64_t> slices, const config::EngineChoice& engine = serial) {
    List list{std::move(slices)};
    work_ = {};
    work_.in_fd = -1;
    work_.out_fd = out.fd();
    work_.journal_fd = journal.fd();
    work_.next = List::take;
    work_.next_context = &list;
    const Status status = job.read_back(work_, engine);
    EXPECT_EQ(work_.fault.status, status);
    return status;
  }

  static uint64_t count(const SlicedFile& job) { return info(job).slices; }
  static stockade_shared_info info(const SlicedFile& job) {
    stockade_shared_info info;
    job.describe(info);
    return info;
  }

  // All slices, by some processes in random order, each with what it got of the terms.
  void share(const SlicedFile& job, const TemporaryFile& in, const TemporaryFile& out, uint64_t processes) {
    std::vector<uint64_t> order = all(count(job));
    for (uint64_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    Buffer terms(STOCKADE_SHARED_TERMS_BYTES);
    job.export_terms(terms.data());
    for (uint64_t process = 0; process < processes; ++process) {
      SlicedFile other;
      ASSERT_EQ(other.import_terms(terms.data()), STOCKADE_OK);
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(order.size() * process / processes);
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(order.size() * (process + 1) / processes);
      ASSERT_EQ(run(other, in, out, {begin, end}, -1, random_.one_in(2) ? serial : threads), STOCKADE_OK);
      EXPECT_EQ(work_.slices, static_cast<uint64_t>(end - begin));
      in_length_ += work_.in_length;
      out_length_ += work_.out_length;
    }
  }

  std::vector<uint64_t> missing(const SlicedFile& job, const TemporaryFile& journal) {
    std::vector<uint64_t> slices;
    EXPECT_EQ(job.find_missing(journal.fd(), slices), STOCKADE_OK);
    return slices;
  }

  tests::RandomSource random_;
  Keyring ring_;
  FileFormat format_;
  stockade_fault fault_{};
  stockade_shared_work work_{};
  std::vector<Damage> damages_;
  uint64_t in_length_ = 0, out_length_ = 0;
  bool accepts_ = false;  // a changed input
};

// Where chunks, runs and slices end, also with the few bytes that the last run may be longer.
std::vector<uint64_t> lengths() {
  std::vector<uint64_t> lengths = {0, 1, 16383, 16384, 16385};
  for (const uint64_t slices : {1, 2, 7}) {
    for (const int around : {-16385, -16384, -1, 0, 1, 15, 31, 32, 33, 16368, 16384, 16400}) {
      lengths.push_back(slices * slice + static_cast<uint64_t>(around));
    }
  }
  return lengths;
}

TEST_F(SlicedFiles, have_the_bytes_of_one_process) {
  for (const uint64_t length : lengths()) {
    SCOPED_TRACE(length);
    const Buffer plain = text(length), expected = sealed(plain);
    const TemporaryFile in(plain), out, back;
    SlicedFile making, opening, verifying;
    in_length_ = out_length_ = 0;
    ASSERT_EQ(create(making, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd()), STOCKADE_OK);
    EXPECT_EQ(count(making), length <= slice + 31 ? 1 : (length - 32) / slice + 1);
    share(making, in, out, random_.between(1, 7));
    ASSERT_EQ(out.content(), expected);
    EXPECT_EQ(in_length_, length);
    EXPECT_EQ(out_length_ + info(making).beginning_length, expected.size());
    EXPECT_EQ(making.check(out.fd(), -1, fault_), STOCKADE_OK);

    in_length_ = out_length_ = 0;
    ASSERT_EQ(create(opening, STOCKADE_SHARED_DECRYPT, out.fd(), back.fd()), STOCKADE_OK);
    share(opening, out, back, random_.between(1, 7));
    ASSERT_EQ(back.content(), plain);
    EXPECT_EQ(out_length_, length);
    EXPECT_EQ(in_length_ + info(opening).beginning_length, expected.size());
    EXPECT_EQ(opening.check(back.fd(), -1, fault_), STOCKADE_OK);

    out_length_ = 0;
    ASSERT_EQ(create(verifying, STOCKADE_SHARED_VERIFY, out.fd(), -1), STOCKADE_OK);
    share(verifying, out, out, random_.between(1, 7));
    EXPECT_EQ(out_length_, length);
    EXPECT_EQ(out.content(), expected);
  }
}

TEST_F(SlicedFiles, are_cut_as_is_asked_for_or_as_suits_the_file) {
  const TemporaryFile out;
  const auto slices_of = [&](uint64_t length, uint32_t processes, uint64_t slice_bytes) {
    SlicedFile job;
    Options wish = options(STOCKADE_SHARED_ENCRYPT, -1, slice_bytes);
    wish.plain_length = length;
    wish.processes = processes;
    EXPECT_EQ(job.create(format_, -1, -1, wish, serial, system_random(), fault_), STOCKADE_OK);
    return std::pair(count(job), info(job).slice_bytes);
  };
  constexpr uint64_t mib = 1024 * kib, gib = 1024 * mib;
  EXPECT_EQ(slices_of(0, 1, 0), std::pair(uint64_t{1}, slice));
  EXPECT_EQ(slices_of(gib, 1, 0), std::pair(uint64_t{256}, 4 * mib));
  EXPECT_EQ(slices_of(gib, 64, 0), std::pair(uint64_t{256}, 4 * mib));
  EXPECT_EQ(slices_of(gib, 65, 0), std::pair(uint64_t{512}, 2 * mib));
  EXPECT_EQ(slices_of(mib, 1000, 0), std::pair(uint64_t{4}, slice));
  EXPECT_EQ(slices_of(1024 * gib, 2, 0), std::pair(uint64_t{1} << 18, 4 * mib));
  EXPECT_EQ(slices_of(1024 * gib + 33, 2, 0), std::pair((uint64_t{1} << 17) + 1, 8 * mib));
  EXPECT_EQ(slices_of(65536 * gib, 2, 0), std::pair(uint64_t{1} << 20, 64 * mib));
  EXPECT_EQ(slices_of(gib, 7, mib), std::pair(uint64_t{1024}, mib));
  // Whatever the length and however many take part, there are not too many.
  for (const uint32_t processes : {1U, 100000U, UINT32_MAX}) {
    EXPECT_EQ(slices_of((uint64_t{1} << 52) - 1, processes, 0), std::pair(uint64_t{1} << 26, 64 * mib));
    EXPECT_LE(slices_of(uint64_t{1} << 40, processes, 0).first, uint64_t{1} << 19);
  }
}

TEST_F(SlicedFiles, hand_on_their_terms_to_the_same_version_only) {
  const Buffer plain = text(3 * slice);
  const TemporaryFile in(plain), out;
  SlicedFile job, other;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd()), STOCKADE_OK);
  Buffer terms(STOCKADE_SHARED_TERMS_BYTES);
  job.export_terms(terms.data());
  // Name and numbers of the version.
  for (uint64_t i = 0; i < 48; ++i) {
    Buffer changed = terms;
    changed[i] ^= static_cast<uint8_t>(1 << random_.below(8));
    EXPECT_EQ(other.import_terms(changed.data()), STOCKADE_ERROR_MISMATCH) << i;
  }
  // Whatever else is changed: refused, or of no consequence for the key.
  uint64_t refused = 0;
  for (uint64_t i = 48; i < terms.size(); ++i) {
    Buffer changed = terms;
    changed[i] ^= static_cast<uint8_t>(1 << random_.below(8));
    const Status status = other.import_terms(changed.data());
    EXPECT_TRUE(status == STOCKADE_OK || status == STOCKADE_ERROR_MISMATCH) << i;
    refused += status == STOCKADE_ERROR_MISMATCH ? 1 : 0;
  }
  EXPECT_GE(refused, chunked::preamble_bytes + file_key_bytes);
  EXPECT_EQ(other.import_terms(Buffer(terms.size()).data()), STOCKADE_ERROR_MISMATCH);
}

TEST_F(SlicedFiles, are_taken_up_from_the_journal) {
  for (const bool sealing : {true, false}) {
    const Buffer plain = text(9 * slice + 77), expected = sealed(plain);
    const TemporaryFile in(sealing ? plain : expected), out, journal;
    {
      SlicedFile job;
      const auto kind = sealing ? STOCKADE_SHARED_ENCRYPT : STOCKADE_SHARED_DECRYPT;
      ASSERT_EQ(create(job, kind, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
      EXPECT_EQ(missing(job, journal), all(10));
      ASSERT_EQ(run(job, in, out, {9, 2, 3}, journal.fd()), STOCKADE_OK);
      EXPECT_EQ(work_.slices, 3U);
    }
    SlicedFile later;
    ASSERT_EQ(later.open_journal(journal.fd(), ring_, 0, fault_), STOCKADE_OK);
    EXPECT_EQ(info(later).has_journal, 1);
    EXPECT_EQ(missing(later, journal), (std::vector<uint64_t>{0, 1, 4, 5, 6, 7, 8}));
    EXPECT_EQ(later.check(out.fd(), journal.fd(), fault_), STOCKADE_ERROR_INCOMPLETE);
    ASSERT_EQ(run(later, in, out, missing(later, journal), journal.fd(), threads), STOCKADE_OK);
    EXPECT_EQ(missing(later, journal), std::vector<uint64_t>{});
    EXPECT_EQ(later.check(out.fd(), journal.fd(), fault_), STOCKADE_OK);
    EXPECT_EQ(out.content(), sealing ? expected : plain);
  }
}

// docs/format.md, the journal of slices, over OpenSSL's HMAC.
TEST_F(SlicedFiles, write_their_journal_as_the_document_says) {
  const Buffer plain = text(3 * slice + 40);
  const TemporaryFile in(plain), out, journal;
  SlicedFile job;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  ASSERT_EQ(run(job, in, out, {1, 3}, journal.fd()), STOCKADE_OK);
  struct stat input;
  ASSERT_EQ(::fstat(in.fd(), &input), 0);

  // What create() has drawn: the file key, salt of its stanza, salt of the payload, id, salt of the plan's stanza.
  uint8_t next = 9;
  const auto draw = [&](uint64_t length) {
    Buffer drawn(length);
    for (uint8_t& byte : drawn) byte = next++;
    return drawn;
  };
  const Buffer file_key = draw(32), key_salt = draw(16), salt = draw(24);
  const Buffer id = draw(16);
  const std::string label = "stockade/v2 journal";
  const Buffer plan_key = tests::oracle_hkdf_expand(file_key, Buffer(label.begin(), label.end()), 32);
  const auto mac = [&](const Buffer& message) {
    Buffer result(32);
    unsigned length = 0;
    HMAC(EVP_sha256(), plan_key.data(), 32, message.data(), message.size(), result.data(), &length);
    return result;
  };
  const auto append = [](Buffer& to, const Buffer& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); };
  const auto number = [](uint64_t value) {
    Buffer bytes(8);
    for (int i = 7; i >= 0; --i, value >>= 8) bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(value);
    return bytes;
  };

  const std::string name = "stockade journal v2\n";
  Buffer expected(name.begin(), name.end());
  expected.resize(24);
  const uint64_t header_length = info(job).beginning_length - chunked::preamble_bytes;
  for (const uint64_t value :
       {uint64_t{0}, header_length, uint64_t{plain.size()}, segment_chunks, static_cast<uint64_t>(input.st_size),
        static_cast<uint64_t>(input.st_mtim.tv_sec), static_cast<uint64_t>(input.st_mtim.tv_nsec),
        static_cast<uint64_t>(input.st_ctim.tv_sec), static_cast<uint64_t>(input.st_ctim.tv_nsec),
        static_cast<uint64_t>(input.st_ino), static_cast<uint64_t>(input.st_dev)}) {
    append(expected, number(value));
  }
  Buffer machine;
  std::ifstream boot_id("/proc/sys/kernel/random/boot_id");
  for (char digits[3] = {}; boot_id >> digits[0];) {
    if (digits[0] == '-') continue;
    boot_id >> digits[1];
    machine.push_back(static_cast<uint8_t>(std::stoi(digits, nullptr, 16)));
  }
  machine.resize(16);
  append(expected, machine);
  append(expected, id);
  Buffer preamble(chunked::preamble_bytes);
  tests::read_exactly(out.fd(), header_length, preamble.data(), preamble.size());
  append(expected, preamble);
  append(expected, mac(expected));
  const Buffer whole = journal.content();
  // The header before it is one for the key of the output.
  Header header;
  uint64_t length = 0;
  FileKey opened;
  ASSERT_EQ(parse_header(whole, header, &length, fault_), STOCKADE_OK);
  ASSERT_EQ(unwrap_file_key(ring_, header, 0, opened.bytes, fault_), STOCKADE_OK);
  EXPECT_TRUE(std::equal(file_key.begin(), file_key.end(), opened.bytes));
  // Zeros make the records lie at multiples of their length.
  expected.resize((length + expected.size() + 63) / 64 * 64 - length);
  const auto message = [&](const std::string& word, uint64_t i) {
    Buffer made(word.begin(), word.end());
    append(made, id);
    append(made, salt);
    append(made, number(i));
    return made;
  };
  const Buffer file = sealed(plain);
  for (uint64_t i = 0; i < 4; ++i) {
    if (i % 2 == 0) {
      expected.resize(expected.size() + 64);
      continue;
    }
    Buffer digested = message("slice", i);
    for (uint64_t chunk = i * segment_chunks; chunk < (i + 1) * segment_chunks; ++chunk) {
      const uint64_t end = std::min<uint64_t>(header_length + chunked::chunk_offset(chunk + 1), file.size());
      if (header_length + chunked::chunk_offset(chunk) >= file.size()) break;
      digested.insert(digested.end(), file.begin() + static_cast<std::ptrdiff_t>(end - chunked::tag_bytes),
                      file.begin() + static_cast<std::ptrdiff_t>(end));
    }
    const Buffer digest = mac(digested);
    Buffer state = message("done", i);
    append(state, digest);
    append(expected, digest);
    append(expected, mac(state));
  }
  ASSERT_EQ(length + expected.size(), whole.size());
  const Buffer found(whole.end() - static_cast<std::ptrdiff_t>(expected.size()), whole.end());
  EXPECT_EQ(found, expected);
}

TEST_F(SlicedFiles, open_their_journal_with_its_keys_only) {
  const TemporaryFile in(text(2 * slice)), out, journal;
  const Keyring own = keys_of({50}), passphrase = passphrase_of("correct");
  Options wish = options(STOCKADE_SHARED_ENCRYPT, journal.fd());
  for (const Keyring* const ring : {&own, &passphrase}) {
    SlicedFile job, other;
    wish.journal_keyring = ring;
    ASSERT_EQ(job.create(format_, in.fd(), out.fd(), wish, serial, system_random(), fault_), STOCKADE_OK);
    EXPECT_EQ(other.open_journal(journal.fd(), *ring, 0, fault_), STOCKADE_OK);
    // The key of the output is not that of the journal.
    EXPECT_EQ(other.open_journal(journal.fd(), ring_, 0, fault_), STOCKADE_ERROR_NO_IDENTITY);
  }
  SlicedFile other;
  EXPECT_EQ(other.open_journal(journal.fd(), passphrase_of("wrong"), 0, fault_), STOCKADE_ERROR_PASSPHRASE);
  EXPECT_EQ(other.open_journal(journal.fd(), passphrase, 3, fault_), STOCKADE_ERROR_WORK_FACTOR);
  EXPECT_EQ(fault_.value, 4U);
}

TEST_F(SlicedFiles, refuse_a_journal_with_any_byte_changed) {
  const Buffer plain = text(5 * slice);
  const TemporaryFile in(plain), out, journal;
  SlicedFile job;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  ASSERT_EQ(run(job, in, out, {0, 1, 3, 4}, journal.fd()), STOCKADE_OK);
  const Buffer whole = journal.content();
  const uint64_t records = whole.size() - 5 * Records::record_bytes, terms = 24 + terms_record_bytes + 32;
  Header header;
  uint64_t header_length = 0;
  ASSERT_EQ(parse_header(whole, header, &header_length, fault_), STOCKADE_OK);
  for (uint64_t i = 0; i < whole.size(); ++i) {
    Buffer damaged = whole;
    damaged[i] ^= static_cast<uint8_t>(1 << random_.below(8));
    const TemporaryFile bad(damaged);
    SlicedFile other;
    const Status status = other.open_journal(bad.fd(), ring_, 0, fault_);
    if (i >= header_length + terms && i < records) continue;  // what only fills
    if (i < records) {
      ASSERT_NE(status, STOCKADE_OK) << i;
      // Who knows the terms already looks at what the journal says of them.
      if (i < header_length) continue;
      ASSERT_EQ(run(job, in, out, {0}, bad.fd()), STOCKADE_ERROR_JOURNAL) << i;
      continue;
    }
    ASSERT_EQ(status, STOCKADE_OK) << i;
    const uint64_t hit = (i - records) / Records::record_bytes;
    std::vector<uint64_t> expected = {2};
    if (hit != 2) expected.insert(hit < 2 ? expected.begin() : expected.end(), hit);
    ASSERT_EQ(missing(other, bad), expected) << i;
  }
}

TEST_F(SlicedFiles, seal_no_slice_whose_record_was_lost) {
  const TemporaryFile in(text(4 * slice)), out, journal;
  SlicedFile job;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  ASSERT_EQ(run(job, in, out, all(4), journal.fd()), STOCKADE_OK);
  Buffer whole = journal.content();
  for (uint64_t cut = 1; cut <= 4 * Records::record_bytes; cut += cut % 4 == 0 ? 12 : 1) {
    const TemporaryFile torn(whole);
    torn.resize(whole.size() - cut);
    const uint64_t left = 4 - (cut + Records::record_bytes - 1) / Records::record_bytes;
    const std::vector<uint64_t> slices = all(4);
    EXPECT_EQ(missing(job, torn),
              std::vector<uint64_t>(slices.begin() + static_cast<std::ptrdiff_t>(left), slices.end()));
    // The output holds what no record is about, so it cannot be known what was sealed there.
    const TemporaryFile kept(out.content());
    EXPECT_EQ(run(job, in, kept, {left}, torn.fd()), STOCKADE_ERROR_JOURNAL);
    EXPECT_EQ(work_.fault.chunk, left * segment_chunks);
    EXPECT_EQ(kept.content(), out.content());
    // Where nothing was written, nothing was sealed.
    Buffer blank = out.content();
    std::fill(blank.begin() + static_cast<std::ptrdiff_t>(info(job).beginning_length + left * sealed_slice),
              blank.end(), uint8_t{0});
    const TemporaryFile partial(blank);
    if (cut % Records::record_bytes != 0) {
      // A part of a record is none that storage leaves, for it lies within one sector.
      EXPECT_EQ(run(job, in, partial, {left}, torn.fd()), STOCKADE_ERROR_JOURNAL);
      continue;
    }
    ASSERT_EQ(run(job, in, partial, missing(job, torn), torn.fd()), STOCKADE_OK);
    EXPECT_EQ(partial.content(), out.content());
    EXPECT_EQ(torn.content(), whole);
  }
  // A record is that of one slice, and of one job.
  const auto record = whole.end() - Records::record_bytes;
  std::copy(record, whole.end(), record - Records::record_bytes);
  EXPECT_EQ(missing(job, TemporaryFile(whole)), std::vector<uint64_t>{2});
  // What ends before its terms do was never a job.
  SlicedFile other;
  for (const uint64_t length : {0, 5, 100}) {
    const TemporaryFile torn(Buffer(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_EQ(other.open_journal(torn.fd(), ring_, 0, fault_), STOCKADE_ERROR_TRUNCATED) << length;
  }
  EXPECT_EQ(other.open_journal(TemporaryFile(Buffer(2000)).fd(), ring_, 0, fault_), STOCKADE_ERROR_TRUNCATED);
  const TemporaryFile torn(whole);
  torn.resize(whole.size() - 4 * Records::record_bytes - 64);
  EXPECT_EQ(other.open_journal(torn.fd(), ring_, 0, fault_), STOCKADE_ERROR_TRUNCATED);
  EXPECT_EQ(other.open_journal(TemporaryFile(text(3000)).fd(), ring_, 0, fault_), STOCKADE_ERROR_JOURNAL);
}

TEST_F(SlicedFiles, keep_to_their_own_files) {
  const Buffer plain = text(3 * slice), file = sealed(plain);
  const TemporaryFile in(plain), out, journal, other_out, other_journal;
  SlicedFile job, other;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  ASSERT_EQ(create(other, STOCKADE_SHARED_ENCRYPT, in.fd(), other_out.fd(), other_journal.fd(), slice, 77),
            STOCKADE_OK);
  EXPECT_EQ(run(job, in, other_out, {0}, journal.fd()), STOCKADE_ERROR_JOURNAL);
  EXPECT_EQ(run(job, in, out, {0}, other_journal.fd()), STOCKADE_ERROR_JOURNAL);
  std::vector<uint64_t> slices;
  EXPECT_EQ(job.find_missing(other_journal.fd(), slices), STOCKADE_ERROR_JOURNAL);
  EXPECT_EQ(other_out.content(), sealed({}, 77).size() < other_out.size() ? other_out.content() : Buffer());
  // Two jobs that open one file have its key and salt in common, and no record.
  const TemporaryFile sealed_file(file), first_out, second_out, first_journal, second_journal;
  SlicedFile first, second;
  ASSERT_EQ(create(first, STOCKADE_SHARED_DECRYPT, sealed_file.fd(), first_out.fd(), first_journal.fd()), STOCKADE_OK);
  ASSERT_EQ(create(second, STOCKADE_SHARED_DECRYPT, sealed_file.fd(), second_out.fd(), second_journal.fd(), slice, 77),
            STOCKADE_OK);
  ASSERT_EQ(run(first, sealed_file, first_out, all(3), first_journal.fd()), STOCKADE_OK);
  EXPECT_EQ(second.find_missing(first_journal.fd(), slices), STOCKADE_ERROR_JOURNAL);
  const Buffer done = first_journal.content();
  const uint64_t records = 3 * Records::record_bytes, begin = done.size() - records;
  tests::write_exactly(second_journal.fd(), second_journal.size() - records, done.data() + begin, records);
  EXPECT_EQ(missing(second, second_journal), all(3));
}

TEST_F(SlicedFiles, refuse_an_input_that_has_changed) {
  const Buffer plain = text(3 * slice);
  for (const bool elsewhere : {false, true}) {
    const TemporaryFile in(plain), copy(plain), out;
    SlicedFile made, job;
    ASSERT_EQ(create(made, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd()), STOCKADE_OK);
    Buffer terms(STOCKADE_SHARED_TERMS_BYTES);
    made.export_terms(terms.data());
    // The boot's id is the last of the input's identity: name, version, four numbers and seven. Device numbers, the last of
    // these, mean nothing in another boot.
    constexpr uint64_t boot_id = 24 + 24 + 32 + 56;
    if (elsewhere) terms[boot_id] ^= 1;
    terms[boot_id - 1] ^= 1;
    ASSERT_EQ(job.import_terms(terms.data()), STOCKADE_OK);
    EXPECT_EQ(run(job, in, out, {0}), elsewhere ? STOCKADE_OK : STOCKADE_ERROR_INPUT_CHANGED);
    terms[boot_id - 1] ^= 1;
    if (!elsewhere) {
      ASSERT_EQ(job.import_terms(terms.data()), STOCKADE_OK);
      EXPECT_EQ(run(job, in, out, {0}), STOCKADE_OK);
    }
    EXPECT_EQ(work_.fault.chunk, UINT64_MAX);
    struct timespec later = modified(in);
    later.tv_sec += 1;
    set_modified(copy, later);
    EXPECT_EQ(run(job, copy, out, {1}), STOCKADE_ERROR_INPUT_CHANGED);
    // A copy with the same time is another file, on any machine; whoever knows better says so.
    set_modified(copy, modified(in));
    EXPECT_EQ(run(job, copy, out, {1}), STOCKADE_ERROR_INPUT_CHANGED);
    accepts_ = true;
    EXPECT_EQ(run(job, copy, out, {2}), STOCKADE_OK);
    copy.resize(plain.size() - 1);
    EXPECT_EQ(run(job, copy, out, {1}), STOCKADE_ERROR_INPUT_CHANGED);
    accepts_ = false;
    // The time of change alone, once the clock has gone on.
    ::usleep(50000);
    struct timespec time = modified(in);
    set_modified(in, time);
    EXPECT_EQ(run(job, in, out, {1}), STOCKADE_ERROR_INPUT_CHANGED);
    time.tv_nsec ^= 1;
    set_modified(in, time);
    EXPECT_EQ(run(job, in, out, {1}), STOCKADE_ERROR_INPUT_CHANGED);
    in.resize(plain.size() - 1);
    time.tv_nsec ^= 1;
    set_modified(in, time);
    EXPECT_EQ(run(job, in, out, {1}), STOCKADE_ERROR_INPUT_CHANGED);
  }
}

// Between two slices, and while one is read: what was read of another file is not recorded.
TEST_F(SlicedFiles, notice_a_change_on_the_way) {
  const TemporaryFile in(text(4 * slice)), out, journal;
  SlicedFile job;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  struct Meddler {
    const TemporaryFile& in;
    uint64_t asked;
  } meddler{in, 0};
  work_ = {};
  work_.in_fd = in.fd();
  work_.out_fd = out.fd();
  work_.journal_fd = journal.fd();
  work_.next_context = &meddler;
  work_.next = [](void* context) { return static_cast<Meddler*>(context)->asked++; };
  work_.progress_context = &meddler;
  work_.progress = [](void* context, uint64_t, uint64_t) {
    Meddler& self = *static_cast<Meddler*>(context);
    if (self.asked == 3) set_modified(self.in, {1, 2});
    return 0;
  };
  EXPECT_EQ(job.run(work_, serial, {.progress_interval = 0}), STOCKADE_ERROR_INPUT_CHANGED);
  EXPECT_EQ(work_.slices, 2U);
  EXPECT_EQ(missing(job, journal), (std::vector<uint64_t>{2, 3}));
}

// Writes zeros where a slice belongs, as storage does that has lost what was written.
void lose_slice(const TemporaryFile& out, const stockade_shared_info& info, uint64_t number) {
  const Buffer zeros(sealed_slice);
  tests::write_exactly(out.fd(), info.beginning_length + number * sealed_slice, zeros.data(), zeros.size());
}

// Whatever storage loses, a slice that was begun is sealed with the same plaintext or not at all.
TEST_F(SlicedFiles, seal_no_other_plaintext_once_a_slice_was_begun) {
  const Buffer plain = text(4 * slice), expected = sealed(plain);
  Buffer changed = plain;
  changed[slice + 70000] ^= 1;
  const TemporaryFile in(plain), other(changed), out, journal;
  SlicedFile job;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  ASSERT_EQ(run(job, in, out, {0, 1, 2}, journal.fd()), STOCKADE_OK);
  lose_slice(out, info(job), 1);
  const Buffer before = out.content(), records = journal.content();
  accepts_ = true;
  EXPECT_EQ(run(job, other, out, {1}, journal.fd()), STOCKADE_ERROR_INPUT_CHANGED);
  EXPECT_EQ(work_.fault.chunk, segment_chunks);
  EXPECT_EQ(out.content(), before);
  EXPECT_EQ(journal.content(), records);
  // Others have not changed, and what was never begun may be anything.
  EXPECT_EQ(run(job, other, out, {0, 2, 3}, journal.fd()), STOCKADE_OK);
  EXPECT_EQ(run(job, in, out, {1}, journal.fd()), STOCKADE_OK);
  EXPECT_EQ(out.content(), expected);
}

TEST_F(SlicedFiles, seal_nothing_where_a_record_was_altered) {
  const Buffer plain = text(3 * slice);
  const TemporaryFile in(plain), out, journal;
  SlicedFile job;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  ASSERT_EQ(run(job, in, out, all(3), journal.fd()), STOCKADE_OK);
  lose_slice(out, info(job), 1);
  const uint64_t record = journal.size() - 2 * Records::record_bytes;
  for (const uint64_t place : {uint64_t{0}, uint64_t{31}, uint64_t{32}, uint64_t{63}}) {
    Buffer altered = journal.content();
    altered[record + place] ^= 0x40;
    const TemporaryFile bad(altered);
    EXPECT_EQ(run(job, in, out, {1}, bad.fd()), STOCKADE_ERROR_JOURNAL);
    EXPECT_EQ(work_.fault.chunk, segment_chunks);
    EXPECT_EQ(bad.content(), altered);
  }
  // The record of another slice is none of this one.
  Buffer altered = journal.content();
  std::copy_n(altered.begin() + static_cast<std::ptrdiff_t>(record - 64), 64,
              altered.begin() + static_cast<std::ptrdiff_t>(record));
  EXPECT_EQ(run(job, in, out, {1}, TemporaryFile(altered).fd()), STOCKADE_ERROR_JOURNAL);
}

// Without a journal the job itself remembers; another process finds the output written and stays away.
TEST_F(SlicedFiles, seal_no_other_plaintext_without_a_journal) {
  const Buffer plain = text(3 * slice), expected = sealed(plain);
  Buffer changed = plain;
  changed[2 * slice] ^= 1;
  const TemporaryFile in(plain), other(changed), out;
  SlicedFile job, elsewhere;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd()), STOCKADE_OK);
  ASSERT_EQ(run(job, in, out, all(3)), STOCKADE_OK);
  accepts_ = true;
  lose_slice(out, info(job), 2);
  EXPECT_EQ(run(job, other, out, {2}), STOCKADE_ERROR_INPUT_CHANGED);
  EXPECT_EQ(run(job, in, out, {2}), STOCKADE_OK);
  EXPECT_EQ(out.content(), expected);
  Buffer terms(STOCKADE_SHARED_TERMS_BYTES);
  job.export_terms(terms.data());
  ASSERT_EQ(elsewhere.import_terms(terms.data()), STOCKADE_OK);
  EXPECT_EQ(run(elsewhere, other, out, {2}), STOCKADE_ERROR_JOURNAL);
  EXPECT_EQ(out.content(), expected);
}

// Threads that have read different contents for one slice: one of them is admitted, with a journal and without one.
TEST_F(SlicedFiles, admit_one_of_two_contents_that_threads_have_at_once) {
  const TemporaryFile in(text(slice)), out, journal;
  SlicedFile job;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  for (const int fd : {journal.fd(), -1}) {
    Records records;
    ASSERT_EQ(records.open(fd, job.terms()), STOCKADE_OK);
    Status statuses[2];
    std::vector<std::thread> workers;
    for (uint8_t i = 0; i < 2; ++i) {
      workers.emplace_back([&, i] {
        SliceDigest digest;
        uint64_t ticket = 0;
        EXPECT_EQ(records.digest(0, Buffer(16, i), digest), STOCKADE_OK);
        // So long that the other one comes meanwhile.
        const auto blank = [](bool& is) {
          ::usleep(50000);
          is = true;
          return STOCKADE_OK;
        };
        statuses[i] = records.begin(0, digest, blank, ticket);
      });
    }
    for (std::thread& worker : workers) worker.join();
    EXPECT_EQ(std::min(statuses[0], statuses[1]), STOCKADE_OK) << fd;
    EXPECT_EQ(std::max(statuses[0], statuses[1]), STOCKADE_ERROR_INPUT_CHANGED) << fd;
  }
}

// Output that was altered between two runs is noticed, wherever it was, and made again.
TEST_F(SlicedFiles, read_back_what_was_done) {
  const Buffer plain = text(5 * slice + 100), file = sealed(plain);
  for (const bool sealing : {true, false}) {
    const Buffer& right = sealing ? file : plain;
    const TemporaryFile in(sealing ? plain : file), out, journal;
    SlicedFile job;
    const auto kind = sealing ? STOCKADE_SHARED_ENCRYPT : STOCKADE_SHARED_DECRYPT;
    ASSERT_EQ(create(job, kind, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
    ASSERT_EQ(run(job, in, out, all(6), journal.fd(), threads), STOCKADE_OK);
    ASSERT_EQ(out.content(), right);
    const uint64_t begin = sealing ? info(job).beginning_length : 0, each = sealing ? sealed_slice : slice;
    for (uint64_t i = 0; i < 40; ++i) {
      const uint64_t first = random_.below(6), last = random_.between(first, 5);
      const uint64_t from = std::min<uint64_t>(begin + first * each + random_.below(each), right.size() - 1);
      const uint64_t to =
          last == first ? from : std::min<uint64_t>(begin + last * each + random_.below(each), right.size() - 1);
      Buffer damaged = right;
      for (uint64_t at = from; at <= to; at += 1000) damaged[at] ^= 0x20;
      const uint64_t hit_first = (from - begin) / each,
                     hit_last = std::min<uint64_t>((from + (to - from) / 1000 * 1000 - begin) / each, 5);
      const TemporaryFile bad(damaged), noted(journal.content());
      std::vector<uint64_t> expected;
      for (uint64_t s = std::min<uint64_t>(hit_first, 5); s <= hit_last; ++s) expected.push_back(s);
      ASSERT_EQ(read_back(job, bad, noted, all(6), i % 2 == 0 ? serial : threads), STOCKADE_ERROR_CHUNK);
      EXPECT_EQ(work_.fault.chunk, expected.front() * segment_chunks);
      EXPECT_EQ(work_.slices, 6 - expected.size());
      EXPECT_EQ(missing(job, noted), expected);
      // A second look finds that they are not done.
      EXPECT_EQ(read_back(job, bad, noted, {expected.front()}), STOCKADE_ERROR_INCOMPLETE);
      // Without that, they are found by whoever goes on.
      const TemporaryFile still(journal.content());
      ASSERT_EQ(run(job, in, bad, all(6), i % 2 == 0 ? noted.fd() : still.fd(), threads), STOCKADE_OK);
      EXPECT_EQ(work_.slices, 6U);
      ASSERT_EQ(bad.content(), right);
    }
    // What is cut off is not there either.
    const TemporaryFile cut(right), noted(journal.content());
    cut.resize(begin + 3 * each + 5);
    ASSERT_EQ(read_back(job, cut, noted, all(6)), STOCKADE_ERROR_CHUNK);
    EXPECT_EQ(missing(job, noted), (std::vector<uint64_t>{3, 4, 5}));
    ASSERT_EQ(run(job, in, cut, all(6), noted.fd()), STOCKADE_OK);
    EXPECT_EQ(cut.content(), right);
    EXPECT_EQ(read_back(job, cut, noted, all(6)), STOCKADE_OK);
    EXPECT_EQ(work_.out_length, right.size() - begin);
  }
}

TEST_F(SlicedFiles, report_damage_as_one_process_does) {
  const Buffer plain = text(6 * slice + 100), file = sealed(plain);
  const uint64_t header = file.size() - chunked::preamble_bytes - chunked::sealed_length(plain.size(), true);
  for (uint64_t i = 0; i < 20; ++i) {
    Buffer damaged = file;
    std::vector<uint64_t> hit;
    for (uint64_t n = random_.between(1, 4); n != 0; --n) {
      // The last chunk is opened beforehand; that has a test of its own.
      const uint64_t chunk = random_.below(6 * segment_chunks);
      damaged[header + chunked::chunk_offset(chunk) + random_.below(chunked::sealed_chunk_bytes)] ^= 0x10;
      hit.push_back(chunk);
    }
    const TemporaryFile in(damaged), out, one;
    stockade_file_job plain_job{};
    std::vector<Damage> expected;
    plain_job.damage = Damage::add;
    plain_job.damage_context = &expected;
    ASSERT_EQ(verify_fd(format_, in.fd(), plain_job, serial), STOCKADE_ERROR_CHUNK);
    SlicedFile verifying, opening;
    ASSERT_EQ(create(verifying, STOCKADE_SHARED_VERIFY, in.fd(), -1), STOCKADE_OK);
    std::vector<uint64_t> order = all(count(verifying));
    std::reverse(order.begin(), order.end());
    ASSERT_EQ(run(verifying, in, in, order), STOCKADE_ERROR_CHUNK);
    EXPECT_EQ(work_.fault.chunk, plain_job.fault.chunk);
    EXPECT_EQ(work_.fault.offset, plain_job.fault.offset);
    EXPECT_EQ(work_.out_length, plain_job.out_length);
    std::vector<uint64_t> listed, wanted;
    for (const Damage& damage : damages_) {
      for (uint64_t k = 0; k < damage.count; ++k) listed.push_back(damage.chunk + k);
    }
    for (const Damage& damage : expected) {
      for (uint64_t k = 0; k < damage.count; ++k) wanted.push_back(damage.chunk + k);
    }
    std::sort(listed.begin(), listed.end());
    EXPECT_EQ(listed, wanted);

    // Each slice by itself: those that are damaged say where, and the others are as they should be.
    ASSERT_EQ(create(opening, STOCKADE_SHARED_DECRYPT, in.fd(), out.fd()), STOCKADE_OK);
    for (uint64_t s = 0; s < count(opening); ++s) {
      uint64_t first = UINT64_MAX;
      for (const uint64_t chunk : hit) {
        if (chunk / segment_chunks == s) first = std::min(first, chunk);
      }
      const Status status = run(opening, in, out, {s});
      ASSERT_EQ(status, first == UINT64_MAX ? STOCKADE_OK : STOCKADE_ERROR_CHUNK);
      EXPECT_EQ(work_.fault.chunk, first);
      const uint64_t length = std::min(slice, plain.size() - s * slice);
      Buffer got(length), none(length);
      tests::read_exactly(out.fd(), s * slice, got.data(), length);
      const Buffer right(plain.begin() + static_cast<std::ptrdiff_t>(s * slice),
                         plain.begin() + static_cast<std::ptrdiff_t>(s * slice + length));
      EXPECT_EQ(got, first == UINT64_MAX ? right : none) << "plaintext of a slice that is not authentic";
    }
  }
}

TEST_F(SlicedFiles, refuse_a_file_that_was_cut_or_added_to) {
  const Buffer file = sealed(text(3 * slice + 5));
  const TemporaryFile out;
  SlicedFile job;
  const auto status_of = [&](const Buffer& changed, stockade_shared_kind kind) {
    const TemporaryFile in(changed);
    stockade_file_job one{};
    const Status expected = decrypt_fd(format_, in.fd(), TemporaryFile().fd(), one, serial);
    const Status status = create(job, kind, in.fd(), out.fd());
    if (kind == STOCKADE_SHARED_DECRYPT) {
      EXPECT_EQ(status, expected);
      EXPECT_EQ(fault_.chunk, one.fault.chunk);
      EXPECT_EQ(fault_.offset, one.fault.offset);
      return status;
    }
    return status != STOCKADE_OK ? status : run(job, in, out, all(count(job)));
  };
  for (const auto kind : {STOCKADE_SHARED_DECRYPT, STOCKADE_SHARED_VERIFY}) {
    Buffer cut(file.begin(), file.end() - 1);
    EXPECT_EQ(status_of(cut, kind), STOCKADE_ERROR_CHUNK);
    cut.resize(file.size() - 21);
    EXPECT_EQ(status_of(cut, kind), STOCKADE_ERROR_TRUNCATED);
    cut.resize(100);
    EXPECT_EQ(status_of(cut, kind), STOCKADE_ERROR_TRUNCATED);
    EXPECT_EQ(status_of({}, kind), STOCKADE_ERROR_TRUNCATED);
    Buffer longer = file;
    longer.push_back(0);
    EXPECT_EQ(status_of(longer, kind), STOCKADE_ERROR_TRAILING_DATA);
    Buffer damaged = file;
    damaged.back() ^= 1;
    EXPECT_EQ(status_of(damaged, kind), STOCKADE_ERROR_CHUNK);
    // The first damage is reported, also where the last chunk is bad.
    damaged[file.size() / 2] ^= 1;
    EXPECT_EQ(status_of(damaged, kind), STOCKADE_ERROR_CHUNK);
    damaged = file;
    damaged[3] ^= 1;
    EXPECT_EQ(status_of(damaged, kind), STOCKADE_ERROR_MAGIC);
  }
}

TEST_F(SlicedFiles, check_the_output_before_it_gets_its_name) {
  const Buffer plain = text(4 * slice);
  const TemporaryFile in(plain), out, journal;
  SlicedFile job;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  ASSERT_EQ(run(job, in, out, all(4), journal.fd()), STOCKADE_OK);
  const Buffer whole = out.content(), records = journal.content();
  const uint64_t begin = info(job).beginning_length;
  // A byte at both sides of a border.
  for (const uint64_t offset : {begin, begin + 2 * sealed_slice - 1, begin + 2 * sealed_slice, whole.size() - 1}) {
    Buffer damaged = whole;
    damaged[offset] ^= 2;
    const TemporaryFile bad(damaged), noted(records);
    EXPECT_EQ(job.check(bad.fd(), noted.fd(), fault_), STOCKADE_ERROR_CHUNK);
    EXPECT_LE(fault_.offset, offset);
    EXPECT_GT(fault_.offset + chunked::sealed_chunk_bytes, offset);
    const std::vector<uint64_t> again = missing(job, noted);
    EXPECT_EQ(again, std::vector<uint64_t>{std::min<uint64_t>((offset - begin) / sealed_slice, 3)});
  }
  // Zeros, as where another process has written less than it should: done again, it is right.
  Buffer torn = whole;
  std::fill_n(torn.begin() + static_cast<std::ptrdiff_t>(begin + sealed_slice), 50, uint8_t{0});
  const TemporaryFile bad(torn), noted(records);
  EXPECT_EQ(job.check(bad.fd(), noted.fd(), fault_), STOCKADE_ERROR_CHUNK);
  ASSERT_EQ(run(job, in, bad, missing(job, noted), noted.fd()), STOCKADE_OK);
  EXPECT_EQ(job.check(bad.fd(), noted.fd(), fault_), STOCKADE_OK);
  EXPECT_EQ(bad.content(), whole);
  // Header, length.
  Buffer damaged = whole;
  damaged[40] ^= 1;
  EXPECT_EQ(job.check(TemporaryFile(damaged).fd(), journal.fd(), fault_), STOCKADE_ERROR_JOURNAL);
  out.resize(whole.size() - 1);
  EXPECT_EQ(job.check(out.fd(), journal.fd(), fault_), STOCKADE_ERROR_JOURNAL);
  out.resize(whole.size() + 1);
  EXPECT_EQ(job.check(out.fd(), -1, fault_), STOCKADE_ERROR_JOURNAL);
}

TEST_F(SlicedFiles, record_what_is_done_when_they_are_stopped) {
  const Buffer plain = text(8 * slice);
  const TemporaryFile in(plain), out, journal;
  SlicedFile job;
  ASSERT_EQ(create(job, STOCKADE_SHARED_ENCRYPT, in.fd(), out.fd(), journal.fd()), STOCKADE_OK);
  struct Patience {
    uint64_t bytes, last = 0;
    bool ordered = true;
  } patience{3 * slice + slice / 2};
  List list{all(8)};
  work_ = {};
  work_.in_fd = in.fd();
  work_.out_fd = out.fd();
  work_.journal_fd = journal.fd();
  work_.next = List::take;
  work_.next_context = &list;
  work_.total = plain.size();
  work_.progress_context = &patience;
  work_.progress = [](void* context, uint64_t done, uint64_t total) {
    Patience& self = *static_cast<Patience*>(context);
    self.ordered = self.ordered && done >= self.last && done <= total && total == 8 * slice;
    self.last = done;
    return done >= self.bytes ? 1 : 0;
  };
  EXPECT_EQ(job.run(work_, serial, {.progress_interval = 0}), STOCKADE_ERROR_CANCELLED);
  EXPECT_TRUE(patience.ordered);
  EXPECT_EQ(work_.slices, 3U);
  EXPECT_EQ(missing(job, journal), (std::vector<uint64_t>{3, 4, 5, 6, 7}));
  work_.fault = {};
  patience.bytes = UINT64_MAX;
  patience.last = 0;
  list = {missing(job, journal)};
  EXPECT_EQ(job.run(work_, threads, {.progress_interval = 0}), STOCKADE_OK);
  EXPECT_EQ(patience.last, 5 * slice);
  EXPECT_EQ(out.content(), sealed(plain));
}

TEST_F(SlicedFiles, refuse_what_cannot_be) {
  const Buffer plain = text(2 * slice);
  const TemporaryFile in(plain), out, journal, sealed_file(sealed(plain));
  SlicedFile job;
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const int append = out.reopen(O_RDWR | O_APPEND), write_only = out.reopen(O_WRONLY), read_only = out.reopen(O_RDONLY);
  const int proc = ::open("/proc/self/status", O_RDONLY);
  const auto create_with = [&](int in_fd, int out_fd, int journal_fd = -1, uint64_t slice_bytes = slice) {
    return create(job, STOCKADE_SHARED_ENCRYPT, in_fd, out_fd, journal_fd, slice_bytes);
  };
  for (const int fd : {append, write_only, read_only, pipe[1]}) {
    EXPECT_EQ(create_with(in.fd(), fd), STOCKADE_ERROR_MODE);
    EXPECT_EQ(create_with(in.fd(), journal.fd(), fd), STOCKADE_ERROR_MODE);
  }
  EXPECT_EQ(create_with(pipe[0], out.fd()), STOCKADE_ERROR_MODE);
  EXPECT_EQ(create_with(proc, out.fd()), STOCKADE_ERROR_MODE);
  EXPECT_EQ(create_with(9999, out.fd()), STOCKADE_ERROR_IO);
  EXPECT_EQ(create_with(in.fd(), in.fd()), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(create_with(in.fd(), out.fd(), in.fd()), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(create_with(in.fd(), out.fd(), out.fd()), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(create_with(-1, out.fd(), journal.fd()), STOCKADE_ERROR_MODE);
  for (const uint64_t bytes : {slice - 1, slice / 2, 3 * slice, slice + 16384, UINT64_MAX}) {
    EXPECT_EQ(create_with(in.fd(), out.fd(), -1, bytes), STOCKADE_ERROR_ARGUMENT) << bytes;
  }
  EXPECT_EQ(create(job, STOCKADE_SHARED_VERIFY, sealed_file.fd(), -1, journal.fd()), STOCKADE_ERROR_MODE);
  EXPECT_EQ(create(job, STOCKADE_SHARED_DECRYPT, -1, out.fd()), STOCKADE_ERROR_MODE);
  FileFormat other = format_;
  other.armor = true;
  EXPECT_EQ(job.create(other, in.fd(), out.fd(), options(STOCKADE_SHARED_ENCRYPT), serial, system_random(), fault_),
            STOCKADE_ERROR_MODE);
  const Buffer key(32);
  other = {};
  other.key = key;
  EXPECT_EQ(job.create(other, in.fd(), out.fd(), options(STOCKADE_SHARED_ENCRYPT), serial, system_random(), fault_),
            STOCKADE_ERROR_MODE);
  const Keyring empty;
  other = format_;
  other.keyring = &empty;
  EXPECT_EQ(job.create(other, in.fd(), out.fd(), options(STOCKADE_SHARED_ENCRYPT), serial, system_random(), fault_),
            STOCKADE_ERROR_NO_IDENTITY);
  // Nothing of all this has touched the output.
  EXPECT_EQ(out.size(), 0U);
  EXPECT_EQ(journal.size(), 0U);

  ASSERT_EQ(create_with(in.fd(), out.fd()), STOCKADE_OK);
  for (const int fd : {append, write_only, read_only, pipe[1], -1}) {
    EXPECT_EQ(run(job, in.fd(), fd, {0}), STOCKADE_ERROR_MODE);
  }
  EXPECT_EQ(run(job, pipe[0], out.fd(), {0}), STOCKADE_ERROR_MODE);
  EXPECT_EQ(run(job, in.fd(), in.fd(), {0}), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(run(job, in, out, {2}), STOCKADE_ERROR_ARGUMENT);
  // It has no journal.
  std::vector<uint64_t> slices;
  EXPECT_EQ(job.find_missing(journal.fd(), slices), STOCKADE_ERROR_MODE);
  EXPECT_EQ(run(job, in, out, {0}, journal.fd()), STOCKADE_ERROR_JOURNAL);
  EXPECT_EQ(job.open_journal(pipe[0], ring_, 0, fault_), STOCKADE_ERROR_MODE);
  for (const int fd : {append, write_only, read_only, proc, pipe[0], pipe[1]}) ::close(fd);
}

TEST_F(SlicedFiles, seal_and_open_pieces_in_memory) {
  for (const uint64_t length : {uint64_t{0}, uint64_t{1}, chunked::chunk_bytes, chunked::chunk_bytes + 1,
                                40 * chunked::chunk_bytes, 700001UL}) {
    const Buffer plain = text(length), expected = sealed(plain);
    const TemporaryFile out;
    Options wish = options(STOCKADE_SHARED_ENCRYPT);
    wish.plain_length = length;
    SlicedFile job, opening;
    CountingSource random(9);
    ASSERT_EQ(job.create(format_, -1, out.fd(), wish, serial, random, fault_), STOCKADE_OK);
    EXPECT_EQ(info(job).file_length, expected.size());
    ASSERT_EQ(out.size(), expected.size());
    std::vector<uint64_t> borders = {0, length};
    for (uint64_t n = random_.below(5); n != 0; --n)
      borders.push_back(random_.below(length / chunked::chunk_bytes + 1) * chunked::chunk_bytes);
    std::sort(borders.begin(), borders.end());
    // The piece that ends where the plaintext does has the last chunk; there is one such, maybe empty.
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    if (borders.size() == 1) borders.push_back(length);
    for (size_t i = 0; i + 1 < borders.size(); ++i) {
      const uint64_t offset = borders[i], bytes = borders[i + 1] - offset;
      Buffer piece(job.sealed_length(offset, bytes));
      ASSERT_EQ(job.seal(offset, Bytes(plain).subspan(offset, bytes), piece.data(), threads), STOCKADE_OK);
      const uint64_t place = info(job).beginning_length + offset / chunked::chunk_bytes * chunked::sealed_chunk_bytes;
      tests::write_exactly(out.fd(), place, piece.data(), piece.size());
    }
    ASSERT_EQ(out.content(), expected);
    ASSERT_EQ(create(opening, STOCKADE_SHARED_DECRYPT, out.fd(), -1), STOCKADE_OK);
    for (size_t i = 0; i + 1 < borders.size(); ++i) {
      const uint64_t offset = borders[i], bytes = borders[i + 1] - offset;
      Buffer piece(opening.sealed_length(offset, bytes)), back(bytes);
      const uint64_t place =
          info(opening).beginning_length + offset / chunked::chunk_bytes * chunked::sealed_chunk_bytes;
      tests::read_exactly(out.fd(), place, piece.data(), piece.size());
      ASSERT_EQ(opening.unseal(offset, piece.data(), back, threads, fault_), STOCKADE_OK);
      const Bytes right = Bytes(plain).subspan(offset, bytes);
      ASSERT_TRUE(std::equal(right.begin(), right.end(), back.begin(), back.end()));
      if (piece.empty()) continue;
      const uint64_t hit = random_.below(piece.size());
      piece[hit] ^= 1;
      EXPECT_EQ(opening.unseal(offset, piece.data(), back, threads, fault_), STOCKADE_ERROR_CHUNK);
      EXPECT_EQ(fault_.chunk, offset / chunked::chunk_bytes + hit / chunked::sealed_chunk_bytes);
      EXPECT_EQ(back, Buffer(bytes));
    }
    // Pieces that are none.
    Buffer room(1000000);
    EXPECT_EQ(job.seal(1, {}, room.data(), serial), STOCKADE_ERROR_ARGUMENT);
    EXPECT_EQ(job.seal(0, Bytes(room).first(length + 1), room.data(), serial), STOCKADE_ERROR_ARGUMENT);
    EXPECT_EQ(job.sealed_length(length + chunked::chunk_bytes, 0), 0U);
    EXPECT_EQ(job.sealed_length(0, UINT64_MAX), 0U);
    EXPECT_EQ(opening.seal(0, {}, room.data(), serial), STOCKADE_ERROR_MODE);
    EXPECT_EQ(job.unseal(0, room.data(), {}, serial, fault_), STOCKADE_ERROR_MODE);
    // There is no input that it could be run on.
    EXPECT_EQ(run(job, out, out, {0}), STOCKADE_ERROR_MODE);
  }
}

// Each with descriptors of its own, as processes have; some slices are done by two of them at once.
TEST_F(SlicedFiles, go_side_by_side) {
  const Buffer plain = text(40 * slice + 1), expected = sealed(plain);
  const TemporaryFile in(plain), out, journal, back, back_journal;
  for (const bool sealing : {true, false}) {
    const TemporaryFile &from = sealing ? in : out, &to = sealing ? out : back;
    const TemporaryFile& records = sealing ? journal : back_journal;
    SlicedFile job;
    ASSERT_EQ(
        create(job, sealing ? STOCKADE_SHARED_ENCRYPT : STOCKADE_SHARED_DECRYPT, from.fd(), to.fd(), records.fd()),
        STOCKADE_OK);
    std::atomic<int> failed{0};
    std::vector<std::thread> processes;
    for (uint64_t process = 0; process < 4; ++process) {
      const uint64_t first = process * 10, last = std::min<uint64_t>(first + 13, count(job));
      processes.emplace_back([&, first, last] {
        SlicedFile own;
        stockade_fault fault;
        const int fds[] = {from.reopen(O_RDONLY), to.reopen(O_RDWR), records.reopen(O_RDWR)};
        if (own.open_journal(fds[2], ring_, 0, fault) != STOCKADE_OK) ++failed;
        List list;
        for (uint64_t i = first; i < last; ++i) list.slices.push_back(i);
        stockade_shared_work work{};
        work.in_fd = fds[0];
        work.out_fd = fds[1];
        work.journal_fd = fds[2];
        work.next = List::take;
        work.next_context = &list;
        if (own.run(work, serial, {.checkpoint_interval = 1}) != STOCKADE_OK) ++failed;
        for (const int fd : fds) ::close(fd);
      });
    }
    for (std::thread& process : processes) process.join();
    EXPECT_EQ(failed.load(), 0);
    EXPECT_EQ(missing(job, records), std::vector<uint64_t>{});
    EXPECT_EQ(job.check(to.fd(), records.fd(), fault_), STOCKADE_OK);
  }
  EXPECT_EQ(out.content(), expected);
  EXPECT_EQ(back.content(), plain);
}

}  // namespace
}  // namespace stockade::slices
