// Stockade files from descriptor to descriptor: descriptors that cannot be used, inputs that change, jobs that are stopped,
// journals, and the list of what is damaged.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "cross/file_sample.h"
#include "cross/handles.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

constexpr uint64_t run_bytes = uint64_t{256} << 10;  // of plaintext; a job is cut into runs

// What a job does with two descriptors; verification leaves the second alone.
enum class Job { encrypt, encrypt_armored, decrypt, decrypt_armored, verify, verify_armored };
constexpr Job all_jobs[] = {Job::encrypt,         Job::encrypt_armored, Job::decrypt,
                            Job::decrypt_armored, Job::verify,          Job::verify_armored};

bool verifies(Job job) { return job == Job::verify || job == Job::verify_armored; }
bool is_armored(Job job) {
  return job == Job::encrypt_armored || job == Job::decrypt_armored || job == Job::verify_armored;
}

class FileJobs : public testing::Test {
 protected:
  Bytes input(Job job, const Bytes& text) const {
    if (job == Job::encrypt || job == Job::encrypt_armored) return text;
    const Bytes sealed = seal(format_, text);
    return is_armored(job) ? in_armor(sealed) : sealed;
  }
  stockade_status run(Job job, int in, int out, const stockade_engine* engine = nullptr) {
    errno = 0;
    stockade_format format = format_;
    format.armor = is_armored(job);
    stockade_status status;
    if (verifies(job)) {
      status = stockade_file_verify_fd(in, &format, &job_, engine);
    } else {
      const bool making = job == Job::encrypt || job == Job::encrypt_armored;
      status = (making ? stockade_file_encrypt_fd : stockade_file_decrypt_fd)(in, out, &format, &job_, engine);
    }
    error_ = errno;
    EXPECT_EQ(job_.fault.status, status);
    return status;
  }
  void expect_io(Job job, int in, int out, int error) {
    EXPECT_EQ(run(job, in, out), STOCKADE_ERROR_IO) << static_cast<int>(job);
    EXPECT_EQ(error_, error) << static_cast<int>(job);
  }

  const KeyringHandle ring_ = keyring_of({sample_key(1)});
  stockade_format format_ = format_for(ring_);
  stockade_file_job job_ = file_job();
  int error_ = 0;
};

// --- descriptors ---------------------------------------------------------------------------------------------------

TEST_F(FileJobs, say_what_they_have_done) {
  const Bytes text = sample_text(700000);
  for (const Job job : all_jobs) {
    const Bytes content = input(job, text);
    for (const NamedEngine& engine : all_engines()) {
      const TemporaryFile in(content), out;
      job_.in_length = job_.out_length = job_.resumed_length = 77;
      ASSERT_EQ(run(job, in.fd(), out.fd(), engine.engine), STOCKADE_OK) << engine.name;
      EXPECT_EQ(job_.in_length, content.size());
      EXPECT_EQ(job_.out_length, verifies(job) ? text.size() : out.size());
      EXPECT_EQ(job_.resumed_length, 0U);
      EXPECT_EQ(in.position(), content.size());
      EXPECT_EQ(out.position(), out.size());
      const Feed pipe(content);
      Drain drain;
      ASSERT_EQ(run(job, pipe.fd(), drain.fd(), engine.engine), STOCKADE_OK) << engine.name;
      EXPECT_EQ(job_.in_length, content.size());
      EXPECT_EQ(job_.out_length, verifies(job) ? text.size() : drain.finish().size());
      EXPECT_EQ(job_.resumed_length, 0U);
    }
  }
}

TEST_F(FileJobs, io_for_descriptors_that_cannot_be_used) {
  for (const Job job : all_jobs) {
    const TemporaryFile in(input(job, sample_text(100000))), out;
    expect_io(job, -1, out.fd(), EBADF);
    const int write_only = in.reopen(O_WRONLY), read_only = out.reopen(O_RDONLY);
    expect_io(job, write_only, out.fd(), EBADF);
    const int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    expect_io(job, folder, out.fd(), EISDIR);
    if (!verifies(job)) {
      expect_io(job, in.fd(), -1, EBADF);
      expect_io(job, in.fd(), read_only, EBADF);
      const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
      expect_io(job, in.fd(), full, ENOSPC);
      close(full);
      int ends[2];
      ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
      close(ends[0]);
      expect_io(job, in.fd(), ends[1], EPIPE);
      close(ends[1]);
    }
    for (const int fd : {write_only, read_only, folder}) close(fd);
    EXPECT_EQ(out.size(), 0U);
  }
}

