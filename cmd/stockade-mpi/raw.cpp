// stockade-mpi raw encrypt|decrypt: one AES mode over one file, with the key and IV that the caller names. Modes whose
// blocks need nothing from one another are cut into slices for all ranks; the others are left to rank 0.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/stockade/file_job.h"
#include "cmd/stockade/interrupt.h"
#include "cmd/stockade/raw_line.h"
#include "cmd/stockade/ui.h"
#include "cmd/stockade/values.h"
#include "rank_engine.h"
#include "raw_split.h"
#include "schedule.h"
#include "shared_file.h"
#include "shared_output.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct SharedRawLine : RawLine {
  std::optional<std::string> schedule;
};

// What went wrong first, whichever thread saw it.
struct Outcome {
  stockade_status status = STOCKADE_OK;
  int error = 0;
  uint64_t offset = UINT64_MAX;
};

class SharedRaw {
 public:
  SharedRaw(Ranks& ranks, const SharedRawLine& line)
      : ranks_(ranks), line_(line), job_(read_raw_line(line)), output_("'" + line.output.value_or("") + "'") {}
  void work();

 private:
  void make_key();
  void open_output(const RawSplit& split);
  void run_together(const RawSplit& split);
  void run_alone();
  bool run_slice(const RawSplit& split, uint64_t slice);
  static int run_item(void* context, uint64_t piece);
  void run_piece(const RawSplit& split, uint64_t offset, uint64_t length, const stockade_engine* engine);
  stockade_status transform(const RawSplit& split, uint64_t offset, uint64_t length, const stockade_engine* engine);
  void record(const Outcome& outcome);
  // By a signal or a failure.
  bool is_stopped();
  FailureAt failure(const Outcome& outcome) const;
  bool decrypting() const { return line_.direction == STOCKADE_DECRYPT; }
  bool on_gpus() const;

  Ranks& ranks_;
  const SharedRawLine& line_;
  const RawJob job_;
  EngineHandle engine_, serial_;
  KeyHandle key_;
  Input input_;
  SharedOutput output_;
  std::unique_ptr<ui::Progress> progress_;
  std::mutex mutex_;
  Outcome outcome_;
  uint64_t done_ = 0, out_end_ = 0;
};

// One slice, as the items of it see it.
struct Slice {
  SharedRaw& raw;
  const RawSplit& split;
  uint64_t begin, end;
};

bool SharedRaw::on_gpus() const {
  const std::string_view name = stockade_engine_name(engine_.get());
  return name == "cuda" || name == "hybrid";
}

void SharedRaw::make_key() {
  SecretBytes bytes;
  ranks_.on_first([&] { read_raw_key(line_, *job_.cipher, bytes); });
  stockade_key* key = nullptr;
  const stockade_status status =
      stockade_mpi_key_create(&key, ranks_.team(), 0, job_.cipher->mode, bytes.data(), bytes.size(), nullptr);
  key_.reset(key);
  ranks_.check(status, [&] { return raw_key_failure(status); });
}

FailureAt SharedRaw::failure(const Outcome& outcome) const {
  return {raw_failure(outcome.status, outcome.error, line_, job_, input_, output_.name()), outcome.offset};
}

