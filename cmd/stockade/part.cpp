#include "part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "exit_status.h"
#include "file_failure.h"
#include "file_job.h"
#include "input_file.h"
#include "interrupt.h"
#include "output_names.h"
#include "plan_file.h"
#include "ui.h"
#include "values.h"

namespace stockade::cmd {
namespace {

[[noreturn]] void refuse(std::string message, std::vector<std::string> hints = {}) {
  throw Failure(Exit::usage, std::move(message), std::move(hints));
}

// Part number `index` of `count`, from 1.
struct Part {
  uint64_t index, count;

  // The first of its slices; that of the next part is where they end.
  static uint64_t first(uint64_t part, uint64_t count, uint64_t slices) { return slices * part / count; }
  uint64_t begin(uint64_t slices) const { return first(index - 1, count, slices); }
  uint64_t end(uint64_t slices) const { return first(index, count, slices); }
  std::string text() const { return fmt::format("{}/{}", index, count); }
};

Part parse_part(const std::string& text) {
  constexpr uint64_t most = 1 << 20;
  const size_t slash = text.find('/');
  if (slash == std::string::npos) {
    refuse(fmt::format("--part: '{}' is not I/N, such as 2/8", text));
  }
  const uint64_t count = parse_number("--part", text.substr(slash + 1), 1, most);
  return {parse_number("--part", text.substr(0, slash), 1, count), count};
}

void check_line(const CryptLine& line) {
  if (!line.part) refuse("--plan and --plan-key belong to --part");
  if (line.resume) refuse("--part and --resume exclude each other", {"a part that is run again goes on where it was"});
  if (line.armor) refuse("--part and --armor exclude each other");
  if (line.range) refuse("--part and --range exclude each other");
  if (line.cipher) refuse("--part and --cipher exclude each other", {"the plan says what the cipher is"});
  if (!line.keys.recipients.empty() || !line.keys.recipients_files.empty()) {
    refuse("the plan says already for whom the file is",
           {"what opens the plan is named with -k KEY, -p or --plan-key KEY"});
  }
  if (line.inputs.size() != 1 || line.inputs[0] == "-") refuse("--part takes one input, which is a regular file");
  if (line.keys.stdin_readers() + line.plan.stdin_readers() > 1) {
    refuse("keys and passphrase cannot all come from standard input", {"name a file for all but one of them"});
  }
}

// Hands out the slices of a part.
struct Slices {
  std::vector<uint64_t> numbers;
  size_t next = 0;