TEST_F(FileJobs, io_when_a_file_may_not_grow) {
  for (const Job job : {Job::encrypt, Job::encrypt_armored, Job::decrypt, Job::decrypt_armored}) {
    const TemporaryFile in(input(job, sample_text(3000000))), out;
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small = {65536, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const stockade_status status = run(job, in.fd(), out.fd());
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(status, STOCKADE_ERROR_IO);
    EXPECT_EQ(error_, EFBIG);
    EXPECT_EQ(out.size(), 0U);
  }
}

TEST_F(FileJobs, overlap_of_one_file_with_itself) {
  for (const Job job : all_jobs) {
    if (verifies(job)) continue;
    const Bytes content = input(job, sample_text(100000));
    for (const bool with_journal : {false, true}) {
      if (with_journal && is_armored(job)) continue;
      const TemporaryFile file(content), journal;
      const int again = file.reopen(O_RDWR);
      job_.journal_fd = with_journal ? journal.fd() : -1;
      EXPECT_EQ(run(job, file.fd(), again), STOCKADE_ERROR_OVERLAP);
      EXPECT_TRUE(file.content() == content) << "the input is gone";
      close(again);
    }
  }
}

// What stood before the position stays, and nothing is left behind it.
TEST_F(FileJobs, cut_the_output_back) {
  const Bytes before(50, 7);
  for (const uint64_t length : {100000, 3000000}) {
    for (const Job job : {Job::decrypt, Job::decrypt_armored}) {
      Bytes sealed = seal(format_, sample_text(length));
      sealed[sample_chunk(length / STOCKADE_CHUNK_BYTES - 1)] ^= 1;
      const TemporaryFile in(is_armored(job) ? in_armor(sealed) : sealed), out(before);
      out.seek(30);
      EXPECT_EQ(run(job, in.fd(), out.fd()), STOCKADE_ERROR_CHUNK);
      // It may not have been touched at all.
      const uint64_t left = out.size();
      EXPECT_TRUE(left == 30 || left == 50) << left;
      EXPECT_EQ(out.content(), Bytes(left, 7));
      EXPECT_EQ(out.position(), 30U);
      EXPECT_EQ(job_.out_length, 0U);
    }
  }
}

// --- changes and wishes --------------------------------------------------------------------------------------------

struct Change {
  const TemporaryFile& file;
  uint64_t length;
};
int change_length(void* context, uint64_t, uint64_t) {
  const Change& change = *static_cast<const Change*>(context);
  change.file.resize(change.length);
  return 0;
}

TEST_F(FileJobs, input_changed_when_it_shrinks_or_grows) {
  for (const Job job : all_jobs) {
    for (const uint64_t length : {100000, 3000000}) {
      const Bytes content = input(job, sample_text(length));
      for (const uint64_t becomes : {content.size() / 2, content.size() - 1, content.size() + 1}) {
        const TemporaryFile in(content), out;
        Change change = {in, becomes};
        job_.progress = change_length;
        job_.progress_context = &change;
        const stockade_status status = run(job, in.fd(), out.fd());
        // An armored file is read in order, and what its text says comes first.
        const bool text_first = is_armored(job) && job != Job::encrypt_armored && becomes != content.size() + 1;
        if (text_first && status != STOCKADE_ERROR_INPUT_CHANGED) {
          EXPECT_EQ(status, STOCKADE_ERROR_TRUNCATED);
        } else {
          EXPECT_EQ(status, STOCKADE_ERROR_INPUT_CHANGED) << static_cast<int>(job) << " becomes " << becomes;
        }
        EXPECT_EQ(out.size(), 0U);
      }
    }
  }
}

int stop_at_once(void*, uint64_t, uint64_t) { return 1; }
int stop_on_the_way(void*, uint64_t done, uint64_t) { return done != 0; }

TEST_F(FileJobs, cancelled_by_the_progress_callback) {
  for (const Job job : all_jobs) {
    const Bytes content = input(job, sample_text(3000000));
    for (const stockade_progress progress : {stop_at_once, stop_on_the_way}) {
      job_.progress = progress;
      const TemporaryFile in(content), out;
      EXPECT_EQ(run(job, in.fd(), out.fd()), STOCKADE_ERROR_CANCELLED);
      EXPECT_EQ(out.size(), 0U);
      const Feed pipe(content);
      Drain drain;
      EXPECT_EQ(run(job, pipe.fd(), drain.fd()), STOCKADE_ERROR_CANCELLED);
    }
  }
}

TEST_F(FileJobs, cancelled_while_nothing_comes) {
  for (const Job job : all_jobs) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    int calls = 0;
    job_.progress = [](void* context, uint64_t, uint64_t) { return ++*static_cast<int*>(context) == 3 ? 1 : 0; };
    job_.progress_context = &calls;
    const TemporaryFile out;
    EXPECT_EQ(run(job, ends[0], out.fd()), STOCKADE_ERROR_CANCELLED);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(out.size(), 0U);
    close(ends[0]);
    close(ends[1]);
  }
}

