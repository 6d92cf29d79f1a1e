// Jobs that are stopped on the way and go on from their journal. That a process may be killed at any moment is tested with
// the command, in tests/cross/kill_and_resume.py.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cross/handles.h"
#include "cross/random_source.h"
#include "cross/temporary_file.h"
#include "engine/handles.h"
#include "format/file_job.h"
#include "format/payload_work.h"

namespace stockade::tests {
namespace {

// Stops once so many bytes are done.
struct Patience {
  uint64_t bytes;
};
int lose_patience(void* context, uint64_t done, uint64_t) {
  return done >= static_cast<Patience*>(context)->bytes ? 1 : 0;
}

class Resume : public testing::Test {
 protected:
  Resume() {
    auto key = std::make_unique<format::Keyring::SymmetricKey>();
    random_.fill(*key->bytes, 32);
    ring_.keys.push_back(std::move(key));
    format_.keyring = &ring_;
  }

  // One attempt, which gives up after `patience` bytes.
  stockade_status attempt(stockade_direction direction, const TemporaryFile& in, const TemporaryFile& out,
                          const TemporaryFile& journal, uint64_t patience, const engine::Engine& engine) {
    job_ = {};
    job_.journal_fd = journal.fd();
    Patience left{patience};
    job_.progress = lose_patience;
    job_.progress_context = &left;
    in.seek(0);
    out.seek(0);
    const format::JobPace pace{.run_chunks = 2, .progress_interval = 0, .checkpoint_interval = 0};
    const auto run = direction == STOCKADE_ENCRYPT ? format::encrypt_fd : format::decrypt_fd;
    return run(format_, in.fd(), out.fd(), job_, &ring_, engine, system_random(), pace);
  }

  // Attempts until it is done; returns how many of them had something to go on from.
  uint64_t persist(stockade_direction direction, const TemporaryFile& in, const TemporaryFile& out,
                   const TemporaryFile& journal) {
    uint64_t resumed = 0, patience = 0;
    for (int tries = 0; tries < 1000; ++tries) {
      const auto& engines = all_engines();
      const engine::Engine& engine = engines[random_.below(engines.size())].engine->wish;
      const stockade_status status = attempt(direction, in, out, journal, patience, engine);
      resumed += job_.resumed_length != 0 ? 1 : 0;
      if (status == STOCKADE_OK) return resumed;
      EXPECT_EQ(status, STOCKADE_ERROR_CANCELLED);
      if (status != STOCKADE_ERROR_CANCELLED) break;
      patience += random_.below(in.size() / 8 + 1);
    }
    ADD_FAILURE() << "never done";
    return 0;
  }

  RandomSource random_;
  format::Keyring ring_;
  format::FileFormat format_;
  stockade_file_job job_{};
};

TEST_F(Resume, after_any_number_of_interruptions) {
  uint64_t resumed = 0;
  for (uint64_t i = 0; i < scaled(60); ++i) {
    const Bytes text = random_.bytes(random_.one_in(8) ? random_.below(40000) : random_.between(200000, 3000000));
    const TemporaryFile in(text), sealed, journal, journal_back, out;
    resumed += persist(STOCKADE_ENCRYPT, in, sealed, journal);
    resumed += persist(STOCKADE_DECRYPT, sealed, out, journal_back);
    ASSERT_EQ(out.content(), text);
    EXPECT_EQ(job_.out_length, text.size());
  }
  EXPECT_GT(resumed, scaled(60));
}

// The file that comes of it is one file: salt and header are those of the first attempt.
TEST_F(Resume, keeps_what_was_written) {
  const Bytes text = random_.bytes(3000000);
  const TemporaryFile in(text), sealed, journal;
  const engine::Engine one{engine::Kind::serial, 1};
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 2000000, one), STOCKADE_ERROR_CANCELLED);
  const Bytes before = sealed.content();
  ASSERT_GT(before.size(), 1500000U);
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, UINT64_MAX, one), STOCKADE_OK);
  EXPECT_GE(job_.resumed_length, 1500000U);
  const Bytes after = sealed.content();
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
}

TEST_F(Resume, refuses_an_input_that_has_changed) {
  const engine::Engine one{engine::Kind::serial, 1};
  for (int change = 0; change < 3; ++change) {
    const TemporaryFile in(random_.bytes(1000000)), sealed, journal, other(random_.bytes(1000000));
    ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 700000, one), STOCKADE_ERROR_CANCELLED);
    const Bytes before = sealed.content();
    if (change == 0) in.resize(999999);
    if (change == 1) write_exactly(in.fd(), 10, before.data(), 1);
    EXPECT_EQ(attempt(STOCKADE_ENCRYPT, change == 2 ? other : in, sealed, journal, UINT64_MAX, one),
              STOCKADE_ERROR_INPUT_CHANGED);
    EXPECT_EQ(sealed.content(), before);
  }
}

