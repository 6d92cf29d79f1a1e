#include "format/file_job.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "format/at_offset.h"
#include "format/file_input.h"
#include "format/file_stream.h"
#include "format/journal.h"
#include "format/payload_work.h"

namespace stockade::format {
namespace {

Status report(stockade_file_job& job, const stockade_fault& fault) {
  job.fault = fault;
  return fault.status;
}

Status report(stockade_file_job& job, Status status) {
  return status == STOCKADE_OK ? status : report(job, make_fault(status));
}

// A file through a FileStream, in order: for armor.
class StreamWork final : public engine::FileWork {
 public:
  explicit StreamWork(FileStream& stream) : stream_(stream) {}
  Status check(uint64_t) override { return STOCKADE_OK; }
  engine::LaneUse lane_use() const override { return engine::LaneUse::inside; }
  Status transform(engine::FileRun& run, const engine::Worker&) override {
    uint64_t last = 0;
    const std::span<uint8_t> room(run.out, room_);
    Status status = stream_.update({run.data, run.length}, room, &run.out_length);
    if (status == STOCKADE_OK && run.last) status = stream_.finish(room.subspan(run.out_length), &last);
    run.out_length += last;
    return status;
  }
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

  // Bytes of output that a run may need. The header waits in the stream until it is complete.
  uint64_t room(uint64_t run_bytes) {
    const uint64_t input = run_bytes + engine::file_reserve + 2 * sealed_chunk_bytes + max_header_bytes;
    return room_ = stream_.bound(input) + stream_.bound(0);
  }

 private:
  FileStream& stream_;
  uint64_t room_ = 0;
};

// What all jobs on descriptors have in common.
engine::FileJob make_job(const stockade_file_job& job, int in_fd, int out_fd, const JobPace& pace) {
  engine::FileJob made{};
  made.in_fd = in_fd;
  made.out_fd = out_fd;
  made.progress = job.progress;
  made.progress_context = job.progress_context;
  made.progress_interval = pace.progress_interval;
  made.checkpoint_interval = pace.checkpoint_interval;
  return made;
}

// `beginning` bytes of the input come before what the job reads.
Status run(engine::FileJob& made, engine::FileWork& work, const engine::Engine& engine, uint64_t beginning,
           stockade_file_job& job) {
  const Status status = engine::run_file(made, work, engine);
  job.in_length = made.in_length + beginning;
  job.out_length = made.out_length;
  job.resumed_length = made.first_run == 0 ? 0 : made.first_run * made.run_bytes + beginning;
  return status;
}

// Armor in either direction. `prefix` is what has been read of a stream.
Status run_armored(const FileFormat& format, stockade_direction direction, engine::FileJob made, Bytes prefix,
                   stockade_file_job& job, const engine::Engine& engine, RandomSource& random) {
  // The chunks of a run; the pipeline overlaps them with reading and writing. What GPUs alone shall do, they do there too.
  const bool on_gpus = engine.kind == engine::Kind::cuda;
  FileStream stream(format, direction, on_gpus ? engine : engine::Engine{engine::Kind::serial, 1});
  Status status = stream.start(random);
  if (status != STOCKADE_OK) return report(job, status);
  StreamWork work(stream);
  made.run_bytes = run_chunks * chunk_bytes;
  made.out_run_bytes = work.room(made.run_bytes);
  made.in_order = true;
  made.prefix = prefix.data();
  made.prefix_length = prefix.size();
  status = run(made, work, engine, 0, job);
  const bool explained = stream.fault().status == status;
  return explained && status != STOCKADE_OK ? report(job, stream.fault()) : report(job, status);
}

// The journal of a job, and what it has to say about where to begin.
class Resumption {
 public:
  Resumption(const stockade_file_job& job, int out_fd, stockade_direction direction, uint64_t run_bytes)
      : journal_(job.journal_fd), journal_fd_(job.journal_fd), out_fd_(out_fd) {
    wanted_.direction = direction;
    wanted_.run_bytes = run_bytes;
  }

