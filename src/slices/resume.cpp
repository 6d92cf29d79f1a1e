#include "slices/resume.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/without_throwing.h"
#include "format/file_input.h"
#include "io/descriptor.h"
#include "slices/sliced_file.h"

namespace stockade::slices {

using namespace format;  // NOLINT(google-build-using-namespace): slices are made of what it has

namespace {

// One job, from its journal or begun anew, to its end.
class Resumption {
 public:
  Resumption(const FileFormat& format, stockade_shared_kind kind, int in_fd, int out_fd, stockade_file_job& job,
             const Keyring& journal, const config::EngineChoice& engine, RandomSource& random, const JobPace& pace)
      : format_(format),
        kind_(kind),
        in_fd_(in_fd),
        out_fd_(out_fd),
        job_(job),
        journal_(journal),
        engine_(engine),
        random_(random),
        pace_(pace) {}

  Status run() {
    job_.in_length = job_.out_length = job_.resumed_length = 0;
    fault_ = make_fault(STOCKADE_OK);
    const Status status = without_throwing([&] { return begin_and_work(); });
    job_.fault = fault_.status == status ? fault_ : make_fault(status);
    return status;
  }

 private:
  bool seals() const { return kind_ == STOCKADE_SHARED_ENCRYPT; }

  Status begin_and_work() {
    Status status = check_format(format_, seals() ? STOCKADE_ENCRYPT : STOCKADE_DECRYPT);
    // Plain Cobblestone has no file key of its own under which a journal could be authenticated.
    if (status == STOCKADE_OK && (format_.keyring == nullptr || format_.armor)) status = STOCKADE_ERROR_MODE;
    if (status == STOCKADE_OK) status = check_files(in_fd_, out_fd_, job_.journal_fd);
    if (status == STOCKADE_OK) status = check_positions();
    if (status != STOCKADE_OK) return status;
    status = file_.open_journal(job_.journal_fd, journal_, format_.max_work_factor, fault_);
    if (status == STOCKADE_ERROR_TRUNCATED) {
      status = begin();
    } else if (status == STOCKADE_OK) {
      status = check_terms();
    }
    return status == STOCKADE_OK ? work() : status;
  }

  // The files are used from their beginning to their end.
  Status check_positions() const {
    const off_t in = ::lseek(in_fd_, 0, SEEK_CUR), out = ::lseek(out_fd_, 0, SEEK_CUR);
    if (in < 0 || out < 0) return STOCKADE_ERROR_IO;
    return in == 0 && out == 0 ? STOCKADE_OK : STOCKADE_ERROR_MODE;
  }

  Status begin() {
    Options options;
    options.kind = kind_;
    options.processes = engine_.threads;
    options.journal_fd = job_.journal_fd;
    options.journal_keyring = &journal_;
    options.extends_output = false;
    return file_.create(format_, in_fd_, out_fd_, options, engine_, random_, fault_);
  }

  // That the journal is of this job: JOURNAL; INPUT_CHANGED comes with the work.
  Status check_terms() {
    const Terms& terms = file_.terms();
    if (terms.kind != kind_) return STOCKADE_ERROR_JOURNAL;
    const Status status = seals() ? check_recipients() : check_source();
    struct stat out;
    if (status != STOCKADE_OK) return status;
    if (::fstat(out_fd_, &out) != 0) return STOCKADE_ERROR_IO;
    // What is behind the end does not belong there.
    const bool too_long = static_cast<uint64_t>(out.st_size) > terms.output_length();
    return too_long && ::ftruncate(out_fd_, static_cast<off_t>(terms.output_length())) != 0 ? STOCKADE_ERROR_IO
                                                                                            : STOCKADE_OK;
  }

  // The output is for whom the file shall be for.
  Status check_recipients() {
    std::vector<uint8_t> bytes(file_.terms().beginning_length());
    uint64_t got;
    Status status = io::read_at(out_fd_, 0, bytes.data(), bytes.size(), &got);
    if (status != STOCKADE_OK) return status;
    Header header;
    Beginning beginning;
    stockade_fault fault;
    status = open_beginning_with(file_.terms().file_key, {bytes.data(), got}, header, beginning, fault);
    if (status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_LIBRARY) return status;
    if (status != STOCKADE_OK || header.cipher != format_.cipher) return STOCKADE_ERROR_JOURNAL;
    bool same = false;
    status = same_recipients(*format_.keyring, header, format_.max_work_factor, &same);
    return status == STOCKADE_OK && !same ? STOCKADE_ERROR_JOURNAL : status;
  }