TEST_F(FileJobs, report_their_progress) {
  struct Seen {
    uint64_t first = UINT64_MAX, last = 0, total = 0;
    bool forwards = true;
  };
  const auto note = [](void* context, uint64_t done, uint64_t total) {
    Seen& seen = *static_cast<Seen*>(context);
    if (seen.first == UINT64_MAX) seen.first = done;
    seen.forwards &= done >= seen.last;
    seen.last = done;
    seen.total = total;
    return 0;
  };
  for (const Job job : all_jobs) {
    const Bytes content = input(job, sample_text(3000000));
    const uint64_t beginning = job == Job::decrypt || job == Job::verify ? sample_chunk(0) : 0;
    Seen seen;
    job_.progress = note;
    job_.progress_context = &seen;
    const TemporaryFile in(content), out;
    ASSERT_EQ(run(job, in.fd(), out.fd()), STOCKADE_OK);
    EXPECT_EQ(seen.first, 0U);
    EXPECT_TRUE(seen.forwards);
    // The beginning may have been read before it was known what there is to do.
    EXPECT_GE(seen.last, content.size() - beginning);
    EXPECT_LE(seen.last, content.size());
    EXPECT_EQ(seen.total, seen.last);
  }
}

// --- what is damaged -----------------------------------------------------------------------------------------------

struct Range {
  uint64_t chunk, count, offset, length;
  bool operator==(const Range&) const = default;
};
int note_range(void* context, uint64_t chunk, uint64_t count, uint64_t offset, uint64_t length) {
  static_cast<std::vector<Range>*>(context)->push_back({chunk, count, offset, length});
  return 0;
}
Range range_of(uint64_t chunk, uint64_t count) {
  return {chunk, count, sample_chunk(chunk), count * STOCKADE_SEALED_CHUNK_BYTES};
}

class FileVerification : public FileJobs {
 protected:
  static constexpr uint64_t text_bytes = 100 * STOCKADE_CHUNK_BYTES + 1000;
  FileVerification() {
    job_.damage = note_range;
    job_.damage_context = &ranges_;
  }
  stockade_status verify(const Bytes& file, const stockade_engine* engine = nullptr) {
    ranges_.clear();
    const TemporaryFile in(file);
    const stockade_status status = run(Job::verify, in.fd(), -1, engine);
    const std::vector<Range> found = ranges_;
    ranges_.clear();
    const Feed pipe(file);
    EXPECT_EQ(run(Job::verify, pipe.fd(), -1, engine), status);
    EXPECT_EQ(ranges_, found);
    return status;
  }
  const Bytes file_ = seal(format_, sample_text(text_bytes));
  std::vector<Range> ranges_;
};

