#include "format/file_job.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "cipher/payload_transform.h"
#include "format/file_input.h"
#include "format/file_stream.h"
#include "io/transfer.h"

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
class StreamTransform final : public cipher::Transform {
 public:
  explicit StreamTransform(FileStream& stream) : stream_(stream) {}
  Status check(uint64_t) override { return STOCKADE_OK; }
  cipher::GpuUse gpu_use() const override { return cipher::GpuUse::inside; }
  Status apply(cipher::Segment& segment, const offload::Worker&) override {
    uint64_t last = 0;
    const std::span<uint8_t> room(segment.out, room_);
    Status status = stream_.update({segment.data, segment.length}, room, &segment.out_length);
    if (status == STOCKADE_OK && segment.last) status = stream_.finish(room.subspan(segment.out_length), &last);
    segment.out_length += last;
    return status;
  }
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

  // Bytes of output that a segment may need. The header waits in the stream until it is complete.
  uint64_t room(uint64_t segment_bytes) {
    const uint64_t input = segment_bytes + cipher::segment_reserve + 2 * chunked::sealed_chunk_bytes + max_header_bytes;
    return room_ = stream_.bound(input) + stream_.bound(0);
  }

 private:
  FileStream& stream_;
  uint64_t room_ = 0;
};

// What all jobs on descriptors have in common.
io::TransferOptions make_job(const stockade_file_job& job, int in_fd, int out_fd, const JobPace& pace) {
  io::TransferOptions made{};
  made.in_fd = in_fd;
  made.out_fd = out_fd;
  made.progress = job.progress;
  made.progress_context = job.progress_context;
  made.progress_interval = pace.progress_interval;
  return made;
}

// `beginning` bytes of the input come before what the job reads.
Status run(io::TransferOptions& made, cipher::Transform& work, const config::EngineChoice& engine, uint64_t beginning,
           stockade_file_job& job) {
  io::TransferResult result{};
  const Status status = io::run_transfer(made, work, engine, result);
  job.in_length = result.in_length + beginning;
  job.out_length = result.out_length;
  return status;
}

// Armor in either direction. `prefix` is what has been read of a stream.
Status run_armored(const FileFormat& format, stockade_direction direction, io::TransferOptions made, Bytes prefix,
                   stockade_file_job& job, const config::EngineChoice& engine, RandomSource& random) {
  // The chunks of a segment; the pipeline overlaps them with reading and writing. What GPUs alone shall do, they do there too.
  const bool on_gpus = engine.kind == config::Kind::cuda;
  FileStream stream(format, direction, on_gpus ? engine : config::EngineChoice{config::Kind::serial, 1});
  Status status = stream.start(random);
  if (status != STOCKADE_OK) return report(job, status);
  StreamTransform work(stream);
  made.segment_bytes = segment_chunks * chunked::chunk_bytes;
  made.out_segment_bytes = work.room(made.segment_bytes);
  made.in_order = true;
  made.prefix = prefix.data();
  made.prefix_length = prefix.size();
  status = run(made, work, engine, 0, job);
  const bool explained = stream.fault().status == status;
  return explained && status != STOCKADE_OK ? report(job, stream.fault()) : report(job, status);
}

void skip_beginning(const FileInput& input, const Beginning& beginning, io::TransferOptions& made) {
  if (input.regular()) {
    made.in_skip = beginning.length();
    return;
  }
  made.prefix = input.bytes().data() + beginning.length();
  made.prefix_length = input.bytes().size() - beginning.length();
}

// The list of damages, to whoever wants it.
Status report_damages(cipher::CheckTransform& work, stockade_file_job& job) {
  job.out_length = work.intact_bytes();
  if (job.damage == nullptr) return STOCKADE_OK;
  for (const cipher::CheckTransform::Damage& damage : work.damages()) {
    if (job.damage(job.damage_context, damage.chunk, damage.count, damage.offset, damage.length) != 0) {
      return STOCKADE_ERROR_CANCELLED;
    }
  }
  return STOCKADE_OK;
}

Status conclude_verification(Status status, cipher::CheckTransform& work, stockade_file_job& job) {
  if (status == STOCKADE_OK) status = report_damages(work, job);
  const bool explained = work.fault().status != STOCKADE_OK && (status == STOCKADE_OK || work.fault().status == status);
  return explained ? report(job, work.fault()) : report(job, status);
}

// An armored file to a list of its bad chunks: the armor is taken off in order, and what comes of it handed to a cipher::CheckTransform.
class ArmoredCheckTransform final : public cipher::Transform {
 public:
  ArmoredCheckTransform(const FileFormat& format, const config::EngineChoice& engine)
      : format_(format), engine_(engine) {}
  Status check(uint64_t) override { return STOCKADE_OK; }
  cipher::GpuUse gpu_use() const override { return cipher::GpuUse::inside; }
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

  Status apply(cipher::Segment& segment, const offload::Worker&) override {
    stockade_fault fault = make_fault(STOCKADE_OK);
    Status armor = decoder_.update({segment.data, segment.length}, waiting_, fault);
    if (armor == STOCKADE_OK && segment.last) armor = decoder_.finish(fault);
    // A header that is wrong comes before whatever is wrong with the armor behind it.
    const Status status = work_ ? STOCKADE_OK : begin(segment.last && armor == STOCKADE_OK);
    if (status != STOCKADE_OK) return status;
    if (armor != STOCKADE_OK) {
      fault_ = fault;
      return armor;
    }
    return work_ ? pass_on(segment.last) : STOCKADE_OK;
  }

