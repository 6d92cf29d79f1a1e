// stockade verify: whether every byte of a Stockade file is authentic, and where not.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "damage.h"
#include "exit_status.h"
#include "file_failure.h"
#include "file_head.h"
#include "file_job.h"
#include "input_file.h"
#include "interrupt.h"
#include "keyring_input.h"
#include "many_files.h"
#include "run_options.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct VerifyLine {
  KeyOptions keys;
  std::vector<std::string> inputs;
  RunOptions run;
};

// The findings of one file: lines for standard output, and what is wrong.
struct Findings {
  std::string path, lines;
  uint64_t damaged_chunks = 0;
  std::optional<Failure> failure;
};

// A small file never has as many findings; those of a large one need not wait for its end.
constexpr size_t most_held = 1 << 16;

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : ui::escaped(path); }

int on_damage(void* context, uint64_t chunk, uint64_t count, uint64_t, uint64_t length) {
  Findings& findings = *static_cast<Findings*>(context);
  findings.damaged_chunks += count;
  findings.lines += fmt::format("{}: {}\n", shown_name(findings.path), damage_text(chunk, count, length));
  if (findings.lines.size() > most_held) {
    ui::print(findings.lines);
    findings.lines.clear();
  }
  return interrupt::requested() ? 1 : 0;
}

class VerifyWork : public FileWork {
 public:
  VerifyWork(const VerifyLine& line, std::vector<std::string> inputs)
      : line_(line), inputs_(std::move(inputs)), findings_(inputs_.size()), identities_(line.keys) {}

  void work() {
    const ui::When when = line_.run.progress_when();
    const EngineHandle engine = line_.run.make_engine();
    const uint64_t total = total_length(inputs_);
    const std::string plan = plan_text(STOCKADE_DECRYPT, STOCKADE_COBBLESTONE_256, total, engine.get());
    ui::note(plan);
    const std::string who = plan.substr(0, plan.find_first_of(":,", plan.find(',') + 1));
    progress_ = std::make_unique<ui::Progress>(
        when, ui::Progress::Work{.engine = who, .files = inputs_.size(), .total = total});
    work_on_files(inputs_, engine.get(), *this);
    progress_->finish();
  }

  void run(size_t index, const stockade_engine* engine) override {
    const Input input = open_input(inputs_[index], line_.run.quiet);
    progress_->start_file(inputs_[index]);
    const FileHead head = read_head(input);
    const FileContext context{STOCKADE_DECRYPT, input.name, "", &head, identities_.key_ids()};
    if (head.status != STOCKADE_OK && head.status != STOCKADE_ERROR_TRUNCATED) {
      throw file_failure(head.fault, 0, context);
    }
    stockade_format format{};
    format.struct_size = sizeof format;
    format.keyring = identities_.keyring_for(head, input.name);
    format.max_work_factor = identities_.max_work_factor();
    verify(index, input, format, context, engine);
  }

  void settle(size_t index) override {
    progress_->clear();
    ui::print(findings_[index].lines);
    if (findings_[index].failure) throw Failure(*findings_[index].failure);
  }

 private:
  void verify(size_t index, const Input& input, const stockade_format& format, const FileContext& context,
              const stockade_engine* engine) {
    Findings& findings = findings_[index];
    findings.path = inputs_[index];
    stockade_file_job job{};
    job.struct_size = sizeof job;
    job.progress = on_progress;
    job.progress_context = progress_.get();
    job.journal_fd = -1;
    job.damage = on_damage;
    job.damage_context = &findings;
    errno = 0;
    const stockade_status status = stockade_file_verify_fd(input.fd.get(), &format, &job, engine);
    const int error = errno;
    progress_->end_file(job.in_length);
    if (status == STOCKADE_OK) {
      findings.lines += fmt::format("{}: intact, {}\n", shown_name(inputs_[index]), plural(job.out_length, "byte"));
    } else if (status == STOCKADE_ERROR_CHUNK && findings.damaged_chunks > 0) {
      findings.failure = Failure(
          Exit::corrupt, fmt::format("{} is damaged: {}; {} intact", input.name,
                                     plural(findings.damaged_chunks, "bad chunk"), plural(job.out_length, "byte")));
    } else {
      job.fault.status = status;
      findings.failure = file_failure(job.fault, error, context);
    }
  }

  const VerifyLine& line_;
  const std::vector<std::string> inputs_;
  std::vector<Findings> findings_;
  Identities identities_;
  std::unique_ptr<ui::Progress> progress_;
};

void run_verify(const VerifyLine& line) {
  line.run.set_verbosity();
  std::vector<std::string> inputs = line.inputs;
  if (inputs.empty()) inputs.push_back("-");
  const auto from_stdin = std::count(inputs.begin(), inputs.end(), "-") + line.keys.stdin_readers();
  if (from_stdin > 1) {
    throw Failure(Exit::usage, "keys, passphrase and input cannot all come from standard input",
                  {"name a file for all but one of them"});
  }
  VerifyWork(line, std::move(inputs)).work();
}

}  // namespace

void add_verify(Command& root) {
  root.add("verify", "[-k KEY ... | -i PRIV ... | -p] [OPTION ...] [FILE ...]",
           "Opens every chunk of Stockade files, writes none, and lists what is damaged.")
      .when_named([](Command& command) {
        const auto line = std::make_shared<VerifyLine>();
        line->keys.declare(command, Purpose::decrypt);
        command.operands("files", "FILE", line->inputs, "the files; - or nothing is standard input");
        line->run.declare(command);
        command.footer(
            fmt::format(R"(Standard output has a line for each intact file, 'FILE: intact, N bytes', and one for
each run of damaged chunks, 'FILE: chunks 3 to 5 damaged: bytes 49152 to 98303 of
the plaintext'. All else of such a file can still be read with 'decrypt --range'.

examples:
  stockade verify -k backup.key /mnt/usb/*.stk

{})",
                        exit_status_help));
        command.action([line] { run_verify(*line); });
      });
}

}  // namespace stockade::cmd