  // The input is the file that the job has opened.
  Status check_source() {
    FileInput input(in_fd_, job_.progress, job_.progress_context);
    Status status = input.open_at_beginning();
    Beginning beginning;
    bool armored = false;
    if (status == STOCKADE_OK) status = find_beginning(format_, input, beginning, &armored, fault_);
    if (status == STOCKADE_OK && armored) status = STOCKADE_ERROR_MODE;
    if (status != STOCKADE_OK) return status;
    const Terms& terms = file_.terms();
    const bool same = equal_constant_time(terms.file_key, *beginning.file_key, file_key_bytes) &&
                      std::memcmp(terms.preamble, beginning.key->preamble, chunked::preamble_bytes) == 0 &&
                      terms.header_length == beginning.header_length;
    return same ? STOCKADE_OK : STOCKADE_ERROR_JOURNAL;
  }

  Status work() {
    const Terms& terms = file_.terms();
    stockade_shared_work work{};
    work.in_fd = in_fd_;
    work.out_fd = out_fd_;
    work.journal_fd = job_.journal_fd;
    work.next = [](void* self) { return static_cast<Resumption*>(self)->next_slice(); };
    work.next_context = this;
    work.progress = job_.progress;
    work.progress_context = job_.progress_context;
    work.total = terms.length;
    work.accept_changed_input = job_.accept_changed_input;
    uint64_t resumed = 0;
    Status status = file_.run(work, engine_, pace_, &resumed);
    fault_ = work.fault;
    const uint64_t before = seals() ? 0 : terms.beginning_length();
    job_.in_length = before + resumed + work.in_length;
    job_.resumed_length = resumed == 0 ? 0 : before + resumed;
    struct stat out;
    if (::fstat(out_fd_, &out) == 0) job_.out_length = static_cast<uint64_t>(out.st_size);
    if (status != STOCKADE_OK) return status;
    // Every slice is recorded, and the output begins and ends as it must, before the caller gives it a name.
    status = file_.check(out_fd_, job_.journal_fd, fault_);
    if (status == STOCKADE_OK) status = move_positions();
    return status;
  }

  // Behind what was read and written, as without a journal.
  Status move_positions() const {
    return ::lseek(in_fd_, 0, SEEK_END) >= 0 && ::lseek(out_fd_, 0, SEEK_END) >= 0 ? STOCKADE_OK : STOCKADE_ERROR_IO;
  }

  // All of them, those included that are done: they are read back.
  uint64_t next_slice() { return next_ < file_.terms().slices() ? next_++ : STOCKADE_NO_SLICE; }

  const FileFormat& format_;
  const stockade_shared_kind kind_;
  const int in_fd_, out_fd_;
  stockade_file_job& job_;
  const Keyring& journal_;
  const config::EngineChoice& engine_;
  RandomSource& random_;
  const JobPace& pace_;
  SlicedFile file_;
  stockade_fault fault_{};
  uint64_t next_ = 0;
};

}  // namespace

Status encrypt_with_journal(const FileFormat& format, int in_fd, int out_fd, stockade_file_job& job,
                            const Keyring& journal, const config::EngineChoice& engine, RandomSource& random,
                            const JobPace& pace) {
  return Resumption(format, STOCKADE_SHARED_ENCRYPT, in_fd, out_fd, job, journal, engine, random, pace).run();
}

Status decrypt_with_journal(const FileFormat& format, int in_fd, int out_fd, stockade_file_job& job,
                            const Keyring& journal, const config::EngineChoice& engine, RandomSource& random,
                            const JobPace& pace) {
  return Resumption(format, STOCKADE_SHARED_DECRYPT, in_fd, out_fd, job, journal, engine, random, pace).run();
}

}  // namespace stockade::slices
