#include "file_job.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "exit_status.h"
#include "handles.h"
#include "interrupt.h"

namespace stockade::cmd {
namespace {

constexpr char start_over_hint[] = "start over with --resume --force";

// What the files that an interrupted job has left are good for after this.
void settle_partial(ResumableOutput& output, stockade_status status) {
  switch (status) {
    case STOCKADE_ERROR_CANCELLED:
    case STOCKADE_ERROR_IO:
    case STOCKADE_ERROR_MEMORY:
    case STOCKADE_ERROR_DEVICE:
    case STOCKADE_ERROR_DEVICE_MEMORY:
      return output.keep();
    case STOCKADE_ERROR_TRUNCATED:
    case STOCKADE_ERROR_CHUNK:
    case STOCKADE_ERROR_TRAILING_DATA:
    case STOCKADE_ERROR_COMMITMENT:
      // The input will not get better.
      return output.discard();
    default:
      return;
  }
}

// Nobody but the journal can be what does not open while a file is made.
bool is_refusal_of_journal(stockade_status status, stockade_direction direction) {
  switch (status) {
    case STOCKADE_ERROR_JOURNAL:
    case STOCKADE_ERROR_INPUT_CHANGED:
      return true;
    case STOCKADE_ERROR_NO_IDENTITY:
    case STOCKADE_ERROR_PASSPHRASE:
    case STOCKADE_ERROR_WORK_FACTOR:
      return direction == STOCKADE_ENCRYPT;
    default:
      return false;
  }
}

Failure resumable_failure(const stockade_fault& fault, int error, const FileContext& context,
                          const ResumableOutput& output) {
  if (output.was_begun() && fault.status == STOCKADE_ERROR_INPUT_CHANGED) {
    return changed_input_failure(fault, context.input, "the interrupted run", start_over_hint);
  }
  if (output.was_begun() && is_old_journal(fault)) {
    return {
        Exit::io,
        fmt::format("the journal of {} was made by version 0.4 or older, whose work is not taken up", context.output),
        {start_over_hint}};
  }
  if (output.was_begun() && is_refusal_of_journal(fault.status, context.direction)) {
    return {Exit::io,
            fmt::format("the journal of {} is damaged, or of another job: other keys, cipher or input", context.output),
            {start_over_hint}};
  }
  if (fault.status == STOCKADE_ERROR_SCRYPT_NOT_ALONE && context.direction == STOCKADE_DECRYPT) {
    return {Exit::usage, "--resume takes keys or a passphrase, not both", {"leave out what does not open the file"}};
  }
  Failure failure = file_failure(fault, error, context);
  switch (fault.status) {
    case STOCKADE_ERROR_IO:
    case STOCKADE_ERROR_MEMORY:
    case STOCKADE_ERROR_DEVICE:
    case STOCKADE_ERROR_DEVICE_MEMORY:
      failure.hints.push_back(resume_hint);
      break;
    default:
      break;
  }
  return failure;
}

// The status, with `job.fault` set and errno left as the library has set it.
stockade_status run_once(const FileJob& job, stockade_file_job& library_job, const stockade_engine* engine) {
  const auto run = job.direction == STOCKADE_ENCRYPT ? stockade_file_encrypt_fd : stockade_file_decrypt_fd;
  errno = 0;
  return run(job.input.fd.get(), job.out_fd, &job.format, &library_job, engine);
}

std::string result_text(const stockade_file_job& job, const std::string& name, double seconds) {
  std::string text = fmt::format("{}: {} to {} bytes in {:.3f} s, {}", name, job.in_length, job.out_length, seconds,
                                 ui::rate_text(job.in_length - job.resumed_length, seconds));
  if (job.resumed_length > 0) text += fmt::format("; {} of them were done before", ui::size_text(job.resumed_length));
  return text;
}

}  // namespace

const char resume_hint[] = "run the same command again to go on";

Failure changed_input_failure(const stockade_fault& fault, const std::string& input, std::string_view since,
                              std::string_view begin_anew) {
  if (fault.chunk != UINT64_MAX) {
    return {Exit::io,
            fmt::format("{} has other content behind byte {} than when that was first encrypted", input,
                        fault.chunk * STOCKADE_CHUNK_BYTES),
            {std::string(begin_anew)}};
  }
  return {Exit::io,
          fmt::format("{} has changed since {}, or is another file", input, since),
          {std::string(begin_anew), "if only its times or its inode have changed: --accept-changed-input"}};
}

bool is_old_journal(const stockade_fault& fault) {
  return fault.status == STOCKADE_ERROR_JOURNAL && fault.chunk == UINT64_MAX && fault.value == 1;
}

int on_progress(void* context, uint64_t done, uint64_t total) {
  static_cast<ui::Progress*>(context)->update(done, total);
  return interrupt::requested() ? 1 : 0;
}

void run_file_job(const FileJob& job, const FileContext& context, const stockade_engine* engine) {
  stockade_file_job library_job{};
  library_job.struct_size = sizeof library_job;
  library_job.progress = on_progress;
  library_job.progress_context = &job.progress;
  library_job.journal_fd = job.output == nullptr ? -1 : job.output->journal_fd();
  library_job.journal_keyring = job.journal_keyring;
  library_job.accept_changed_input = job.accept_changed_input ? 1 : 0;
  const double begun = job.progress.seconds();
  stockade_status status = run_once(job, library_job, engine);
  if (job.output != nullptr && job.start_over && job.output->was_begun() &&
      is_refusal_of_journal(status, job.direction)) {
    job.output->start_over();
    ui::notice(fmt::format("starting over with {}", context.output));
    if (job.input.regular() && lseek(job.input.fd.get(), static_cast<off_t>(job.input.start), SEEK_SET) < 0) {
      throw io_failure(errno, context.input, context.output);
    }
    status = run_once(job, library_job, engine);
  }
  const int error = errno;
  job.progress.clear();
  if (status != STOCKADE_OK) {
    library_job.fault.status = status;
    if (job.output == nullptr) throw file_failure(library_job.fault, error, context);
    settle_partial(*job.output, interrupt::requested() ? STOCKADE_ERROR_CANCELLED : status);
    throw resumable_failure(library_job.fault, error, context, *job.output);
  }
  if (ui::verbose()) ui::note(result_text(library_job, context.input, job.progress.seconds() - begun));
  job.progress.end_file(library_job.in_length);
}

uint64_t total_length(std::span<const std::string> paths) {
  uint64_t total = 0;
  for (const std::string& path : paths) {
    struct stat status {};
    const int found = path == "-" ? fstat(STDIN_FILENO, &status) : stat(path.c_str(), &status);
    if (found != 0 || !S_ISREG(status.st_mode)) return 0;
    total += static_cast<uint64_t>(status.st_size);
  }
  return total;
}

std::string plan_text(stockade_direction direction, stockade_cipher cipher, uint64_t length,
                      const stockade_engine* engine) {
  constexpr uint64_t long_file = uint64_t{1} << 32;
  // Which key it is decides nothing but its size.
  const uint8_t any_key[32] = {};
  stockade_key* made = nullptr;
  const stockade_status status =
      stockade_key_create(&made, STOCKADE_GCM, any_key, cipher == STOCKADE_COBBLESTONE_128 ? 16 : 32, nullptr);
  if (status != STOCKADE_OK) throw environment_failure(status);
  const KeyHandle key(made);
  char text[256];
  const uint64_t shown = length == 0 ? long_file : std::min(length, long_file);
  if (stockade_explain(key.get(), direction, shown, engine, text, sizeof text) != STOCKADE_OK) {
    return fmt::format("row {}", stockade_key_row(key.get()));
  }
  const std::string_view plan = text;
  // The reason would name a length that is not this file's.
  return std::string(shown != length ? plan.substr(0, plan.find(':')) : plan);
}

}  // namespace stockade::cmd
