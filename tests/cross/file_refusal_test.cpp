// STOCKADE_ERROR_RANDOM and STOCKADE_ERROR_LIBRARY: whichever call of the operating system's random numbers or of libcrypto
// is the one that fails, the call says so and leaves nothing behind.
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <functional>

#include "cross/failing_calls.h"
#include "cross/file_sample.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

class FileRefusals : public testing::Test {
 protected:
  // What a call returned and said about it.
  struct Outcome {
    stockade_status status;
    stockade_fault fault;
  };
  using Call = std::function<Outcome()>;

  // Makes the first, second, ... call of that kind fail and every one after it, until none is left. `call` begins anew
  // each time and finds out for itself whether a failure has left something. Returns how often it failed.
  static int sweep(Failing kind, const Call& call) {
    const bool random = kind == Failing::random;
    const stockade_status expected = random ? STOCKADE_ERROR_RANDOM : STOCKADE_ERROR_LIBRARY;
    for (uint64_t successes = 0; successes < 1000; ++successes) {
      const FailingCalls failing(kind, successes);
      const Outcome outcome = call();
      if (failing.refused() == 0) {
        EXPECT_EQ(outcome.status, STOCKADE_OK);
        return static_cast<int>(successes);
      }
      EXPECT_EQ(outcome.status, expected) << "after " << successes << " calls";
      EXPECT_EQ(describe(outcome.fault), describe(fault_of(expected)));
      EXPECT_EQ(fault_sentence(outcome.fault),
                random ? "the operating system gives no random bytes"
                       : "libcrypto refuses a function that Stockade files need: HMAC, SHA-2 or scrypt");
    }
    ADD_FAILURE() << "never enough";
    return 0;
  }
  static void expect(const Call& call, int random_calls, int least_library_calls) {
    EXPECT_EQ(sweep(Failing::random, call), random_calls);
    EXPECT_GE(sweep(Failing::library, call), least_library_calls);
  }
  // For calls that have no fault.
  static Outcome bare(stockade_status status) { return {status, fault_of(status)}; }

  Outcome create(stockade_direction direction, const stockade_format& format) const {
    stockade_file* file = nullptr;
    const stockade_status status = stockade_file_create(&file, direction, &format, nullptr);
    EXPECT_EQ(file != nullptr, status == STOCKADE_OK);
    stockade_file_free(file);
    return bare(status);
  }
  template <typename Function>
  Outcome run(const Function& function, const Bytes& content, const stockade_format& format,
              bool with_journal = false) {
    const TemporaryFile in(content), out, journal;
    stockade_file_job job = file_job();
    if (with_journal) job.journal_fd = journal.fd();
    const stockade_status status = function(in.fd(), out.fd(), &format, &job, nullptr);
    // With a journal, what was begun stays.
    if (status != STOCKADE_OK && (!with_journal || journal.size() == 0)) {
      EXPECT_EQ(out.size(), 0U);
    }
    return {status, job.fault};
  }
  static stockade_status verify(int in_fd, int, const stockade_format* format, stockade_file_job* job,
                                const stockade_engine* engine) {
    return stockade_file_verify_fd(in_fd, format, job, engine);
  }

  const Bytes key_ = sample_key(1), text_ = sample_text(40000);
  const KeyringHandle ring_ = keyring_of({key_}), phrase_ = keyring_of("swordfish");
  const stockade_format keyed_ = format_for(ring_), locked_ = format_for(phrase_), plain_ = plain_format(key_, {});
};

TEST_F(FileRefusals, of_random_bytes) {
  Bytes out(100, 0xEE);
  EXPECT_EQ(sweep(Failing::random, [&] { return bare(stockade_random(out.data(), out.size())); }), 1);
}

TEST_F(FileRefusals, of_a_name) {
  const auto call = [&] {
    char id[12] = "untouched";
    const stockade_status status = stockade_key_id(key_.data(), key_.size(), id);
    EXPECT_EQ(std::string(id) == "untouched", status != STOCKADE_OK);
    return bare(status);
  };
  expect(call, 0, 4);
}

