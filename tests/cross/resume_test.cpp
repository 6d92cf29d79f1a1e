// Jobs that are stopped on the way and go on from their journal. That a process may be killed at any moment is tested with
// the command, in tests/cross/kill_and_resume.py.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "capi/handles.h"
#include "cross/handles.h"
#include "cross/random_source.h"
#include "cross/temporary_file.h"
#include "slices/journal.h"
#include "slices/resume.h"

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
                          const TemporaryFile& journal, uint64_t patience, const config::EngineChoice& engine) {
    job_ = {};
    job_.journal_fd = journal.fd();
    Patience left{patience};
    job_.accept_changed_input = accepts_ ? 1 : 0;
    job_.progress = lose_patience;
    job_.progress_context = &left;
    in.seek(0);
    out.seek(0);
    const format::JobPace pace{.segment_chunks = 2, .progress_interval = 0, .checkpoint_interval = 0};
    const bool sealing = direction == STOCKADE_ENCRYPT;
    const auto run = sealing ? slices::encrypt_with_journal : slices::decrypt_with_journal;
    return run(format_, in.fd(), out.fd(), job_, ring_, engine, system_random(), pace);
  }

  // Attempts until it is done; returns how many of them had something to go on from.
  uint64_t persist(stockade_direction direction, const TemporaryFile& in, const TemporaryFile& out,
                   const TemporaryFile& journal) {
    uint64_t resumed = 0, patience = 0;
    for (int tries = 0; tries < 1000; ++tries) {
      const auto& engines = all_engines();
      const config::EngineChoice& engine = engines[random_.below(engines.size())].engine->wish;
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
  bool accepts_ = false;  // a changed input
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
  const config::EngineChoice one{config::Kind::serial, 1};
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 2000000, one), STOCKADE_ERROR_CANCELLED);
  const Bytes before = sealed.content();
  ASSERT_GT(before.size(), 1500000U);
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, UINT64_MAX, one), STOCKADE_OK);
  EXPECT_GE(job_.resumed_length, 1500000U);
  const Bytes after = sealed.content();
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
}

TEST_F(Resume, refuses_an_input_that_has_changed) {
  const config::EngineChoice one{config::Kind::serial, 1};
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
  const config::EngineChoice one{config::Kind::serial, 1};
  const TemporaryFile in(random_.bytes(1000000)), sealed, journal, foreign, foreign_journal;
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 700000, one), STOCKADE_ERROR_CANCELLED);
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, foreign, foreign_journal, 700000, one), STOCKADE_ERROR_CANCELLED);
  // The output of another job, the journal of the other direction, a damaged journal. What is missing of an output is made
  // again.
  EXPECT_EQ(attempt(STOCKADE_ENCRYPT, in, foreign, journal, UINT64_MAX, one), STOCKADE_ERROR_JOURNAL);
  const TemporaryFile shortened(sealed.content());
  shortened.resize(300000);
  const Bytes records = journal.content();
  EXPECT_EQ(attempt(STOCKADE_ENCRYPT, in, shortened, TemporaryFile(records), UINT64_MAX, one), STOCKADE_OK);
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, foreign, foreign_journal, UINT64_MAX, one), STOCKADE_OK);
  const TemporaryFile out;
  EXPECT_EQ(attempt(STOCKADE_DECRYPT, foreign, out, foreign_journal, UINT64_MAX, one), STOCKADE_ERROR_JOURNAL);
  const Bytes whole = journal.content();
  for (uint64_t i = 0; i < whole.size(); i += 7) {
    Bytes damaged = whole;
    damaged[i] ^= 4;
    const TemporaryFile bad(damaged), copy(sealed.content());
    const stockade_status status = attempt(STOCKADE_ENCRYPT, in, copy, bad, UINT64_MAX, one);
    // Up to 63 zeros stand before the records of the four slices, and mean nothing.
    const uint64_t behind = whole.size() - i;
    if (behind <= 4 * 64 || behind > 5 * 64) {
      ASSERT_NE(status, STOCKADE_OK) << i;
    }
  }
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, UINT64_MAX, one), STOCKADE_OK);
}