TEST_F(FileVerification, lists_every_damaged_chunk) {
  Bytes bad = file_;
  // Across the runs of a job, and the last one.
  for (const uint64_t chunk : {0, 14, 15, 16, 17, 50, 99, 100}) bad[sample_chunk(chunk) + 5] ^= 1;
  for (const NamedEngine& engine : all_engines()) {
    EXPECT_EQ(verify(bad, engine.engine), STOCKADE_ERROR_CHUNK) << engine.name;
    Range last = range_of(99, 2);
    last.length = STOCKADE_SEALED_CHUNK_BYTES + 1016;
    EXPECT_EQ(ranges_, (std::vector<Range>{range_of(0, 1), range_of(14, 4), range_of(50, 1), last})) << engine.name;
    EXPECT_EQ(job_.fault.chunk, 0U);
    EXPECT_EQ(job_.fault.offset, sample_chunk(0));
    EXPECT_EQ(job_.in_length, bad.size());
    EXPECT_EQ(job_.out_length, text_bytes - 7 * STOCKADE_CHUNK_BYTES - 1000);
  }
  EXPECT_EQ(verify(file_), STOCKADE_OK);
  EXPECT_TRUE(ranges_.empty());
  EXPECT_EQ(job_.out_length, text_bytes);
}

TEST_F(FileVerification, lists_every_damaged_chunk_of_an_armored_file) {
  Bytes bad = file_;
  for (const uint64_t chunk : {3, 4, 70}) bad[sample_chunk(chunk) + 5] ^= 1;
  const Bytes armored = in_armor(bad);
  const TemporaryFile in(armored);
  EXPECT_EQ(run(Job::verify_armored, in.fd(), -1), STOCKADE_ERROR_CHUNK);
  EXPECT_EQ(ranges_, (std::vector<Range>{range_of(3, 2), range_of(70, 1)}));
  EXPECT_EQ(job_.fault.chunk, 3U);
  EXPECT_EQ(job_.fault.offset, sample_chunk(3));
  EXPECT_EQ(job_.in_length, armored.size());
  EXPECT_EQ(job_.out_length, text_bytes - 3 * STOCKADE_CHUNK_BYTES);
}

TEST_F(FileVerification, says_that_the_end_is_missing_behind_what_is_damaged) {
  Bytes bad(file_.begin(), file_.begin() + static_cast<long>(sample_chunk(60)));
  EXPECT_EQ(verify(bad), STOCKADE_ERROR_TRUNCATED);
  EXPECT_EQ(job_.fault.offset, sample_chunk(60));
  EXPECT_TRUE(ranges_.empty());
  EXPECT_EQ(job_.out_length, 60U * STOCKADE_CHUNK_BYTES);
  bad[sample_chunk(20)] ^= 1;
  EXPECT_EQ(verify(bad), STOCKADE_ERROR_CHUNK);
  EXPECT_EQ(job_.fault.chunk, 20U);
  EXPECT_EQ(ranges_, std::vector<Range>{range_of(20, 1)});
}

TEST_F(FileVerification, stops_when_its_callback_says_so) {
  Bytes bad = file_;
  for (const uint64_t chunk : {0, 50}) bad[sample_chunk(chunk)] ^= 1;
  int calls = 0;
  job_.damage = [](void* context, uint64_t, uint64_t, uint64_t, uint64_t) { return ++*static_cast<int*>(context); };
  job_.damage_context = &calls;
  const TemporaryFile in(bad);
  EXPECT_EQ(run(Job::verify, in.fd(), -1), STOCKADE_ERROR_CANCELLED);
  EXPECT_EQ(calls, 1);
  // Nobody has to listen.
  job_.damage = nullptr;
  in.seek(0);
  EXPECT_EQ(run(Job::verify, in.fd(), -1), STOCKADE_ERROR_CHUNK);
}

// --- journals ------------------------------------------------------------------------------------------------------

// Stops a job from its progress callback once a state behind `bytes` of its input is in the journal: callbacks come at
// most every 100 milliseconds, states every 250.
struct Interruption {
  uint64_t bytes;
  bool noted = false;
};
int interrupt(void* context, uint64_t done, uint64_t) {
  Interruption& wish = *static_cast<Interruption*>(context);
  if (wish.noted) return 1;
  wish.noted = done >= wish.bytes;
  usleep(wish.noted ? 300000 : 110000);
  return 0;
}

class FileJournal : public FileJobs {
 protected:
  static constexpr uint64_t text_bytes = 3 * run_bytes + 1000;
  static constexpr Job resumable[] = {Job::encrypt, Job::decrypt};

