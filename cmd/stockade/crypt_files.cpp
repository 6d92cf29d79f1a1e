#include "crypt_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "exit_status.h"
#include "file_failure.h"
#include "file_head.h"
#include "file_job.h"
#include "input_file.h"
#include "interrupt.h"
#include "many_files.h"
#include "output_file.h"
#include "part.h"
#include "range.h"
#include "resume.h"
#include "ui.h"
#include "values.h"

namespace stockade::cmd {
namespace {

// Below this a job is done sooner than its journal is written.
constexpr uint64_t least_resumable = 1 << 20;
constexpr uint32_t default_max_work_factor = 20;

[[noreturn]] void refuse(std::string message, std::vector<std::string> hints = {}) {
  throw Failure(Exit::usage, std::move(message), std::move(hints));
}

void check_line(const CryptLine& line, const std::vector<std::string>& inputs) {
  int stdin_readers = line.keys.stdin_readers();
  if (line.resume_key == "-") ++stdin_readers;
  for (const std::string& input : inputs) stdin_readers += input == "-" ? 1 : 0;
  if (stdin_readers > 1) {
    refuse("keys, passphrase and input cannot all come from standard input", {"name a file for all but one of them"});
  }
  if (line.resume && line.armor) refuse("--resume and --armor exclude each other");
  if (line.resume && !line.resume_key && line.keys.names_public_keys_only()) {
    refuse("--resume needs a key that opens the journal, and RSA public keys open nothing",
           {"name one with --resume-key KEY; 'stockade keygen --symmetric -o KEY' makes it"});
  }
  if (line.resume_key && !line.resume) refuse("--resume-key belongs to --resume");
  if (line.accept_changed_input && !line.resume) refuse("--accept-changed-input belongs to --resume and --part");
  if (line.check) refuse("--check belongs to --part");
  if (line.range && line.resume) refuse("--range and --resume exclude each other");
  if (line.range && inputs.size() > 1) refuse("--range takes one input");
}

class CryptWork : public FileWork {
 public:
  CryptWork(const CryptLine& line, std::vector<std::string> inputs, std::vector<OutputName> outputs);
  void prepare();
  void run(size_t index, const stockade_engine* engine) override;
  void settle_together(std::span<const size_t> indexes) override;
  void settle(size_t index) override;
  void settle_group() override;
  void drop(size_t index) override { finished_[index].reset(); }
  void work();

 private:
  stockade_format format_for(const FileHead& head, const Input& input);
  void run_plain(size_t index, const Input& input, const FileHead& head, const stockade_engine* engine);
  bool run_resumable(size_t index, const Input& input, const FileHead& head, const stockade_engine* engine);
  Input open_file(const std::string& path) const;
  bool is_done_already(size_t index, const Input& input, const FileHead& head) const;
  FileContext context(const Input& input, const std::string& output, const FileHead& head) const;
  OutputFile::Options output_options(size_t index, const Input& input) const;