TEST_F(Resume, begins_anew_without_a_whole_record) {
  const config::EngineChoice one{config::Kind::serial, 1};
  const TemporaryFile in(random_.bytes(1000000)), sealed, journal;
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 700000, one), STOCKADE_ERROR_CANCELLED);
  const Bytes whole = journal.content();
  for (const uint64_t length : {0, 100}) {
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
  const config::EngineChoice one{config::Kind::serial, 1};
  const TemporaryFile in(random_.bytes(1000000)), sealed, journal;
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 700000, one), STOCKADE_ERROR_CANCELLED);
  auto second = std::make_unique<format::Keyring::SymmetricKey>();
  random_.fill(*second->bytes, 32);
  ring_.keys.push_back(std::move(second));
  EXPECT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, UINT64_MAX, one), STOCKADE_ERROR_JOURNAL);
  ring_.keys.erase(ring_.keys.begin());
  EXPECT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, UINT64_MAX, one), STOCKADE_ERROR_NO_IDENTITY);
}

// A changed content that the times of the file hide, and output that was lost: what had been sealed is not sealed with
// another content.
TEST_F(Resume, never_seals_other_plaintext_under_the_same_nonces) {
  const config::EngineChoice one{config::Kind::serial, 1};
  const Bytes text = random_.bytes(1000000);
  const TemporaryFile in(text), sealed, journal;
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, sealed, journal, 700000, one), STOCKADE_ERROR_CANCELLED);
  const Bytes before = sealed.content();
  Bytes changed = text;
  changed[300000] ^= 1;
  const TemporaryFile other(changed);
  for (const bool lost : {false, true}) {
    const TemporaryFile copy(before), records(journal.content());
    if (lost) {
      const Bytes zeros(262400);
      write_exactly(copy.fd(), before.size() - zeros.size(), zeros.data(), zeros.size());
    }
    const Bytes left = copy.content();
    EXPECT_EQ(attempt(STOCKADE_ENCRYPT, other, copy, records, UINT64_MAX, one), STOCKADE_ERROR_INPUT_CHANGED);
    accepts_ = true;
    const stockade_status status = attempt(STOCKADE_ENCRYPT, other, copy, records, UINT64_MAX, one);
    accepts_ = false;
    if (!lost) {
      // What was sealed before is what it was; the rest is the other content's.
      EXPECT_EQ(status, STOCKADE_OK);
      continue;
    }
    EXPECT_EQ(status, STOCKADE_ERROR_INPUT_CHANGED);
    EXPECT_EQ(job_.fault.chunk, 16U);
    EXPECT_EQ(copy.content(), left);
    ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, copy, records, UINT64_MAX, one), STOCKADE_OK);
    const TemporaryFile out, fresh;
    ASSERT_EQ(attempt(STOCKADE_DECRYPT, copy, out, fresh, UINT64_MAX, one), STOCKADE_OK);
    EXPECT_EQ(out.content(), text);
  }
}

// Whatever was done to the output between two runs, in either direction: the end is that of a job that was not interrupted.
TEST_F(Resume, notices_output_that_was_altered) {
  const config::EngineChoice one{config::Kind::serial, 1};
  const Bytes text = random_.bytes(2000000);
  const TemporaryFile in(text), file, file_journal;
  ASSERT_EQ(attempt(STOCKADE_ENCRYPT, in, file, file_journal, UINT64_MAX, one), STOCKADE_OK);
  for (uint64_t i = 0; i < scaled(30); ++i) {
    for (const stockade_direction direction : {STOCKADE_ENCRYPT, STOCKADE_DECRYPT}) {
      const bool sealing = direction == STOCKADE_ENCRYPT;
      const TemporaryFile& from = sealing ? in : file;
      const TemporaryFile out, journal, back, back_journal;
      ASSERT_EQ(attempt(direction, from, out, journal, random_.between(600000, 1900000), one),
                STOCKADE_ERROR_CANCELLED);
      const uint64_t length = std::min<uint64_t>(random_.between(1, 40000), out.size() - 2000);
      const uint64_t begin = random_.between(1500, out.size() - length);
      Bytes damage(length);
      if (random_.one_in(2)) random_.fill(damage.data(), damage.size());
      write_exactly(out.fd(), begin, damage.data(), damage.size());
      ASSERT_EQ(attempt(direction, from, out, journal, UINT64_MAX, one), STOCKADE_OK);
      if (!sealing) {
        ASSERT_EQ(out.content(), text);
        continue;
      }
      ASSERT_EQ(attempt(STOCKADE_DECRYPT, out, back, back_journal, UINT64_MAX, one), STOCKADE_OK);
      ASSERT_EQ(back.content(), text);
    }
  }
}

}  // namespace
}  // namespace stockade::tests