  // Reads the journal; `found` says that there is a job to go on with. Errors of Journal::open, MODE, JOURNAL,
  // INPUT_CHANGED.
  Status open(const FileInput& input, const Keyring& keyring, uint32_t max_work_factor, bool* found,
              stockade_fault& fault) {
    Status status = check_files(input);
    if (status != STOCKADE_OK) return status;
    describe_input(input.stat(), wanted_);
    status = journal_.open(keyring, max_work_factor, found, fault);
    if (status != STOCKADE_OK || !*found) return status;
    const JournalState& state = journal_.state();
    if (state.direction != wanted_.direction || state.run_bytes != wanted_.run_bytes) return STOCKADE_ERROR_JOURNAL;
    return same_input(state, wanted_) ? STOCKADE_OK : STOCKADE_ERROR_INPUT_CHANGED;
  }

  // Whether what was found belongs to a file that begins so, of whose output `lead` bytes and the runs that are not to be
  // done again are there, each of `out_run_bytes`. `length` is that of the input that is cut into runs.
  bool fits(const Beginning& beginning, uint64_t length, uint64_t lead, uint64_t out_run_bytes) const {
    const JournalState& state = journal_.state();
    const uint64_t runs = std::min(state.runs, engine::last_run(length, state.run_bytes));
    return equal_constant_time(journal_.file_key(), *beginning.file_key, file_key_bytes) &&
           std::memcmp(state.salt, beginning.key->preamble, salt_bytes) == 0 &&
           output_bytes() >= lead + runs * out_run_bytes;
  }

  const uint8_t* file_key() const { return journal_.file_key(); }
  uint64_t output_bytes() const { return static_cast<uint64_t>(out_stat_.st_size); }

  // Begins anew: cuts the output to nothing and makes a new journal.
  Status begin(const Keyring& keyring, const Beginning& beginning, RandomSource& random) {
    std::memcpy(wanted_.salt, beginning.key->preamble, salt_bytes);
    // The journal first: what it is refused for must not cost the output. Until it counts runs, the output is not looked at.
    const Status status = journal_.create(keyring, beginning.cipher, *beginning.file_key, random, wanted_);
    if (status != STOCKADE_OK) return status;
    return ::ftruncate(out_fd_, 0) == 0 ? STOCKADE_OK : STOCKADE_ERROR_IO;
  }

  void attach(engine::FileJob& made, bool found) {
    made.first_run = found ? journal_.state().runs : 0;
    made.checkpoint = [](void* context, uint64_t runs) { return static_cast<Resumption*>(context)->note(runs); };
    made.checkpoint_context = this;
    made.keeps_output = true;
  }

 private:
  // Three regular files that are not one another, from their begin on. Before anything is written to any of them. IO, MODE,
  // OVERLAP.
  Status check_files(const FileInput& input) {
    struct stat journal;
    const int flags = ::fcntl(out_fd_, F_GETFL);
    if (::fstat(out_fd_, &out_stat_) != 0 || ::fstat(journal_fd_, &journal) != 0 || flags < 0) return STOCKADE_ERROR_IO;
    const bool regular = input.regular() && S_ISREG(out_stat_.st_mode) && S_ISREG(journal.st_mode);
    if (!regular || (flags & O_APPEND) != 0) return STOCKADE_ERROR_MODE;
    if (input.position() != 0 || ::lseek(out_fd_, 0, SEEK_CUR) != 0) return STOCKADE_ERROR_MODE;
    const bool apart = !engine::same_file(input.stat(), out_stat_) && !engine::same_file(input.stat(), journal) &&
                       !engine::same_file(out_stat_, journal);
    return apart ? STOCKADE_OK : STOCKADE_ERROR_OVERLAP;
  }

  // What the journal counts as done must be on storage before the journal says so.
  Status note(uint64_t runs) {
    if (runs <= journal_.state().runs) return STOCKADE_OK;
    const Status status = sync_data(out_fd_);
    return status != STOCKADE_OK ? status : journal_.advance(runs);
  }