  // An input, and what a job that was stopped has left. An input is known by its inode, so that it has to stay; the other
  // two may be copied.
  struct Left {
    explicit Left(const Bytes& content) : in(content) {}
    TemporaryFile in;
    Bytes out, journal;
  };
  void leave(Left& left, Job job, uint64_t bytes = 1) {
    const TemporaryFile out, journal;
    Interruption wish{bytes};
    stockade_file_job fresh = file_job();
    fresh.journal_keyring = job_.journal_keyring;
    job_ = fresh;
    job_.progress = interrupt;
    job_.progress_context = &wish;
    job_.journal_fd = journal.fd();
    ASSERT_EQ(run(job, left.in.fd(), out.fd(), serial_.get()), STOCKADE_ERROR_CANCELLED);
    ASSERT_GT(out.size(), 0U) << "an output with a journal stays";
    left.out = out.content();
    left.journal = journal.content();
    job_.progress = nullptr;
  }
  // Goes on with what was left; the journal and the output are copies.
  stockade_status resume(const Left& left, Job job) {
    const TemporaryFile out(left.out), journal(left.journal);
    left.in.seek(0);
    job_.journal_fd = journal.fd();
    const stockade_status status = run(job, left.in.fd(), out.fd());
    written_ = out.content();
    if (status != STOCKADE_OK) {
      EXPECT_TRUE(written_ == left.out) << "a refused job has changed its output";
      EXPECT_TRUE(journal.content() == left.journal) << "a refused job has changed its journal";
    }
    return status;
  }
  void expect_right(Job job) {
    if (job == Job::decrypt) {
      EXPECT_TRUE(written_ == text_);
      return;
    }
    const TemporaryFile in(written_), out;
    stockade_file_job back = file_job();
    ASSERT_EQ(stockade_file_decrypt_fd(in.fd(), out.fd(), &format_, &back, nullptr), STOCKADE_OK);
    EXPECT_TRUE(out.content() == text_);
  }
  void expect_journal_fault() {
    EXPECT_EQ(describe(job_.fault), describe(fault_of(STOCKADE_ERROR_JOURNAL)));
    EXPECT_EQ(fault_sentence(job_.fault), "the journal is damaged, or belongs to another job");
  }

  const Engine serial_ = make_engine("serial", 1);
  const Bytes text_ = sample_text(text_bytes);
  Bytes written_;
};

TEST_F(FileJournal, lets_a_job_go_on) {
  for (const Job job : resumable) {
    Left left(input(job, text_));
    leave(left, job);
    ASSERT_EQ(resume(left, job), STOCKADE_OK);
    EXPECT_GE(job_.resumed_length, run_bytes);
    EXPECT_LT(job_.resumed_length, left.in.size());
    EXPECT_EQ(job_.in_length, left.in.size());
    EXPECT_EQ(job_.out_length, written_.size());
    expect_right(job);
  }
}

TEST_F(FileJournal, lets_a_job_go_on_that_lacked_nothing_but_its_end) {
  for (const Job job : resumable) {
    Left left(input(job, text_));
    leave(left, job, text_bytes);
    ASSERT_EQ(resume(left, job), STOCKADE_OK);
    EXPECT_GE(job_.resumed_length, run_bytes);
    expect_right(job);
  }
}

TEST_F(FileJournal, is_nothing_without_its_first_state) {
  for (const Job job : resumable) {
    Left left(input(job, text_));
    leave(left, job);
    const Bytes whole = left.journal;
    stockade_header* header = nullptr;
    ASSERT_EQ(stockade_header_parse(&header, whole.data(), whole.size(), nullptr), STOCKADE_OK);
    const uint64_t header_length = stockade_header_length(header);
    stockade_header_free(header);
    // Empty, zeros that were never written, and a first record that is not whole.
    for (const Bytes& journal :
         {Bytes(), Bytes(1000), Bytes(whole.begin(), whole.begin() + static_cast<long>(header_length)),
          Bytes(whole.begin(), whole.begin() + static_cast<long>(header_length) + 20)}) {
      left.journal = journal;
      ASSERT_EQ(resume(left, job), STOCKADE_OK) << journal.size();
      EXPECT_EQ(job_.resumed_length, 0U);
      expect_right(job);
    }
  }
}