  static uint64_t take(void* self) {
    Slices& slices = *static_cast<Slices*>(self);
    return slices.next < slices.numbers.size() ? slices.numbers[slices.next++] : STOCKADE_NO_SLICE;
  }
  uint64_t bytes(const stockade_shared_info& info) const {
    uint64_t sum = 0;
    for (const uint64_t slice : numbers) sum += slice + 1 < info.slices ? info.slice_bytes : info.last_slice_bytes;
    return sum;
  }
};

constexpr char begin_anew_hint[] = "'stockade plan --force' begins anew";

Failure part_failure(const stockade_fault& fault, int error, const FileContext& context, const PartedOutput& output,
                     const Plan& plan, bool checking) {
  switch (fault.status) {
    case STOCKADE_ERROR_INPUT_CHANGED:
      return changed_input_failure(fault, context.input, "the plan was made", begin_anew_hint);
    case STOCKADE_ERROR_JOURNAL:
      if (fault.chunk != UINT64_MAX) {
        return {Exit::io,
                fmt::format("{} was altered, or set back: what it says of slice {} does not fit {}", plan.name(),
                            fault.chunk * STOCKADE_CHUNK_BYTES / plan.plain_slice_bytes(), output.parts_name()),
                {begin_anew_hint}};
      }
      return {Exit::io,
              fmt::format("{} and {} are not of one job", output.parts_name(), plan.name()),
              {"every part names the plan and the output that it was made for"}};
    case STOCKADE_ERROR_INCOMPLETE:
      return {Exit::io, fmt::format("this part of {} is not done yet", context.output), {"run it without --check"}};
    case STOCKADE_ERROR_CHUNK:
      if (!checking) return file_failure(fault, error, context);
      return {Exit::io,
              fmt::format("{} is damaged from byte {} on", output.parts_name(), fault.offset),
              {"run this part again: what is damaged is done anew"}};
    case STOCKADE_ERROR_IO:
    case STOCKADE_ERROR_MEMORY:
    case STOCKADE_ERROR_DEVICE:
    case STOCKADE_ERROR_DEVICE_MEMORY: {
      Failure failure = file_failure(fault, error, context);
      failure.hints.emplace_back(resume_hint);
      return failure;
    }
    default:
      return file_failure(fault, error, context);
  }
}

void run_slices(const CryptLine& line, const Input& input, const Plan& plan, const PartedOutput& output,
                Slices slices) {
  const EngineHandle engine = line.run.make_engine();
  const uint64_t total = slices.bytes(plan.info());
  const std::string how = plan_text(line.direction, plan.info().cipher, total, engine.get());
  if (!slices.numbers.empty()) ui::note(how);
  ui::Progress progress(line.run.progress_when(),
                        {.engine = how.substr(0, how.find_first_of(":,", how.find(',') + 1)), .total = total});
  progress.start_file(line.inputs[0]);
  stockade_shared_work work{};
  work.struct_size = sizeof work;
  work.in_fd = input.fd.get();
  work.out_fd = output.fd();
  work.journal_fd = plan.fd();
  work.next = Slices::take;
  work.next_context = &slices;
  work.progress = on_progress;
  work.progress_context = &progress;
  work.total = total;
  work.accept_changed_input = line.accept_changed_input ? 1 : 0;
  errno = 0;
  const auto run = line.check ? stockade_shared_read_back : stockade_shared_run;
  const stockade_status status = run(plan.job(), &work, engine.get());
  const int error = errno;
  progress.clear();
  if (status != STOCKADE_OK) {
    work.fault.status = status;
    const FileContext context{
        .direction = line.direction, .input = input.name, .output = output.name(), .head = nullptr, .key_ids = {}};
    throw part_failure(work.fault, error, context, output, plan, line.check);
  }
  if (slices.numbers.empty()) return;
  progress.end_file(work.in_length);
  progress.finish();
  const double seconds = progress.seconds();
  if (line.check) {
    ui::note(fmt::format("{}: {} read back in {:.3f} s, {}", output.parts_name(), plural(work.slices, "slice"), seconds,
                         ui::rate_text(work.out_length, seconds)));
    return;
  }
  ui::note(fmt::format("{}: {} to {} bytes in {:.3f} s, {}; {}", input.name, work.in_length, work.out_length, seconds,
                       ui::rate_text(work.in_length, seconds), plural(work.slices, "slice")));
}

}  // namespace

void run_part(const CryptLine& line) {
  check_line(line);
  const Part part = parse_part(*line.part);
  const OutputName named = name_outputs(line.direction, line.inputs, line.output)[0];
  if (named.refusal) throw Failure(*named.refusal);
  const Input input = open_input(line.inputs[0], line.run.quiet);
  if (!input.regular()) refuse(fmt::format("--part needs a regular file, which {} is not", input.name));
  PartedOutput output({.path = named.path, .input = &input.status});
  const Plan plan(line.plan, line.keys);
  if (plan.direction() != line.direction) {
    const char* verb = line.decrypting() ? "encrypt" : "decrypt";
    refuse(fmt::format("{} is a plan to {}", plan.name(), verb), {fmt::format("use 'stockade {} --part'", verb)});
  }
  output.open_shared();
  interrupt::set_hint(resume_hint);
  Slices slices{line.check ? plan.all() : plan.missing()};
  const uint64_t begin = part.begin(plan.info().slices), end = part.end(plan.info().slices);
  std::erase_if(slices.numbers, [&](uint64_t slice) { return slice < begin || slice >= end; });
  if (begin == end) {
    ui::note(
        fmt::format("part {} is empty: there are no more than {}", part.text(), plural(plan.info().slices, "slice")));
  } else if (slices.numbers.empty()) {
    ui::notice(fmt::format("part {} of {} is done already", part.text(), input.name));
  }
  // Also where nothing is left to do: that this is the input of the plan is checked all the same.
  run_slices(line, input, plan, output, std::move(slices));
}

}  // namespace stockade::cmd