  Journal journal_;
  const int journal_fd_;
  const int out_fd_;
  struct stat out_stat_ {};
  JournalState wanted_{};
};

// The beginning of a file that an interrupted job has left. JOURNAL if it is not that file.
Status reopen_output(const FileFormat& format, int out_fd, Resumption& resumption, Beginning& beginning,
                     std::vector<uint8_t>& lead) {
  lead.resize(std::min(resumption.output_bytes(), max_header_bytes + preamble_bytes));
  const ssize_t got = ::pread(out_fd, lead.data(), lead.size(), 0);
  if (got < 0) return STOCKADE_ERROR_IO;
  lead.resize(static_cast<uint64_t>(got));
  Header header;
  stockade_fault fault;
  const Status status = open_beginning_with(resumption.file_key(), lead, header, beginning, fault);
  if (status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_LIBRARY) return status;
  if (status != STOCKADE_OK || header.cipher != format.cipher) return STOCKADE_ERROR_JOURNAL;
  bool same = false;
  const Status compared = same_recipients(*format.keyring, header, format.max_work_factor, &same);
  if (compared != STOCKADE_OK) return compared;
  lead.resize(beginning.length());
  return same ? STOCKADE_OK : STOCKADE_ERROR_JOURNAL;
}

Status begin_sealing(const FileFormat& format, FileInput& input, int out_fd, Resumption& resumption,
                     const Keyring& journal, RandomSource& random, engine::FileJob& made, Beginning& beginning,
                     std::vector<uint8_t>& lead, stockade_fault& fault) {
  bool found = false;
  Status status = resumption.open(input, journal, format.max_work_factor, &found, fault);
  if (status != STOCKADE_OK) return status;
  if (found) {
    status = reopen_output(format, out_fd, resumption, beginning, lead);
    if (status != STOCKADE_OK) return status;
    if (!resumption.fits(beginning, input.length(), lead.size(), made.out_run_bytes)) return STOCKADE_ERROR_JOURNAL;
  } else {
    status = make_beginning(format, random, beginning, lead);
    if (status == STOCKADE_OK) status = resumption.begin(journal, beginning, random);
    if (status != STOCKADE_OK) return status;
  }
  resumption.attach(made, found);
  return STOCKADE_OK;
}

Status begin_opening(const FileFormat& format, FileInput& input, Resumption& resumption, const Keyring& journal,
                     RandomSource& random, engine::FileJob& made, const Beginning& beginning, stockade_fault& fault) {
  bool found = false;
  Status status = resumption.open(input, journal, format.max_work_factor, &found, fault);
  if (status != STOCKADE_OK) return status;
  const uint64_t chunks_length = input.length() - beginning.length();
  if (found && !resumption.fits(beginning, chunks_length, 0, made.out_run_bytes)) return STOCKADE_ERROR_JOURNAL;
  if (!found && (status = resumption.begin(journal, beginning, random)) != STOCKADE_OK) return status;
  resumption.attach(made, found);
  return STOCKADE_OK;
}

// Plain Cobblestone has no file key of its own under which a journal could be authenticated.
bool can_resume(const FileFormat& format) { return format.keyring != nullptr && !format.armor; }

void skip_beginning(const FileInput& input, const Beginning& beginning, engine::FileJob& made) {
  if (input.regular()) {
    made.in_skip = beginning.length();
    return;
  }
  made.prefix = input.bytes().data() + beginning.length();
  made.prefix_length = input.bytes().size() - beginning.length();
}

// The list of damages, to whoever wants it.
Status report_damages(CheckWork& work, stockade_file_job& job) {
  job.out_length = work.intact_bytes();
  if (job.damage == nullptr) return STOCKADE_OK;
  for (const CheckWork::Damage& damage : work.damages()) {
    if (job.damage(job.damage_context, damage.chunk, damage.count, damage.offset, damage.length) != 0) {
      return STOCKADE_ERROR_CANCELLED;
    }
  }
  return STOCKADE_OK;
}

Status conclude_verification(Status status, CheckWork& work, stockade_file_job& job) {
  if (status == STOCKADE_OK) status = report_damages(work, job);
  const bool explained = work.fault().status != STOCKADE_OK && (status == STOCKADE_OK || work.fault().status == status);
  return explained ? report(job, work.fault()) : report(job, status);
}

// An armored file to a list of its bad chunks: the armor is taken off in order, and what comes of it handed to a CheckWork.
class ArmoredCheckWork final : public engine::FileWork {
 public:
  ArmoredCheckWork(const FileFormat& format, const engine::Engine& engine) : format_(format), engine_(engine) {}
  Status check(uint64_t) override { return STOCKADE_OK; }
  engine::LaneUse lane_use() const override { return engine::LaneUse::inside; }
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