TEST_F(FileJournal, that_is_damaged) {
  for (const Job job : resumable) {
    Left left(input(job, text_));
    leave(left, job);
    const Bytes whole = left.journal;
    stockade_header* header = nullptr;
    ASSERT_EQ(stockade_header_parse(&header, whole.data(), whole.size(), nullptr), STOCKADE_OK);
    const uint64_t header_length = stockade_header_length(header);
    stockade_header_free(header);
    // The magic, a line of the header, its MAC.
    for (const uint64_t offset : {uint64_t{0}, uint64_t{40}, header_length / 2, header_length - 5}) {
      left.journal = whole;
      left.journal[offset] ^= 4;
      const stockade_status status = resume(left, job);
      // A flipped bit may as well have made another key's name.
      if (status != STOCKADE_ERROR_NO_IDENTITY) {
        EXPECT_EQ(status, STOCKADE_ERROR_JOURNAL) << offset;
        expect_journal_fault();
      }
    }
    // Both records.
    left.journal = whole;
    const uint64_t record = (whole.size() - header_length) / 2;
    left.journal[header_length + 50] ^= 1;
    left.journal[header_length + record + 50] ^= 1;
    EXPECT_EQ(resume(left, job), STOCKADE_ERROR_JOURNAL);
    expect_journal_fault();
    left.journal = text_;
    EXPECT_EQ(resume(left, job), STOCKADE_ERROR_JOURNAL);
    expect_journal_fault();
  }
}

TEST_F(FileJournal, that_is_not_of_this_job) {
  Left making(text_), opening(seal(format_, text_));
  leave(making, Job::encrypt);
  leave(opening, Job::decrypt);
  // Of the other direction, on either side.
  std::swap(making.journal, opening.journal);
  for (const auto& [left, job] : {std::pair(&making, Job::encrypt), {&opening, Job::decrypt}}) {
    EXPECT_EQ(resume(*left, job), STOCKADE_ERROR_JOURNAL);
    expect_journal_fault();
  }
  std::swap(making.journal, opening.journal);
  // An output that is not what the job has left: another file, and one without its beginning.
  const Bytes out = making.out;
  making.out = seal(format_, text_);
  EXPECT_EQ(resume(making, Job::encrypt), STOCKADE_ERROR_JOURNAL);
  expect_journal_fault();
  for (const uint64_t length : {uint64_t{0}, uint64_t{100}}) {
    making.out.assign(out.begin(), out.begin() + static_cast<long>(length));
    EXPECT_EQ(resume(making, Job::encrypt), STOCKADE_ERROR_JOURNAL) << length;
  }
  // What is missing behind the beginning is made again.
  for (const uint64_t length : {uint64_t{2000}, run_bytes - 1}) {
    making.out.assign(out.begin(), out.begin() + static_cast<long>(length));
    EXPECT_EQ(resume(making, Job::encrypt), STOCKADE_OK) << length;
  }
  const Bytes plain = opening.out;
  for (const uint64_t length : {uint64_t{0}, uint64_t{2000}, run_bytes - 1}) {
    opening.out.assign(plain.begin(), plain.begin() + static_cast<long>(length));
    EXPECT_EQ(resume(opening, Job::decrypt), STOCKADE_OK) << length;
  }
  // Other recipients than the ones that were promised the file, and another cipher.
  making.out = out;
  const KeyringHandle more = keyring_of({sample_key(1), sample_key(2)});
  format_.keyring = more.get();
  EXPECT_EQ(resume(making, Job::encrypt), STOCKADE_ERROR_JOURNAL);
  format_.keyring = ring_.get();
  format_.cipher = STOCKADE_COBBLESTONE_128;
  EXPECT_EQ(resume(making, Job::encrypt), STOCKADE_ERROR_JOURNAL);
  format_.cipher = STOCKADE_COBBLESTONE_256;
  EXPECT_EQ(resume(making, Job::encrypt), STOCKADE_OK);
}

