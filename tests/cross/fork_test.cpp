// What a forked child may go on with, and what is refused to it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/sanitizers.h"
#include "cross/file_sample.h"
#include "cross/handles.h"
#include "cross/rsa_sample.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

// What `body` says in a child of this process. A child that hangs is ended.
bool in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body() ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ForkedChild, cannot_go_on_with_a_file_that_its_parent_makes) {
  const KeyringHandle ring = keyring_of({sample_key(1)});
  const stockade_format format = format_for(ring);
  const Bytes text = sample_text(100000);
  const FileHandle file = make_file(STOCKADE_ENCRYPT, format);
  Bytes sealed(stockade_file_bound(file.get(), text.size()) + 100000);
  uint64_t first = 0, second = 0, last = 0;
  ASSERT_EQ(stockade_file_update(file.get(), text.data(), 50000, sealed.data(), sealed.size(), &first), STOCKADE_OK);
  EXPECT_TRUE(in_child([&] {
    uint64_t length = 1;
    stockade_fault fault;
    const Bytes before = sealed;
    const bool refused =
        stockade_file_update(file.get(), text.data(), 50000, sealed.data(), sealed.size(), &length) ==
            STOCKADE_ERROR_FORKED &&
        length == 0 &&
        stockade_file_final(file.get(), sealed.data(), sealed.size(), &length) == STOCKADE_ERROR_FORKED &&
        stockade_file_fault(file.get(), &fault) == STOCKADE_OK && fault.status == STOCKADE_ERROR_FORKED;
    // What it makes itself is its own.
    return refused && sealed == before && seal(format, text).size() > text.size();
  }));
  uint8_t* const at = sealed.data();
  ASSERT_EQ(stockade_file_update(file.get(), text.data() + 50000, 50000, at + first, sealed.size() - first, &second),
            STOCKADE_OK);
  ASSERT_EQ(stockade_file_final(file.get(), at + first + second, sealed.size() - first - second, &last), STOCKADE_OK);
  sealed.resize(first + second + last);
  EXPECT_EQ(ways_to_open()[0].open(format, sealed).text, text);
}

TEST(ForkedChild, cannot_go_on_with_a_file_that_its_parent_opens) {
  const KeyringHandle ring = keyring_of({sample_key(1)});
  const stockade_format format = format_for(ring);
  const Bytes sealed = seal(format, sample_text(100000));
  const FileHandle file = make_file(STOCKADE_DECRYPT, format);
  struct Source {
    const Bytes& bytes;
    uint64_t at;
  } source{sealed, 0};
  const stockade_read read = [](void* context, void* buffer, uint64_t size) {
    auto& from = *static_cast<Source*>(context);
    const uint64_t count = std::min<uint64_t>(size, from.bytes.size() - from.at);
    std::copy_n(from.bytes.data() + from.at, count, static_cast<uint8_t*>(buffer));
    from.at += count;
    return static_cast<int64_t>(count);
  };
  Bytes room(100000);
  uint64_t length = 0;
  ASSERT_EQ(stockade_file_pull(file.get(), read, &source, room.data(), 1000, &length), STOCKADE_OK);
  EXPECT_TRUE(in_child([&] {
    return stockade_file_pull(file.get(), read, &source, room.data(), 1000, &length) == STOCKADE_ERROR_FORKED;
  }));
  EXPECT_EQ(stockade_file_pull(file.get(), read, &source, room.data(), room.size(), &length), STOCKADE_OK);
  EXPECT_EQ(length, 99000U);
}

// Whose progress is reported to a function that forks; what the call returned in the child is its exit status.
struct ForkingProgress {
  uint64_t from = 1;  // bytes that are to be done before
  pid_t child = -1;
  static int report(void* context, uint64_t done, uint64_t) {
    auto& self = *static_cast<ForkingProgress*>(context);
    if (done < self.from || self.child >= 0) return 0;
    self.child = fork();
    if (self.child == 0) alarm(60);
    return 0;
  }
  void leave_child(stockade_status status) const {
    if (child == 0) _exit(status);
  }
  void expect_forked() const {
    ASSERT_GT(child, 0);
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), STOCKADE_ERROR_FORKED);
  }
};

// The child would seal other plaintext of a pipe under the nonces of its parent, or cut off what that has written.
TEST(ForkedChild, cannot_go_on_with_a_job_whose_callback_forked) {
  const KeyringHandle ring = keyring_of({sample_key(1)});
  const stockade_format format = format_for(ring);
  const Bytes text = sample_text(40 << 20);
  for (const char* engine : {"serial", "threads"}) {
    for (const auto& [with_journal, from] :
         {std::pair<bool, uint64_t>{false, 1}, {true, 1}, {false, text.size()}, {true, text.size()}}) {
      const TemporaryFile in(text), out, journal;
      ForkingProgress progress{.from = from};
      stockade_file_job job = file_job();
      job.progress = ForkingProgress::report;
      job.progress_context = &progress;
      if (with_journal) job.journal_fd = journal.fd();
      const Engine own = make_engine(engine, 1);
      const stockade_status status = stockade_file_encrypt_fd(in.fd(), out.fd(), &format, &job, own.get());
      progress.leave_child(status);
      progress.expect_forked();
      // The position of a descriptor is the child's too, so that the parent may have less input than there was.
      EXPECT_EQ(status, STOCKADE_OK) << engine << with_journal;
      const Bytes made = out.content();
      EXPECT_EQ(ways_to_open()[0].open(format, made).text, text) << engine << with_journal;
    }
  }
}