  const CryptLine& line_;
  const std::vector<std::string> inputs_;
  std::vector<OutputName> outputs_;
  std::optional<Range> range_;
  stockade_cipher cipher_ = STOCKADE_COBBLESTONE_256;
  KeyringHandle recipients_, journal_keyring_;
  std::unique_ptr<Identities> identities_;
  std::unique_ptr<ui::Progress> progress_;
  // Those that only lack their name.
  std::vector<std::unique_ptr<OutputFile>> finished_;
  mode_t mask_ = 0;
  std::set<std::string> folders_;
};

CryptWork::CryptWork(const CryptLine& line, std::vector<std::string> inputs, std::vector<OutputName> outputs)
    : line_(line), inputs_(std::move(inputs)), outputs_(std::move(outputs)), finished_(inputs_.size()) {}

void CryptWork::prepare() {
  if (line_.range) range_ = parse_range(*line_.range);
  cipher_ = parse_file_cipher(line_.cipher);
  if (line_.decrypting()) {
    identities_ = std::make_unique<Identities>(line_.keys);
  } else {
    recipients_ = make_recipients(line_.keys);
  }
  if (line_.resume) {
    interrupt::set_hint(resume_hint);
    // No thread but this one may ask.
    mask_ = umask(0);
    umask(mask_);
  }
  if (line_.resume_key) {
    Recipients ring;
    ring.add_key_file(*line_.resume_key);
    journal_keyring_ = ring.release();
  }
}

void CryptWork::work() {
  const EngineHandle engine = line_.run.make_engine();
  const uint64_t total = total_length(inputs_);
  const std::string plan = plan_text(line_.direction, cipher_, total, engine.get());
  ui::note(plan);
  progress_ = std::make_unique<ui::Progress>(
      line_.run.progress_when(),
      ui::Progress::Work{.engine = plan.substr(0, plan.find_first_of(":,", plan.find(',') + 1)),
                         .files = inputs_.size(),
                         .total = total});
  work_on_files(inputs_, engine.get(), *this);
  progress_->finish();
}

stockade_format CryptWork::format_for(const FileHead& head, const Input& input) {
  stockade_format format{};
  format.struct_size = sizeof format;
  if (line_.decrypting()) {
    format.keyring = identities_->keyring_for(head, input.name);
    format.max_work_factor = identities_->max_work_factor();
  } else {
    format.keyring = recipients_.get();
    format.cipher = cipher_;
    format.armor = line_.armor ? 1 : 0;
    // A journal has the cost that this command gives it.
    format.max_work_factor =
        std::max(default_max_work_factor, parse_work_factor("--work-factor", line_.keys.work_factor));
  }
  return format;
}

FileContext CryptWork::context(const Input& input, const std::string& output, const FileHead& head) const {
  FileContext context{
      .direction = line_.direction, .input = input.name, .output = output, .head = &head, .key_ids = {}};
  if (identities_) context.key_ids = identities_->key_ids();
  return context;
}

OutputFile::Options CryptWork::output_options(size_t index, const Input& input) const {
  return {.path = outputs_[index].path,
          .force = line_.force,
          .mode = static_cast<mode_t>(line_.decrypting() ? 0600 : 0666),
          .input = &input.status,
          .text = line_.armor};
}

Input CryptWork::open_file(const std::string& path) const {
  try {
    return open_input(path, line_.run.quiet);
  } catch (Failure& failure) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
      failure.hints.push_back("name the files in it, or encrypt an archive of it: tar c FOLDER | stockade encrypt ...");
    }
    throw;
  }
}

void CryptWork::run(size_t index, const stockade_engine* engine) {
  if (outputs_[index].refusal) throw Failure(*outputs_[index].refusal);
  const Input input = open_file(inputs_[index]);
  progress_->start_file(inputs_[index]);
  FileHead head;
  if (line_.decrypting()) {
    head = read_head(input);
    if (head.status != STOCKADE_OK && head.status != STOCKADE_ERROR_TRUNCATED) {
      throw file_failure(head.fault, 0, context(input, "", head));
    }
  } else if (!line_.force && looks_like_stockade_file(input)) {
    refuse(fmt::format("{} is a Stockade file already", input.name), {"encrypt it once more with --force"});
  }
  if (line_.resume && run_resumable(index, input, head, engine)) return;
  run_plain(index, input, head, engine);
}

void CryptWork::run_plain(size_t index, const Input& input, const FileHead& head, const stockade_engine* engine) {
  // Before anybody is asked for a passphrase in vain.
  auto output = std::make_unique<OutputFile>(output_options(index, input));
  const stockade_format format = format_for(head, input);
  const FileContext where = context(input, output->name(), head);
  if (range_) {
    decrypt_range({input, head, format, *range_, output->fd(), where, *progress_, engine});
  } else {
    FileJob job{
        .direction = line_.direction, .input = input, .out_fd = output->fd(), .format = format, .progress = *progress_};
    run_file_job(job, where, engine);
  }
  finished_[index] = std::move(output);
}

// Whether a file of this length becomes one of that length when it is opened.
bool opens_to(const FileHead& head, uint64_t length, uint64_t plain_length) {
  uint64_t plain = 0;
  return head.status == STOCKADE_OK && !head.armored && length >= head.length() &&
         stockade_plaintext_length(length - head.length(), &plain) == STOCKADE_OK && plain == plain_length;
}

// Newer than the input, and as long as what would be made: a file of another kind is not taken for the output.
bool CryptWork::is_done_already(size_t index, const Input& input, const FileHead& head) const {
  const std::string& path = outputs_[index].path;
  if (inputs_.size() == 1 || line_.force) return false;
  // Nothing that has this name by now is waited for.
  Input output;
  output.name = input_name(path);
  output.fd = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat& found = output.status;
  if (output.fd.get() < 0 || fstat(output.fd.get(), &found) != 0 || !output.regular()) return false;
  output.length = static_cast<uint64_t>(found.st_size);
  const timespec &made = found.st_mtim, &source = input.status.st_mtim;
  if (made.tv_sec < source.tv_sec || (made.tv_sec == source.tv_sec && made.tv_nsec <= source.tv_nsec)) return false;
  if (line_.decrypting()) return opens_to(head, input.length, output.length);
  return opens_to(read_head(output), output.length, input.length);
}