TEST_F(FileJournal, is_for_those_whom_it_is_sealed_to) {
  Left left(text_);
  leave(left, Job::encrypt);
  const KeyringHandle other = keyring_of({sample_key(50)}), phrase = keyring_of("swordfish"),
                      wrong = keyring_of("Swordfish");
  job_.journal_keyring = other.get();
  EXPECT_EQ(resume(left, Job::encrypt), STOCKADE_ERROR_NO_IDENTITY);
  job_.journal_keyring = phrase.get();
  leave(left, Job::encrypt);
  job_.journal_keyring = wrong.get();
  EXPECT_EQ(resume(left, Job::encrypt), STOCKADE_ERROR_PASSPHRASE);
  job_.journal_keyring = nullptr;
  EXPECT_EQ(resume(left, Job::encrypt), STOCKADE_ERROR_NO_IDENTITY);
  job_.journal_keyring = phrase.get();
  EXPECT_EQ(resume(left, Job::encrypt), STOCKADE_OK);
  expect_right(Job::encrypt);
  // One that nobody could open.
  const KeyringHandle empty = keyring_of(std::vector<Bytes>());
  job_.journal_keyring = empty.get();
  left.journal.clear();
  left.out.clear();
  EXPECT_EQ(resume(left, Job::encrypt), STOCKADE_ERROR_NO_IDENTITY);
}

TEST_F(FileJournal, work_factor) {
  const KeyringHandle phrase = keyring_of("swordfish", 3);
  job_.journal_keyring = phrase.get();
  Left left(text_);
  leave(left, Job::encrypt);
  format_.max_work_factor = 2;
  EXPECT_EQ(resume(left, Job::encrypt), STOCKADE_ERROR_WORK_FACTOR);
  EXPECT_EQ(job_.fault.value, 3U);
}

TEST_F(FileJournal, input_changed_since_the_job_was_stopped) {
  for (const Job job : resumable) {
    Left left(input(job, text_));
    leave(left, job);
    // Its time alone.
    const timespec times[2] = {{0, UTIME_OMIT}, {1000000000, 0}};
    ASSERT_EQ(futimens(left.in.fd(), times), 0);
    EXPECT_EQ(resume(left, job), STOCKADE_ERROR_INPUT_CHANGED);
    // Another file with the same content.
    Left copy(left.in.content());
    copy.out = left.out;
    copy.journal = left.journal;
    EXPECT_EQ(resume(copy, job), STOCKADE_ERROR_INPUT_CHANGED);
  }
}

TEST_F(FileJournal, mode_for_what_cannot_be_resumed) {
  const TemporaryFile in(text_), sealed(seal(format_, text_)), armored(in_armor(seal(format_, text_))), journal;
  job_.journal_fd = journal.fd();
  const auto expect_mode = [&](Job job, int from, int to) {
    EXPECT_EQ(run(job, from, to), STOCKADE_ERROR_MODE) << static_cast<int>(job);
    EXPECT_EQ(describe(job_.fault), describe(fault_of(STOCKADE_ERROR_MODE)));
  };
  {
    const Feed text(text_), file(seal(format_, text_));
    const TemporaryFile out(Bytes(10, 7));
    expect_mode(Job::encrypt, text.fd(), out.fd());
    expect_mode(Job::decrypt, file.fd(), out.fd());
    expect_mode(Job::encrypt_armored, in.fd(), out.fd());
    expect_mode(Job::decrypt_armored, armored.fd(), out.fd());
    // Not from the start.
    out.seek(5);
    expect_mode(Job::encrypt, in.fd(), out.fd());
    expect_mode(Job::decrypt, sealed.fd(), out.fd());
    out.seek(0);
    in.seek(5);
    sealed.seek(5);
    expect_mode(Job::encrypt, in.fd(), out.fd());
    EXPECT_NE(run(Job::decrypt, sealed.fd(), out.fd()), STOCKADE_OK);
    in.seek(0);
    sealed.seek(0);
    // Not by offset.
    const int append = out.reopen(O_RDWR | O_APPEND);
    expect_mode(Job::encrypt, in.fd(), append);
    expect_mode(Job::decrypt, sealed.fd(), append);
    close(append);
    EXPECT_EQ(out.content(), Bytes(10, 7)) << "a refused job has changed its output";
  }
  Drain drain;
  expect_mode(Job::encrypt, in.fd(), drain.fd());
  expect_mode(Job::decrypt, sealed.fd(), drain.fd());
  EXPECT_TRUE(drain.finish().empty());
  // Plain Cobblestone, even with a keyring that the journal could be sealed to.
  const Bytes key = sample_key(9);
  format_ = plain_format(key, {});
  const TemporaryFile plain(seal(format_, text_)), out;
  for (const stockade_keyring* ring : {static_cast<stockade_keyring*>(nullptr), ring_.get()}) {
    job_.journal_keyring = ring;
    expect_mode(Job::encrypt, in.fd(), out.fd());
    expect_mode(Job::decrypt, plain.fd(), out.fd());
  }
  EXPECT_EQ(journal.size(), 0U);
}