  Status transform(engine::FileRun& run, const engine::Worker&) override {
    stockade_fault fault = make_fault(STOCKADE_OK);
    Status armor = decoder_.update({run.data, run.length}, waiting_, fault);
    if (armor == STOCKADE_OK && run.last) armor = decoder_.finish(fault);
    // A header that is wrong comes before whatever is wrong with the armor behind it.
    const Status status = work_ ? STOCKADE_OK : begin(run.last && armor == STOCKADE_OK);
    if (status != STOCKADE_OK) return status;
    if (armor != STOCKADE_OK) {
      fault_ = fault;
      return armor;
    }
    return work_ ? pass_on(run.last) : STOCKADE_OK;
  }

  // Null if the file did not come so far.
  CheckWork* work() { return work_ ? &*work_ : nullptr; }
  const stockade_fault& fault() const { return fault_; }

 private:
  Status begin(bool last) {
    const Status status = opener_.open(format_, waiting_, beginning_, fault_);
    if (status == STOCKADE_ERROR_TRUNCATED && !last) return STOCKADE_OK;
    if (status != STOCKADE_OK) return status;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(beginning_.length()));
    work_.emplace(*beginning_.key, beginning_.header_length);
    return STOCKADE_OK;
  }

  // Whole chunks, and at the end whatever there is.
  Status pass_on(bool last) {
    const uint64_t length = last ? waiting_.size() : waiting_.size() / sealed_chunk_bytes * sealed_chunk_bytes;
    engine::FileRun run{offset_, waiting_.data(), length, last, nullptr, 0};
    engine::Crew crew;
    const bool on_gpus = engine_.kind == engine::Kind::cuda;
    Status status = crew.gather(on_gpus ? engine_ : engine::Engine{engine::Kind::serial, 1},
                                {tune::Operation::chunks, 256, length, 1, false}, engine::Home::ordinary);
    if (status != STOCKADE_OK) return status;
    if (crew.lanes() != 0) work_->prepare_lanes();
    status = work_->transform(run, {crew, crew.lane(0)});
    offset_ += length;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(length));
    return status;
  }

  const FileFormat& format_;
  const engine::Engine& engine_;
  ArmorDecoder decoder_;
  std::vector<uint8_t> waiting_;  // decoded and not looked at yet
  uint64_t offset_ = 0;           // of it in the chunks
  BeginningOpener opener_;
  Beginning beginning_;
  std::optional<CheckWork> work_;
  stockade_fault fault_ = make_fault(STOCKADE_OK);
};

Status verify_armored(const FileFormat& format, const FileInput& input, engine::FileJob made,
                      const engine::Engine& engine, stockade_file_job& job) {
  if (!input.regular()) {
    made.prefix = input.bytes().data();
    made.prefix_length = input.bytes().size();
  }
  made.run_bytes = run_chunks * chunk_bytes;
  made.in_order = true;
  ArmoredCheckWork work(format, engine);
  const Status status = run(made, work, engine, 0, job);
  if (work.work() != nullptr && (status == STOCKADE_OK || work.fault().status != status)) {
    return conclude_verification(status, *work.work(), job);
  }
  return work.fault().status == status ? report(job, work.fault()) : report(job, status);
}

void clear(stockade_file_job& job) {
  job.in_length = job.out_length = job.resumed_length = 0;
  job.fault = make_fault(STOCKADE_OK);
}

}  // namespace

Status encrypt_fd(const FileFormat& format, int in_fd, int out_fd, stockade_file_job& job, const Keyring* journal,
                  const engine::Engine& engine, RandomSource& random, const JobPace& pace) {
  clear(job);
  Status status = check_format(format, STOCKADE_ENCRYPT);
  FileInput input(in_fd, job.progress, job.progress_context);
  if (status == STOCKADE_OK) status = input.open();
  if (status == STOCKADE_OK && job.journal_fd > 0 && !can_resume(format)) status = STOCKADE_ERROR_MODE;
  if (status != STOCKADE_OK) return report(job, status);
  engine::FileJob made = make_job(job, in_fd, out_fd, pace);
  if (format.armor) return run_armored(format, STOCKADE_ENCRYPT, made, {}, job, engine, random);
  made.run_bytes = pace.run_chunks * chunk_bytes;
  made.out_run_bytes = pace.run_chunks * sealed_chunk_bytes;
  Beginning beginning;
  std::vector<uint8_t> lead;
  std::optional<Resumption> resumption;
  if (job.journal_fd > 0) {
    resumption.emplace(job, out_fd, STOCKADE_ENCRYPT, made.run_bytes);
    stockade_fault fault = make_fault(STOCKADE_OK);
    status = begin_sealing(format, input, out_fd, *resumption, *journal, random, made, beginning, lead, fault);
    if (status != STOCKADE_OK) return fault.status == status ? report(job, fault) : report(job, status);
  } else {
    status = make_beginning(format, random, beginning, lead);
    if (status != STOCKADE_OK) return report(job, status);
  }
  made.lead = lead.data();
  made.lead_length = lead.size();
  SealWork work(*beginning.key);
  if (made.first_run != 0) work.expect(out_fd, lead.size(), resumption->output_bytes());
  return report(job, run(made, work, engine, 0, job));
}