TEST(ForkedChild, cannot_go_on_with_a_message_that_its_parent_encrypts) {
  const Key key = make_key(STOCKADE_GCM, Bytes(32, 3));
  const Bytes iv(12, 1), text(100, 2);
  stockade_stream* stream = nullptr;
  ASSERT_EQ(stockade_stream_create(&stream, key.get(), STOCKADE_ENCRYPT, iv.data(), iv.size(), STOCKADE_PADDING_NONE,
                                   nullptr),
            STOCKADE_OK);
  Bytes out(200), tag(16);
  uint64_t length = 0, last = 0;
  ASSERT_EQ(stockade_stream_update(stream, text.data(), 50, out.data(), out.size(), &length), STOCKADE_OK);
  EXPECT_TRUE(in_child([&] {
    return stockade_stream_aad(stream, text.data(), 1) == STOCKADE_ERROR_FORKED &&
           stockade_stream_update(stream, text.data(), 50, out.data(), out.size(), &length) == STOCKADE_ERROR_FORKED &&
           stockade_stream_final(stream, out.data(), out.size(), &length, tag.data(), 16) == STOCKADE_ERROR_FORKED;
  }));
  EXPECT_EQ(stockade_stream_final(stream, out.data() + length, out.size() - length, &last, tag.data(), 16),
            STOCKADE_OK);
  EXPECT_EQ(length + last, 50U);
  stockade_stream_free(stream);
}

// As a server does that reads its key, forks, and answers.
TEST(ForkedChild, signs_with_a_key_that_its_parent_read_whatever_its_threads_do) {
  // Where another thread of the parent was allocating, the child waits for it for ever.
  if (STOCKADE_ADDRESS_SANITIZER || STOCKADE_THREAD_SANITIZER) GTEST_SKIP() << "their allocators do not survive fork()";
  const OracleRsaKey oracle = oracle_rsa_key(2048);
  const RsaKey key = read_private(private_pem(oracle));
  const RsaCase pkcs1 = {STOCKADE_RSA_PKCS1V15};
  const stockade_rsa_options options = pkcs1.options();
  const Bytes digest(32, 5), expected = oracle_sign(oracle, pkcs1, digest);
  const auto signs = [&] {
    Bytes signature(256);
    uint64_t length = 0;
    return stockade_rsa_sign_digest(key.get(), &options, digest.data(), 32, signature.data(), 256, &length, nullptr) ==
               STOCKADE_OK &&
           signature == expected;
  };
  ASSERT_TRUE(signs());
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) signs();
  });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(in_child([&] { return signs() && signs() && in_child(signs); }));
  stop = true;
  busy.join();
}

TEST(ForkedChild, cannot_use_the_queue_of_its_parent) {
  const RsaKey key = read_private(private_pem(oracle_rsa_key(2048)));
  stockade_rsa_queue* queue = nullptr;
  ASSERT_EQ(stockade_rsa_queue_create(&queue, nullptr, nullptr), STOCKADE_OK);
  const Bytes digest(32, 5);
  Bytes out(256);
  stockade_rsa_item item = {key.get(), digest.data(), 32, out.data(), 256, 0, nullptr, 0, STOCKADE_OK};
  ASSERT_EQ(stockade_rsa_queue_sign(queue, &item), STOCKADE_OK);
  const stockade_rsa_done done = [](void*, stockade_rsa_item*) {};
  EXPECT_TRUE(in_child([&] {
    stockade_rsa_queue_statistics statistics;
    const stockade_status all[] = {stockade_rsa_queue_sign(queue, &item), stockade_rsa_queue_decrypt(queue, &item),
                                   stockade_rsa_queue_submit_sign(queue, &item, done, nullptr),
                                   stockade_rsa_queue_submit_decrypt(queue, &item, done, nullptr),
                                   stockade_rsa_queue_statistics_get(queue, &statistics)};
    stockade_rsa_queue_free(queue);
    stockade_rsa_queue* own = nullptr;
    const bool made = stockade_rsa_queue_create(&own, nullptr, nullptr) == STOCKADE_OK;
    const bool signs = made && stockade_rsa_queue_sign(own, &item) == STOCKADE_OK;
    stockade_rsa_queue_free(own);
    return signs && std::all_of(std::begin(all), std::end(all),
                                [](stockade_status status) { return status == STOCKADE_ERROR_FORKED; });
  }));
  EXPECT_EQ(stockade_rsa_queue_sign(queue, &item), STOCKADE_OK);
  stockade_rsa_queue_free(queue);
}

}  // namespace
}  // namespace stockade::tests