TEST_F(FileJournal, io_for_a_descriptor_that_cannot_be_used) {
  for (const Job job : resumable) {
    const TemporaryFile in(input(job, text_)), out, journal;
    const int read_only = journal.reopen(O_RDONLY), write_only = journal.reopen(O_WRONLY);
    for (const int fd : {read_only, write_only}) {
      job_.journal_fd = fd;
      EXPECT_EQ(run(job, in.fd(), out.fd()), STOCKADE_ERROR_MODE);
    }
    job_.journal_fd = 12345;
    EXPECT_EQ(run(job, in.fd(), out.fd()), STOCKADE_ERROR_IO);
    EXPECT_EQ(error_, EBADF);
    close(read_only);
    close(write_only);
  }
}

// It would be written over what it is to protect.
TEST_F(FileJournal, overlap_with_the_input_or_the_output) {
  for (const Job job : resumable) {
    // Zeros are what a journal looks like whose header was not written.
    const Bytes content = job == Job::encrypt ? Bytes(text_bytes) : input(job, text_);
    const TemporaryFile in(content), out;
    const int in_again = in.reopen(O_RDWR), out_again = out.reopen(O_RDWR);
    job_.journal_fd = in_again;
    EXPECT_EQ(run(job, in.fd(), out.fd()), STOCKADE_ERROR_OVERLAP);
    EXPECT_TRUE(in.content() == content) << "the input is gone";
    in.seek(0);
    job_.journal_fd = out_again;
    EXPECT_EQ(run(job, in.fd(), out.fd()), STOCKADE_ERROR_OVERLAP);
    close(in_again);
    close(out_again);
  }
}

// What is wrong with the input is found out with a journal too, and what was written stays for the next attempt.
TEST_F(FileJournal, keeps_the_output_of_a_failed_job) {
  Bytes bad = seal(format_, text_);
  bad[sample_chunk(40)] ^= 1;
  const TemporaryFile in(bad), out, journal;
  job_.journal_fd = journal.fd();
  EXPECT_EQ(run(Job::decrypt, in.fd(), out.fd(), serial_.get()), STOCKADE_ERROR_CHUNK);
  EXPECT_EQ(job_.fault.chunk, 40U);
  const Bytes kept = out.content();
  ASSERT_GE(kept.size(), 2 * run_bytes);
  EXPECT_TRUE(std::equal(kept.begin(), kept.begin() + 2 * run_bytes, text_.begin()));
}

// A caller that was built with version 0.4.0 has a shorter structure, behind which nothing is read or written.
TEST_F(FileJobs, structure_of_version_0_4_0) {
  const Bytes text = sample_text(100000);
  const TemporaryFile in(text), out;
  struct Old {
    alignas(stockade_file_job) uint8_t bytes[offsetof(stockade_file_job, accept_changed_input)];
    uint8_t behind[16];
  } old;
  job_.struct_size = sizeof old.bytes;
  std::memcpy(old.bytes, &job_, sizeof old.bytes);
  std::memset(old.behind, 0xEE, sizeof old.behind);
  auto* const job = reinterpret_cast<stockade_file_job*>(old.bytes);
  EXPECT_EQ(stockade_file_encrypt_fd(in.fd(), out.fd(), &format_, job, nullptr), STOCKADE_OK);
  EXPECT_TRUE(std::all_of(std::begin(old.behind), std::end(old.behind), [](uint8_t byte) { return byte == 0xEE; }));
  EXPECT_TRUE(ways_to_open()[0].open(format_, out.content()).text == text);
  for (const int64_t off : {-1, 1}) {
    job_.struct_size = sizeof old.bytes + static_cast<uint64_t>(off);
    std::memcpy(old.bytes, &job_, sizeof old.bytes);
    EXPECT_EQ(stockade_file_encrypt_fd(in.fd(), out.fd(), &format_, job, nullptr), STOCKADE_ERROR_ARGUMENT);
  }
}

}  // namespace
}  // namespace stockade::tests