Status decrypt_fd(const FileFormat& format, int in_fd, int out_fd, stockade_file_job& job, const Keyring* journal,
                  const engine::Engine& engine, RandomSource& random, const JobPace& pace) {
  clear(job);
  Status status = check_format(format, STOCKADE_DECRYPT);
  FileInput input(in_fd, job.progress, job.progress_context);
  if (status == STOCKADE_OK) status = input.open();
  if (status == STOCKADE_OK && job.journal_fd > 0 && !can_resume(format)) status = STOCKADE_ERROR_MODE;
  if (status != STOCKADE_OK) return report(job, status);
  engine::FileJob made = make_job(job, in_fd, out_fd, pace);
  Beginning beginning;
  bool armored;
  stockade_fault fault = make_fault(STOCKADE_OK);
  if (find_beginning(format, input, beginning, &armored, fault) != STOCKADE_OK) return report(job, fault);
  if (armored) {
    if (job.journal_fd > 0) return report(job, STOCKADE_ERROR_MODE);
    const Bytes prefix = input.regular() ? Bytes() : input.bytes();
    return run_armored(format, STOCKADE_DECRYPT, made, prefix, job, engine, random);
  }
  if (input.sized() && check_end(input, beginning, fault) != STOCKADE_OK) {
    if (fault.status != STOCKADE_ERROR_CHUNK) return report(job, fault);
    // The end is not where the length says. Where the first thing is wrong, only reading from the front can tell.
    stockade_file_job search = job;
    search.damage = nullptr;
    const Status found = verify_fd(format, in_fd, search, engine, pace);
    return report(job, found == STOCKADE_OK ? fault : search.fault);
  }
  made.run_bytes = pace.run_chunks * sealed_chunk_bytes;
  made.out_run_bytes = pace.run_chunks * chunk_bytes;
  skip_beginning(input, beginning, made);
  std::optional<Resumption> resumption;
  if (job.journal_fd > 0) {
    resumption.emplace(job, out_fd, STOCKADE_DECRYPT, made.run_bytes);
    fault = make_fault(STOCKADE_OK);
    status = begin_opening(format, input, *resumption, *journal, random, made, beginning, fault);
    if (status != STOCKADE_OK) return fault.status == status ? report(job, fault) : report(job, status);
  }
  OpenWork work(*beginning.key, beginning.header_length);
  status = run(made, work, engine, beginning.length(), job);
  return status == STOCKADE_OK || work.fault().status != status ? report(job, status) : report(job, work.fault());
}

Status verify_fd(const FileFormat& format, int in_fd, stockade_file_job& job, const engine::Engine& engine,
                 const JobPace& pace) {
  clear(job);
  Status status = check_format(format, STOCKADE_DECRYPT);
  FileInput input(in_fd, job.progress, job.progress_context);
  if (status == STOCKADE_OK) status = input.open();
  if (status != STOCKADE_OK) return report(job, status);
  engine::FileJob made = make_job(job, in_fd, -1, pace);
  made.discards_output = true;
  Beginning beginning;
  bool armored;
  stockade_fault fault = make_fault(STOCKADE_OK);
  if (find_beginning(format, input, beginning, &armored, fault) != STOCKADE_OK) return report(job, fault);
  if (armored) return verify_armored(format, input, made, engine, job);
  made.run_bytes = pace.run_chunks * sealed_chunk_bytes;
  skip_beginning(input, beginning, made);
  CheckWork work(*beginning.key, beginning.header_length);
  status = run(made, work, engine, beginning.length(), job);
  return conclude_verification(status, work, job);
}

}  // namespace stockade::format