// False where the job is too small for it.
bool CryptWork::run_resumable(size_t index, const Input& input, const FileHead& head, const stockade_engine* engine) {
  const std::string& path = outputs_[index].path;
  if (!input.regular()) refuse(fmt::format("--resume needs a regular file, which {} is not", input.name));
  if (path.empty() || path == "-") refuse("--resume needs an output with a name", {"name it with -o FILE"});
  if (head.armored) refuse(fmt::format("{} is armored, and --resume does not work with armor", input.name));
  if (!ResumableOutput::has_journal(path)) {
    if (is_done_already(index, input, head)) {
      ui::notice(fmt::format("'{}' is there and newer than {}: left alone", path, input.name));
      progress_->end_file(input.length);
      return true;
    }
    if (input.length < least_resumable) return false;
  }
  OutputFile::Options options = output_options(index, input);
  options.mode &= ~mask_;
  ResumableOutput output(options);
  const stockade_format format = format_for(head, input);
  FileJob job{.direction = line_.direction,
              .input = input,
              .out_fd = output.fd(),
              .format = format,
              .progress = *progress_,
              .output = &output,
              .journal_keyring = journal_keyring_.get(),
              .start_over = line_.force,
              .accept_changed_input = line_.accept_changed_input};
  run_file_job(job, context(input, output.name(), head), engine);
  output.commit();
  return true;
}

void CryptWork::settle_together(std::span<const size_t> indexes) {
  // For a few it is not worth to wait for what other processes have written.
  constexpr size_t many = 16;
  std::vector<OutputFile*> files;
  for (const size_t index : indexes) {
    if (finished_[index]) files.push_back(finished_[index].get());
  }
  if (files.size() >= many) write_back(files);
}

void CryptWork::settle(size_t index) {
  auto& output = finished_[index];
  if (!output) return;
  output->make_durable();
  const bool named = output->private_until_commit();
  output->give_name();
  if (named) folders_.insert(folder_of(output->path()));
  output.reset();
}

void CryptWork::settle_group() {
  // One that fails is not tried again with the next group's.
  const std::set<std::string> folders = std::exchange(folders_, {});
  for (const std::string& folder : folders) sync_folder(folder);
}

}  // namespace

void CryptLine::declare_files(Command& command) {
  const char* files = "files";
  command.operands(files, "IN", inputs, "the files to read; - or nothing is standard input");
  command.option(files, "-o,--output", "OUT", output.output,
                 "the file to write, for one input; it appears under this name only once it is complete. - is standard "
                 "output");
  command.option(files, "--output-dir", "DIR", output.folder, "write to this folder instead of beside each input");
  command.flag(
      files, "-f,--force", force,
      decrypting() ? "replace existing outputs" : "replace existing outputs, and encrypt what is a Stockade file");
  command.flag(files, "--resume", resume,
               "keep a journal beside the output, and go on with what an interrupted run of the same command has left");
  command.flag(
      files, "--accept-changed-input", accept_changed_input,
      "go on although the times or the inode of the input have changed; only for an input whose content has not");
}

void CryptLine::declare_parts(Command& command) {
  command.option("parts", "--part", "I/N", part,
                 "do only this part, of as many as there are machines; 'join' completes the output");
  plan.declare(command, "parts");
  command.flag("parts", "--check", check,
               "with --part: read back what is done of this part, instead of doing the rest; see 'join --unchecked'");
}

void run_crypt(const CryptLine& line) {
  line.run.set_verbosity();
  if (line.part || line.plan.given()) return run_part(line);
  std::vector<std::string> inputs = line.inputs;
  if (inputs.empty()) inputs.push_back("-");
  check_line(line, inputs);
  OutputChoice choice = line.output;
  choice.resumable = line.resume;
  std::vector<OutputName> outputs = name_outputs(line.direction, inputs, choice);
  CryptWork work(line, std::move(inputs), std::move(outputs));
  work.prepare();
  work.work();
}

}  // namespace stockade::cmd