bool read_at(int fd, uint8_t* bytes, uint64_t length, uint64_t offset) {
  while (length > 0) {
    const ssize_t got = pread(fd, bytes, length, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    // The end comes too early.
    if (got == 0) errno = 0;
    if (got <= 0) return false;
    bytes += got;
    length -= static_cast<uint64_t>(got);
    offset += static_cast<uint64_t>(got);
  }
  return true;
}

bool write_at(int fd, const uint8_t* bytes, uint64_t length, uint64_t offset) {
  while (length > 0) {
    const ssize_t written = pwrite(fd, bytes, length, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    length -= static_cast<uint64_t>(written);
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

// Plaintext passes through, so it is wiped however the function is left.
struct PieceBuffer {
  explicit PieceBuffer(size_t size) : bytes(size) {}
  ~PieceBuffer() { explicit_bzero(bytes.data(), bytes.size()); }
  std::vector<uint8_t> bytes;
};

stockade_status SharedRaw::transform(const RawSplit& split, uint64_t offset, uint64_t length,
                                     const stockade_engine* engine) {
  constexpr uint64_t block = 16;
  PieceBuffer buffer(length + block);
  std::array<uint8_t, block> before{};
  const int in = input_.fd.get();
  const bool chained = split.chains() && offset > 0;
  const bool read = (!chained || read_at(in, before.data(), block, offset - block)) &&
                    read_at(in, buffer.bytes.data(), length, offset);
  if (!read) return errno == 0 ? STOCKADE_ERROR_INPUT_CHANGED : STOCKADE_ERROR_IO;
  uint64_t out_length = length;
  const stockade_status status = split.run(key_.get(), offset, before.data(), buffer.bytes.data(), out_length, engine);
  if (status != STOCKADE_OK) return status;
  if (!write_at(output_.fd(), buffer.bytes.data(), out_length, offset)) return STOCKADE_ERROR_IO;
  const std::lock_guard lock(mutex_);
  done_ += length;
  out_end_ = std::max(out_end_, offset + out_length);
  return STOCKADE_OK;
}

void SharedRaw::run_piece(const RawSplit& split, uint64_t offset, uint64_t length, const stockade_engine* engine) {
  const stockade_status status = transform(split, offset, length, engine);
  if (status != STOCKADE_OK) record({status, errno, offset});
}

int SharedRaw::run_item(void* context, uint64_t piece) {
  const Slice& slice = *static_cast<const Slice*>(context);
  SharedRaw& raw = slice.raw;
  const uint64_t offset = slice.begin + piece * slice.split.piece_bytes();
  const uint64_t length = std::min(slice.split.piece_bytes(), slice.end - offset);
  // Exceptions may not cross the library.
  try {
    raw.run_piece(slice.split, offset, length, raw.serial_.get());
  } catch (const std::bad_alloc&) {
    raw.record({STOCKADE_ERROR_MEMORY, 0, offset});
  }
  return raw.is_stopped() ? 1 : 0;
}

void SharedRaw::record(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  if (outcome.offset < outcome_.offset) outcome_ = outcome;
}

bool SharedRaw::is_stopped() {
  const std::lock_guard lock(mutex_);
  return interrupt::requested() || outcome_.status != STOCKADE_OK;
}

// False where it failed or was interrupted.
bool SharedRaw::run_slice(const RawSplit& split, uint64_t slice) {
  Slice part{*this, split, split.begin(slice), split.end(slice)};
  if (on_gpus()) {
    run_piece(split, part.begin, part.end - part.begin, engine_.get());
  } else {
    const uint64_t pieces = (part.end - part.begin + split.piece_bytes() - 1) / split.piece_bytes();
    stockade_for_each(pieces, run_item, &part, engine_.get());
  }
  return !is_stopped();
}

void SharedRaw::open_output(const RawSplit& split) {
  OutputAddress address{};
  const bool apart = ranks_.machines() > 1;
  ranks_.on_first([&] {
    if (ftruncate(output_.fd(), static_cast<off_t>(split.out_length())) != 0) {
      throw io_failure(errno, input_.name, output_.name());
    }
    address = output_.address(split.out_length(), apart);
  });
  ranks_.share(&address, sizeof address);
  ranks_.everywhere([&] {
    if (!ranks_.first()) output_.open(address);
  });
}

void SharedRaw::run_together(const RawSplit& split) {
  const bool dynamic = is_dynamic(ranks_, line_.schedule);
  if (line_.run.verbose) {
    ui::note(fmt::format("{}, {} slices of {}, {}; each row {}", ranks_text(ranks_), split.slices(),
                         ui::size_text(split.slice_bytes()), dynamic ? "dynamic" : "static",
                         stockade_key_row(key_.get())));
  }
  serial_ = make_serial_engine();
  open_output(split);
  {
    Schedule schedule(ranks_, split.slices(), dynamic);
    ranks_.everywhere([&] {
      while (const auto slice = schedule.next()) {
        progress_->update(schedule.dynamic() ? split.begin(*slice) : std::min(done_ * ranks_.size(), input_.length),
                          input_.length);
        if (run_slice(split, *slice)) continue;
        schedule.stop();
        progress_->clear();
        if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
        throw failure(outcome_);
      }
      output_.sync();
    });
  }
  const std::vector<uint64_t> ends = ranks_.gather(out_end_);
  ranks_.on_first([&] {
    // Padding has been taken off.
    const uint64_t end = *std::max_element(ends.begin(), ends.end());
    if (ftruncate(output_.fd(), static_cast<off_t>(end)) != 0) {
      throw io_failure(errno, input_.name, output_.name());
    }
  });
}

void SharedRaw::run_alone() {
  if (ranks_.size() > 1) {
    ui::note(fmt::format("rank 0 alone: {} cannot be cut, or is not worth it", job_.cipher->name));
  }
  ranks_.on_first([&] {
    stockade_raw_options options{};
    options.struct_size = sizeof options;
    options.iv = job_.iv.data();
    options.iv_length = job_.iv.size();
    options.aad = job_.aad.data();
    options.aad_length = job_.aad.size();
    options.padding = job_.padding;
    options.unit = job_.unit;
    options.progress = on_progress;
    options.progress_context = progress_.get();
    const auto run = decrypting() ? stockade_raw_decrypt_fd : stockade_raw_encrypt_fd;
    errno = 0;
    const stockade_status status = run(key_.get(), input_.fd.get(), output_.fd(), &options, engine_.get());
    const int error = errno;
    progress_->clear();
    if (status != STOCKADE_OK) throw failure({status, error, 0});
  });
}

void SharedRaw::work() {
  engine_ = make_rank_engine(ranks_, line_.run);
  make_key();
  input_ = open_shared_input(ranks_, *line_.input);
  ranks_.on_first([&] {
    output_.make({.path = line_.output.value_or(""),
                  .force = line_.force,
                  .mode = static_cast<mode_t>(decrypting() ? 0600 : 0666),
                  .input = &input_.status,
                  .text = false},
                 false);
  });
  const RawSplit split(job_, line_.direction, input_.length, ranks_.size());
  const std::string plan = raw_plan_text(key_.get(), line_.direction, split.slice_bytes(), engine_.get());
  progress_ = std::make_unique<ui::Progress>(
      line_.run.progress_when(),
      ui::Progress::Work{.engine = fmt::format("{}, {}", plural(ranks_.size(), "rank"),
                                               plan.substr(0, plan.find_first_of(":,", plan.find(',') + 1)))});
  progress_->start_file(input_.name);
  if (split.worthwhile()) {
    run_together(split);
  } else {
    run_alone();
  }
  ranks_.on_first([&] { output_.commit(); });
  const double seconds = progress_->seconds();
  progress_->end_file(input_.length);
  progress_->finish();
  ui::note(fmt::format("{} bytes in {:.3f} s, {}", input_.length, seconds, ui::rate_text(input_.length, seconds)));
}

void run_raw(Session& session, const SharedRawLine& line) {
  line.run.set_verbosity();
  check_input_path(line.input);
  check_run_options(line.run);
  check_schedule(line.schedule);
  read_raw_line(line);
  session.run([&](Ranks& ranks) { SharedRaw(ranks, line).work(); });
}

constexpr char help_text[] = R"(ranks:
  ECB, CTR, XTS with --data-unit, and CBC and CFB decryption are cut into slices for
  all ranks. CBC and CFB encryption, OFB, GCM, and files below 1 MiB are left to rank 0
  alone, which --verbose says. The bytes are those of 'stockade raw'.
  Every rank opens IN and writes to a hidden file beside OUT, so both must be where all
  ranks see them by the same path. Rank 0 reads the key, and it goes to the others as
  MPI carries messages: on most networks unencrypted.

examples:
  mpirun -n 8 stockade-mpi raw encrypt --cipher aes-256-ctr --key-file k \
    --iv 000102030405060708090a0b0c0d0e0f -o disk.img.ctr disk.img
)";

void declare(Command& command, SharedRawLine& line) {
  const char* files = "files";
  line.declare_cipher(command);
  command.operand(files, "IN", line.input, "the file to read, by a path under which all ranks see it");
  command.option(files, "-o,--output", "OUT", line.output,
                 "the file to write; it appears under this name only once it is complete");
  command.flag(files, "-f,--force", line.force, "replace an existing output");
  command.option("speed", "--schedule", "HOW", line.schedule, schedule_help);
  line.run.declare(command);
}

void add_direction(Command& raw, Session& session, stockade_direction direction, const KeyArgument& key_argument) {
  const bool decrypting = direction == STOCKADE_DECRYPT;
  Command& command =
      raw.add(decrypting ? "decrypt" : "encrypt", "--cipher NAME (--key-file FILE | --key HEX) [OPTION ...] IN -o OUT",
              decrypting ? "Decrypts what 'raw encrypt' or 'openssl enc -K' has made, with all ranks."
                         : "Encrypts one file with all ranks; the bytes are those of 'openssl enc -K -iv'.");
  const auto line = std::make_shared<SharedRawLine>();
  line->direction = direction;
  line->key = &key_argument;
  declare(command, *line);
  command.footer(fmt::format("{}\n{}\n{}", help_text, raw_key_help, exit_status_help));
  command.action([line, &session] { run_raw(session, *line); });
}

}  // namespace

void add_raw(Command& root, Session& session, const KeyArgument& key_argument) {
  Command& raw =
      root.add("raw", "encrypt|decrypt ...", "Encrypts or decrypts with a key and IV of your own, without a header.");
  raw.when_named([&session, &key_argument](Command& command) {
    command.footer("'stockade-mpi raw encrypt --help' has the options, examples and exit status.");
    add_direction(command, session, STOCKADE_ENCRYPT, key_argument);
    add_direction(command, session, STOCKADE_DECRYPT, key_argument);
  });
}

}  // namespace stockade::cmd