// Random are the file key, the salt of a stanza, and that of the payload.
TEST_F(FileRefusals, of_a_file_that_is_made) {
  expect([&] { return create(STOCKADE_ENCRYPT, keyed_); }, 3, 15);
  expect([&] { return create(STOCKADE_ENCRYPT, locked_); }, 3, 15);
  expect([&] { return create(STOCKADE_ENCRYPT, plain_); }, 1, 4);
  const KeyringHandle two = keyring_of({sample_key(1), sample_key(2)});
  expect([&] { return create(STOCKADE_ENCRYPT, format_for(two)); }, 4, 20);
  EXPECT_EQ(sweep(Failing::library, [&] { return create(STOCKADE_DECRYPT, keyed_); }), 0);
}

TEST_F(FileRefusals, of_a_file_that_is_opened) {
  for (const stockade_format* format : {&keyed_, &locked_, &plain_}) {
    const Bytes sealed = seal(*format, text_);
    for (const Way& way : ways_to_open()) {
      const auto call = [&] {
        const Opened opened = way.open(*format, sealed);
        EXPECT_EQ(opened.text.empty(), opened.status != STOCKADE_OK || !way.releases()) << way.name;
        return Outcome{opened.status, opened.fault};
      };
      SCOPED_TRACE(way.name);
      expect(call, 0, 4);
    }
  }
}

TEST_F(FileRefusals, of_a_job) {
  for (const stockade_format* format : {&keyed_, &locked_, &plain_}) {
    const Bytes sealed = seal(*format, text_);
    const int drawn = format == &plain_ ? 1 : 3;
    expect([&] { return run(stockade_file_encrypt_fd, text_, *format); }, drawn, 4);
    expect([&] { return run(stockade_file_decrypt_fd, sealed, *format); }, 0, 4);
    expect([&] { return run(verify, sealed, *format); }, 0, 4);
  }
  stockade_format armored = keyed_;
  armored.armor = 1;
  expect([&] { return run(stockade_file_encrypt_fd, text_, armored); }, 3, 15);
  const Bytes sealed = in_armor(seal(keyed_, text_));
  expect([&] { return run(stockade_file_decrypt_fd, sealed, keyed_); }, 0, 10);
}

// One salt more, for the journal's own stanza.
TEST_F(FileRefusals, of_a_journal) {
  const Bytes sealed = seal(keyed_, text_);
  expect([&] { return run(stockade_file_encrypt_fd, text_, keyed_, true); }, 5, 30);
  expect([&] { return run(stockade_file_decrypt_fd, sealed, keyed_, true); }, 2, 20);
}

TEST_F(FileRefusals, of_other_recipients) {
  const Bytes sealed = seal(keyed_, text_);
  const KeyringHandle other = keyring_of({sample_key(2)});
  char id[12];
  ASSERT_EQ(stockade_key_id(key_.data(), key_.size(), id), STOCKADE_OK);
  const char* const remove[] = {id};
  for (const stockade_keyring* add : {other.get(), phrase_.get(), static_cast<stockade_keyring*>(nullptr)}) {
    const auto call = [&] {
      Bytes out(sample_header, 0xEE);
      uint64_t written = 77;
      stockade_fault fault = {};
      const stockade_status status =
          stockade_header_rekey(sealed.data(), sealed.size(), ring_.get(), 0, remove, add == nullptr ? 0 : 1, add,
                                out.data(), out.size(), &written, &fault);
      EXPECT_EQ(written == 77, status != STOCKADE_OK);
      EXPECT_EQ(out == Bytes(sample_header, 0xEE), status != STOCKADE_OK);
      return Outcome{status, fault};
    };
    expect(call, add == nullptr ? 0 : 1, 15);
  }
}

// The host's own queue of libcrypto errors is left as it was.
TEST_F(FileRefusals, leave_no_errors_in_the_queue) {
  ERR_clear_error();
  ERR_raise(ERR_LIB_USER, 42);
  const unsigned long mine = ERR_peek_last_error();
  sweep(Failing::library, [&] { return create(STOCKADE_ENCRYPT, keyed_); });
  sweep(Failing::library, [&] { return create(STOCKADE_ENCRYPT, locked_); });
  EXPECT_EQ(ERR_get_error(), mine);
  EXPECT_EQ(ERR_get_error(), 0U);
}

// One that was there before is no reason to say that memory is lacking.
TEST_F(FileRefusals, are_not_explained_by_errors_that_were_there_before) {
  ERR_clear_error();
  ERR_raise(ERR_LIB_USER, ERR_R_MALLOC_FAILURE);
  sweep(Failing::library, [&] { return create(STOCKADE_ENCRYPT, keyed_); });
  ERR_clear_error();
}

}  // namespace
}  // namespace stockade::tests