TEST_F(Resume, refuses_what_is_not_its_own) {
  const engine::Engine one{engine::Kind::serial, 1};
  const TemporaryFile in(random_.bytes(1000000)), sealed, journal, foreign, foreign_journal;
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 700000, one), STOCKADE_ERROR_CANCELLED);
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, foreign, foreign_journal, 700000, one), STOCKADE_ERROR_CANCELLED);
  // The output of another job, one that is too short, the journal of the other direction, a damaged journal.
  EXPECT_EQ(attempt(STOCKADE_ENCRYPT, in, foreign, journal, UINT64_MAX, one), STOCKADE_ERROR_JOURNAL);
  const TemporaryFile shortened(sealed.content());
  shortened.resize(300000);
  EXPECT_EQ(attempt(STOCKADE_ENCRYPT, in, shortened, journal, UINT64_MAX, one), STOCKADE_ERROR_JOURNAL);
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, foreign, foreign_journal, UINT64_MAX, one), STOCKADE_OK);
  const TemporaryFile out;
  EXPECT_EQ(attempt(STOCKADE_DECRYPT, foreign, out, foreign_journal, UINT64_MAX, one), STOCKADE_ERROR_JOURNAL);
  const Bytes whole = journal.content();
  for (uint64_t i = 0; i < whole.size(); i += 7) {
    Bytes damaged = whole;
    damaged[i] ^= 4;
    const TemporaryFile bad(damaged), copy(sealed.content());
    const stockade_status status = attempt(STOCKADE_ENCRYPT, in, copy, bad, UINT64_MAX, one);
    // One of the two records may be damaged; then the other counts.
    if (i < whole.size() - 400) {
      ASSERT_NE(status, STOCKADE_OK) << i;
    } else {
      ASSERT_TRUE(status == STOCKADE_OK || status == STOCKADE_ERROR_JOURNAL) << i;
    }
  }
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, UINT64_MAX, one), STOCKADE_OK);
}

TEST_F(Resume, begins_anew_without_a_whole_record) {
  const engine::Engine one{engine::Kind::serial, 1};
  const TemporaryFile in(random_.bytes(1000000)), sealed, journal;
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 700000, one), STOCKADE_ERROR_CANCELLED);
  const Bytes whole = journal.content();
  for (const uint64_t length : {uint64_t{0}, whole.size() - 400}) {
    const TemporaryFile torn(whole), copy(sealed.content());
    torn.resize(length);
    ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, copy, torn, UINT64_MAX, one), STOCKADE_OK) << length;
    EXPECT_EQ(job_.resumed_length, 0U);
    const TemporaryFile out, fresh;
    ASSERT_EQ(attempt(STOCKADE_DECRYPT, copy, out, fresh, UINT64_MAX, one), STOCKADE_OK);
    EXPECT_EQ(out.content(), in.content());
  }
}

TEST_F(Resume, needs_the_same_recipients) {
  const engine::Engine one{engine::Kind::serial, 1};
  const TemporaryFile in(random_.bytes(1000000)), sealed, journal;
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 700000, one), STOCKADE_ERROR_CANCELLED);
  auto second = std::make_unique<format::Keyring::SymmetricKey>();
  random_.fill(*second->bytes, 32);
  ring_.keys.push_back(std::move(second));
  EXPECT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, UINT64_MAX, one), STOCKADE_ERROR_JOURNAL);
  ring_.keys.erase(ring_.keys.begin());
  EXPECT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, UINT64_MAX, one), STOCKADE_ERROR_NO_IDENTITY);
}

// The times of a file may hide that it has changed. What is sealed again must then not become other ciphertext under the
// same nonce: the difference of two ciphertexts is that of the plaintexts.
TEST_F(Resume, never_seals_other_plaintext_under_the_same_nonces) {
  Secret<format::PayloadKey> key;
  ASSERT_EQ(format::derive_payload_key(*key, STOCKADE_COBBLESTONE_256, random_.bytes(32), random_.bytes(24), {}),
            STOCKADE_OK);
  Bytes text = random_.bytes(100000);
  Bytes sealed(format::sealed_length(text.size(), true));
  format::seal_chunks(*key, 0, text.data(), text.size(), true, sealed.data());
  constexpr uint64_t header = 1080;
  Bytes file(header + sealed.size());
  std::copy(sealed.begin(), sealed.end(), file.begin() + header);
  const auto transform = [&](const Bytes& before) {
    const TemporaryFile out(before);
    format::SealWork work(*key);
    work.expect(out.fd(), header, before.size());
    Bytes made(sealed.size());
    engine::FileRun run{0, text.data(), text.size(), true, made.data(), made.size()};
    engine::Crew crew;
    return work.transform(run, {crew, nullptr});
  };
  EXPECT_EQ(transform(file), STOCKADE_OK);
  EXPECT_EQ(transform(Bytes(header)), STOCKADE_OK);
  Bytes cut = file;
  cut.resize(header + 50000);
  EXPECT_EQ(transform(cut), STOCKADE_OK);
  Bytes with_hole = file;
  std::fill(with_hole.begin() + header + 4096, with_hole.begin() + header + 30000, uint8_t{0});
  EXPECT_EQ(transform(with_hole), STOCKADE_OK);
  for (const uint64_t place : {0, 1, 16383, 16384, 49000, 99999}) {
    text[place] ^= 1;
    EXPECT_EQ(transform(file), STOCKADE_ERROR_INPUT_CHANGED) << place;
    text[place] ^= 1;
  }
}

}  // namespace
}  // namespace stockade::tests
