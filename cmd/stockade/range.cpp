#include "range.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "exit_status.h"
#include "handles.h"
#include "interrupt.h"
#include "output_file.h"
#include "run_options.h"
#include "values.h"

namespace stockade::cmd {
namespace {

constexpr size_t piece_bytes = 8 << 20;
// To start threads takes longer than to open a range of this size.
constexpr uint64_t small_range = 2 << 20;

// Plaintext passes through, so it is wiped however the function is left. No larger than needed: wiping takes time too.
class Piece {
 public:
  explicit Piece(size_t size) : bytes_(new uint8_t[size]), size_(size) {}
  ~Piece() { explicit_bzero(bytes_.get(), size_); }
  uint8_t* data() { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  size_t size_;
};

int read_file_at(void* context, uint64_t offset, void* buffer, uint64_t length) {
  const Input& input = *static_cast<const Input*>(context);
  for (auto* next = static_cast<char*>(buffer); length > 0;) {
    const ssize_t got = pread(input.fd.get(), next, length, static_cast<off_t>(input.start + offset));
    if (got < 0 && errno == EINTR && !interrupt::requested()) continue;
    // An end here means that the file became shorter.
    if (got == 0) errno = EIO;
    if (got <= 0) return -1;
    next += got;
    offset += static_cast<uint64_t>(got);
    length -= static_cast<uint64_t>(got);
  }
  return 0;
}

int64_t read_stream(void* context, void* buffer, uint64_t size) {
  const Input& input = *static_cast<const Input*>(context);
  for (;;) {
    const ssize_t got = read(input.fd.get(), buffer, size);
    if (got >= 0 || errno != EINTR || interrupt::requested()) return got;
  }
}

void check(stockade_status status, const stockade_fault& fault, const RangeJob& job) {
  if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
  if (status == STOCKADE_OK) return;
  stockade_fault known = fault;
  known.status = status;
  throw file_failure(known, errno, job.context);
}

void check_offset(const RangeJob& job, uint64_t length) {
  if (job.range.offset <= length) return;
  throw Failure(Exit::usage, fmt::format("--range begins at {}, but {} holds {} of plaintext", job.range.offset,
                                         job.input.name, plural(length, "byte")));
}

void tell_if_cut(const RangeJob& job, uint64_t length) {
  if (job.range.length == UINT64_MAX || length - job.range.offset >= job.range.length) return;
  ui::notice(fmt::format("{} ends after {} of the range", job.input.name, plural(length - job.range.offset, "byte")));
}

void read_range(const RangeJob& job) {
  stockade_fault fault{};
  const EngineHandle serial = make_serial_engine();
  const bool small = job.range.length <= small_range && !is_gpus_alone(job.engine);
  stockade_reader* made = nullptr;
  check(stockade_reader_create(&made, read_file_at, const_cast<Input*>(&job.input), job.input.length, &job.format,
                               small ? serial.get() : job.engine, &fault),
        fault, job);
  const ReaderHandle reader(made);
  const uint64_t length = stockade_reader_length(reader.get());
  check_offset(job, length);
  tell_if_cut(job, length);
  const uint64_t total = std::min(job.range.length, length - job.range.offset);
  Piece piece(static_cast<size_t>(std::min<uint64_t>(piece_bytes, total)));
  for (uint64_t done = 0; done < total;) {
    uint64_t got = 0;
    check(stockade_reader_read_at(reader.get(), job.range.offset + done, piece.data(),
                                  std::min<uint64_t>(piece.size(), total - done), &got, &fault),
          fault, job);
    write_all(job.out_fd, piece.data(), got, job.context.output);
    done += got;
    job.progress.update(done, total);
  }
}

void pull_range(const RangeJob& job) {
  stockade_file* made = nullptr;
  check(stockade_file_create(&made, STOCKADE_DECRYPT, &job.format, job.engine), {}, job);
  const FileHandle file(made);
  const uint64_t begin = job.range.offset;
  const uint64_t end = job.range.length > UINT64_MAX - begin ? UINT64_MAX : begin + job.range.length;
  Piece piece(piece_bytes);
  uint64_t position = 0, got = 1;
  while (got > 0) {
    stockade_fault fault{};
    const stockade_status status =
        stockade_file_pull(file.get(), read_stream, const_cast<Input*>(&job.input), piece.data(), piece_bytes, &got);
    const int error = errno;
    if (status != STOCKADE_OK) stockade_file_fault(file.get(), &fault);
    errno = error;
    check(status, fault, job);
    const uint64_t from = std::clamp(begin, position, position + got), to = std::clamp(end, position, position + got);
    if (from < to) write_all(job.out_fd, piece.data() + (from - position), to - from, job.context.output);
    position += got;
    job.progress.update(position, 0);
  }
  check_offset(job, position);
  tell_if_cut(job, position);
}

}  // namespace

Range parse_range(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw Failure(Exit::usage, fmt::format("--range: '{}' is not OFFSET:LENGTH", text),
                  {"such as 1MiB:4096; without LENGTH to the end: 1MiB:"});
  }
  Range range{.offset = parse_size("--range", text.substr(0, colon)), .length = UINT64_MAX};
  if (colon + 1 < text.size()) range.length = parse_size("--range", text.substr(colon + 1));
  return range;
}

void decrypt_range(const RangeJob& job) {
  if (job.input.regular() && !job.head.armored) {
    read_range(job);
  } else {
    pull_range(job);
  }
}

}  // namespace stockade::cmd