  // Null if the file did not come so far.
  cipher::CheckTransform* work() { return work_ ? &*work_ : nullptr; }
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
    const uint64_t length =
        last ? waiting_.size() : waiting_.size() / chunked::sealed_chunk_bytes * chunked::sealed_chunk_bytes;
    cipher::Segment segment{offset_, waiting_.data(), length, last, nullptr, 0};
    offload::Executor executor;
    const bool on_gpus = engine_.kind == config::Kind::cuda;
    Status status = executor.acquire(on_gpus ? engine_ : config::EngineChoice{config::Kind::serial, 1},
                                     {tune::Operation::chunks, 256, length, 1, false}, offload::Home::ordinary);
    if (status != STOCKADE_OK) return status;
    if (executor.slots() != 0) work_->prepare_device_key();
    status = work_->apply(segment, {executor, executor.slot(0)});
    offset_ += length;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(length));
    return status;
  }

  const FileFormat& format_;
  const config::EngineChoice& engine_;
  ArmorDecoder decoder_;
  std::vector<uint8_t> waiting_;  // decoded and not looked at yet
  uint64_t offset_ = 0;           // of it in the chunks
  BeginningOpener opener_;
  Beginning beginning_;
  std::optional<cipher::CheckTransform> work_;
  stockade_fault fault_ = make_fault(STOCKADE_OK);
};

Status verify_armored(const FileFormat& format, const FileInput& input, io::TransferOptions made,
                      const config::EngineChoice& engine, stockade_file_job& job) {
  if (!input.regular()) {
    made.prefix = input.bytes().data();
    made.prefix_length = input.bytes().size();
  }
  made.segment_bytes = segment_chunks * chunked::chunk_bytes;
  made.in_order = true;
  ArmoredCheckTransform work(format, engine);
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

Status encrypt_fd(const FileFormat& format, int in_fd, int out_fd, stockade_file_job& job,
                  const config::EngineChoice& engine, RandomSource& random, const JobPace& pace) {
  clear(job);
  Status status = check_format(format, STOCKADE_ENCRYPT);
  FileInput input(in_fd, job.progress, job.progress_context);
  if (status == STOCKADE_OK) status = input.open();
  if (status != STOCKADE_OK) return report(job, status);
  io::TransferOptions made = make_job(job, in_fd, out_fd, pace);
  if (format.armor) return run_armored(format, STOCKADE_ENCRYPT, made, {}, job, engine, random);
  made.segment_bytes = pace.segment_chunks * chunked::chunk_bytes;
  made.out_segment_bytes = pace.segment_chunks * chunked::sealed_chunk_bytes;
  Beginning beginning;
  std::vector<uint8_t> lead;
  status = make_beginning(format, random, beginning, lead);
  if (status != STOCKADE_OK) return report(job, status);
  made.lead = lead.data();
  made.lead_length = lead.size();
  cipher::SealTransform work(*beginning.key);
  return report(job, run(made, work, engine, 0, job));
}

Status decrypt_fd(const FileFormat& format, int in_fd, int out_fd, stockade_file_job& job,
                  const config::EngineChoice& engine, const JobPace& pace) {
  clear(job);
  Status status = check_format(format, STOCKADE_DECRYPT);
  FileInput input(in_fd, job.progress, job.progress_context);
  if (status == STOCKADE_OK) status = input.open();
  if (status != STOCKADE_OK) return report(job, status);
  io::TransferOptions made = make_job(job, in_fd, out_fd, pace);
  Beginning beginning;
  bool armored;
  stockade_fault fault = make_fault(STOCKADE_OK);
  if (find_beginning(format, input, beginning, &armored, fault) != STOCKADE_OK) return report(job, fault);
  if (armored) {
    const Bytes prefix = input.regular() ? Bytes() : input.bytes();
    return run_armored(format, STOCKADE_DECRYPT, made, prefix, job, engine, system_random());
  }
  if (input.sized() && check_end(input, beginning, fault) != STOCKADE_OK) {
    if (fault.status != STOCKADE_ERROR_CHUNK) return report(job, fault);
    // The end is not where the length says. Where the first thing is wrong, only reading from the front can tell.
    stockade_file_job search = job;
    search.damage = nullptr;
    const Status found = verify_fd(format, in_fd, search, engine, pace);
    return report(job, found == STOCKADE_OK ? fault : search.fault);
  }
  made.segment_bytes = pace.segment_chunks * chunked::sealed_chunk_bytes;
  made.out_segment_bytes = pace.segment_chunks * chunked::chunk_bytes;
  skip_beginning(input, beginning, made);
  cipher::OpenTransform work(*beginning.key, beginning.header_length);
  status = run(made, work, engine, beginning.length(), job);
  return status == STOCKADE_OK || work.fault().status != status ? report(job, status) : report(job, work.fault());
}

Status verify_fd(const FileFormat& format, int in_fd, stockade_file_job& job, const config::EngineChoice& engine,
                 const JobPace& pace) {
  clear(job);
  Status status = check_format(format, STOCKADE_DECRYPT);
  FileInput input(in_fd, job.progress, job.progress_context);
  if (status == STOCKADE_OK) status = input.open();
  if (status != STOCKADE_OK) return report(job, status);
  io::TransferOptions made = make_job(job, in_fd, -1, pace);
  made.discards_output = true;
  Beginning beginning;
  bool armored;
  stockade_fault fault = make_fault(STOCKADE_OK);
  if (find_beginning(format, input, beginning, &armored, fault) != STOCKADE_OK) return report(job, fault);
  if (armored) return verify_armored(format, input, made, engine, job);
  made.segment_bytes = pace.segment_chunks * chunked::sealed_chunk_bytes;
  skip_beginning(input, beginning, made);
  cipher::CheckTransform work(*beginning.key, beginning.header_length);
  status = run(made, work, engine, beginning.length(), job);
  return conclude_verification(status, work, job);
}

}  // namespace stockade::format
