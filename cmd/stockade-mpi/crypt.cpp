// stockade-mpi encrypt and decrypt: one Stockade file, many ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/stockade/exit_status.h"
#include "cmd/stockade/file_head.h"
#include "cmd/stockade/file_job.h"
#include "cmd/stockade/interrupt.h"
#include "cmd/stockade/keyring_input.h"
#include "cmd/stockade/output_names.h"
#include "cmd/stockade/run_options.h"
#include "cmd/stockade/secret_bytes.h"
#include "cmd/stockade/ui.h"
#include "cmd/stockade/values.h"
#include "rank_engine.h"
#include "schedule.h"
#include "shared_file.h"
#include "shared_output.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

// The command line as it was written; absent where it was not.
struct CryptLine {
  stockade_direction direction = STOCKADE_ENCRYPT;
  KeyOptions keys;
  std::optional<std::string> input, output, cipher, schedule, resume_key;
  bool force = false, resume = false, accept_changed_input = false;
  RunOptions run;

  bool decrypting() const { return direction == STOCKADE_DECRYPT; }
};

constexpr char start_over_hint[] = "start over with --resume --force";

[[noreturn]] void refuse(std::string message, std::vector<std::string> hints = {}) {
  throw Failure(Exit::usage, std::move(message), std::move(hints));
}

void check_line(const CryptLine& line) {
  check_input_path(line.input);
  check_run_options(line.run);
  check_schedule(line.schedule);
  if (line.keys.stdin_readers() + (line.resume_key == "-" ? 1 : 0) > 1) {
    refuse("keys and passphrase cannot all come from standard input", {"name a file for all but one of them"});
  }
  if (line.resume && !line.resume_key && line.keys.names_public_keys_only()) {
    refuse("--resume needs a key that opens the journal, and RSA public keys open nothing",
           {"name one with --resume-key KEY; 'stockade keygen --symmetric -o KEY' makes it"});
  }
  if (line.resume_key && !line.resume) refuse("--resume-key belongs to --resume");
  if (line.accept_changed_input && !line.resume) refuse("--accept-changed-input belongs to --resume");
}

// What rank 0 alone has: keys, and what they open.
struct Keys {
  FileHead head;
  std::unique_ptr<Identities> identities;
  KeyringHandle recipients, journal;
  stockade_format format{};
};

class SharedCrypt {
 public:
  SharedCrypt(Ranks& ranks, const CryptLine& line)
      : ranks_(ranks), line_(line), output_("'" + line.output.value() + "'") {}
  void work();

 private:
  void read_keys();
  void make_format();
  void make_output();
  void make_job();
  void share_job();
  bool open_journal();
  void create_job();
  bool fits() const;
  stockade_status try_job() const;
  Failure refused_journal(const stockade_fault& fault) const;
  void tell_what_is_done() const;
  void run();
  void judge(const stockade_shared_work& work, int error);
  void settle_partial(stockade_status status);
  void complete();
  void tell(const SlicesDone& done);

  Ranks& ranks_;
  const CryptLine& line_;
  EngineHandle engine_;
  Input input_;
  Keys keys_;
  FileContext context_{.direction = STOCKADE_ENCRYPT, .input = {}, .output = {}, .key_ids = {}};
  SharedOutput output_;
  SharedJobHandle job_;
  stockade_shared_info info_{};
  bool dynamic_ = true;
  bool goes_on_ = false;  // with what an interrupted run has left
  std::unique_ptr<ui::Progress> progress_;
};

// Whatever is wrong with the input is found before anybody is asked for a passphrase.
void SharedCrypt::read_keys() {
  if (line_.decrypting()) {
    keys_.head = read_head(input_);
    context_.head = &keys_.head;
    if (keys_.head.status != STOCKADE_OK && keys_.head.status != STOCKADE_ERROR_TRUNCATED) {
      throw file_failure(keys_.head.fault, 0, context_);
    }
    if (keys_.head.armored) {
      refuse(fmt::format("{} is armored, of which ranks cannot read parts", input_.name),
             {"'stockade decrypt' reads it"});
    }
    keys_.identities = std::make_unique<Identities>(line_.keys);
    context_.key_ids = keys_.identities->key_ids();
  } else {
    if (!line_.force && looks_like_stockade_file(input_)) {
      refuse(fmt::format("{} is a Stockade file already", input_.name), {"encrypt it once more with --force"});
    }
    keys_.recipients = make_recipients(line_.keys);
  }
  if (line_.resume_key) {
    Recipients ring;
    ring.add_key_file(*line_.resume_key);
    keys_.journal = ring.release();
  }
}

void SharedCrypt::make_format() {
  stockade_format& format = keys_.format;
  format.struct_size = sizeof format;
  if (line_.decrypting()) {
    format.keyring = keys_.identities->keyring_for(keys_.head, input_.name);
    format.max_work_factor = keys_.identities->max_work_factor();
  } else {
    constexpr uint32_t usual_work_factor = 20;
    format.keyring = keys_.recipients.get();
    format.cipher = parse_file_cipher(line_.cipher);
    // A journal has the cost that this command gives it.
    format.max_work_factor = std::max(usual_work_factor, parse_work_factor("--work-factor", line_.keys.work_factor));
  }
}

// Whether the job that has been opened is one of this direction and cipher.
bool SharedCrypt::fits() const {
  stockade_shared_info info{};
  if (stockade_shared_info_get(job_.get(), &info) != STOCKADE_OK) return false;
  if (info.kind != (line_.decrypting() ? STOCKADE_SHARED_DECRYPT : STOCKADE_SHARED_ENCRYPT)) return false;
  return line_.decrypting() || info.cipher == keys_.format.cipher;
}

// What the library says of input, output and journal of the job before any slice is done.
stockade_status SharedCrypt::try_job() const {
  stockade_shared_work work{};
  work.struct_size = sizeof work;
  work.in_fd = input_.fd.get();
  work.out_fd = output_.fd();
  work.journal_fd = output_.journal_fd();
  work.next = [](void*) -> uint64_t { return STOCKADE_NO_SLICE; };
  work.accept_changed_input = line_.accept_changed_input ? 1 : 0;
  return stockade_shared_run(job_.get(), &work, engine_.get());
}

// False where there is no journal to go on with, or none that is wanted.
bool SharedCrypt::open_journal() {
  ResumableOutput& output = *output_.resumable();
  if (!output.was_begun()) return false;
  const stockade_keyring* ring = keys_.journal ? keys_.journal.get() : keys_.format.keyring;
  stockade_shared_job* opened = nullptr;
  stockade_fault fault{};
  errno = 0;
  stockade_status status =
      stockade_shared_open_journal(&opened, output.journal_fd(), ring, keys_.format.max_work_factor, &fault);
  job_.reset(opened);
  if (status == STOCKADE_ERROR_TRUNCATED) return false;
  if (status == STOCKADE_OK) status = fits() ? try_job() : STOCKADE_ERROR_JOURNAL;
  if (status == STOCKADE_OK) return true;
  const int error = errno;
  job_.reset();
  if (status == STOCKADE_ERROR_IO || status == STOCKADE_ERROR_MEMORY) {
    throw io_failure(error, context_.input, output.name());
  }
  fault.status = status;
  if (!line_.force) throw refused_journal(fault);
  output.start_over();
  ui::notice(fmt::format("starting over with {}", output.name()));
  return false;
}

Failure SharedCrypt::refused_journal(const stockade_fault& fault) const {
  if (fault.status == STOCKADE_ERROR_INPUT_CHANGED) {
    return changed_input_failure(fault, context_.input, "the interrupted run", start_over_hint);
  }
  return {Exit::io,
          fmt::format("the journal of {} is damaged, or of another job: other keys, cipher or input", output_.name()),
          {start_over_hint}};
}

void SharedCrypt::create_job() {
  stockade_shared_options options{};
  options.struct_size = sizeof options;
  options.kind = line_.decrypting() ? STOCKADE_SHARED_DECRYPT : STOCKADE_SHARED_ENCRYPT;
  options.processes = ranks_.size();
  options.journal_fd = output_.journal_fd();
  options.journal_keyring = keys_.journal.get();
  stockade_shared_job* made = nullptr;
  stockade_fault fault{};
  errno = 0;
  const stockade_status status =
      stockade_shared_create(&made, input_.fd.get(), output_.fd(), &keys_.format, &options, engine_.get(), &fault);
  const int error = errno;
  job_.reset(made);
  fault.status = status;
  if (status == STOCKADE_ERROR_SCRYPT_NOT_ALONE && line_.resume && line_.decrypting()) {
    refuse("--resume takes keys or a passphrase, not both", {"leave out what does not open the file"});
  }
  if (status != STOCKADE_OK) throw file_failure(fault, error, context_);
}

void SharedCrypt::make_output() {
  OutputFile::Options options{.path = *line_.output,
                              .force = line_.force,
                              .mode = static_cast<mode_t>(line_.decrypting() ? 0600 : 0666),
                              .input = &input_.status,
                              .text = false};
  if (line_.resume) {
    // A partial is its owner's alone until it gets its name and with it this mode.
    const mode_t mask = umask(0);
    umask(mask);
    options.mode &= ~mask;
  }
  output_.make(options, line_.resume);
}

// They are read back all the same, by all ranks.
void SharedCrypt::tell_what_is_done() const {
  uint64_t count = 0;
  const stockade_status status = stockade_shared_missing(job_.get(), output_.journal_fd(), nullptr, 0, &count);
  if (status != STOCKADE_OK) throw Failure(exit_for(status), stockade_status_text(status), {start_over_hint});
  ui::notice(
      fmt::format("going on with {}: {} of {} slices are done", output_.name(), info_.slices - count, info_.slices));
}

// On rank 0, which thereby has all that the others are told.
void SharedCrypt::make_job() {
  read_keys();
  make_output();
  make_format();
  goes_on_ = line_.resume && open_journal();
  if (!goes_on_) create_job();
  stockade_shared_info_get(job_.get(), &info_);
  if (goes_on_) tell_what_is_done();
}

void SharedCrypt::share_job() {
  SecretBytes terms(STOCKADE_SHARED_TERMS_BYTES);
  struct Invitation {
    bool goes_on;
    OutputAddress address;
  } invitation{};
  const bool apart = ranks_.machines() > 1;
  ranks_.on_first([&] {
    make_job();
    export_job(job_.get(), terms);
    // Who seals finds the beginning of the file there, and with a journal its job.
    const bool blank = line_.decrypting() && !line_.resume;
    invitation = {goes_on_, output_.address(blank ? info_.plain_length : 0, apart)};
  });
  ranks_.share(&invitation, sizeof invitation);
  ranks_.share(terms.data(), terms.capacity());
  goes_on_ = invitation.goes_on;
  ranks_.everywhere([&] {
    if (ranks_.first()) return;
    // No child shall inherit it.
    take_environment_passphrase(nullptr);
    job_ = import_job(terms);
    stockade_shared_info_get(job_.get(), &info_);
    output_.open(invitation.address);
  });
}

// What the files that an interrupted run has left are good for after this.
void SharedCrypt::settle_partial(stockade_status status) {
  ResumableOutput* output = output_.resumable();
  if (output == nullptr) return;
  switch (status) {
    case STOCKADE_ERROR_CHUNK:
    case STOCKADE_ERROR_TRUNCATED:
    case STOCKADE_ERROR_TRAILING_DATA:
      // The input will not get better.
      return output->discard();
    default:
      return output->keep();
  }
}

void SharedCrypt::judge(const stockade_shared_work& work, int error) {
  if (work.fault.status == STOCKADE_OK) return;
  if (goes_on_ && (work.fault.status == STOCKADE_ERROR_INPUT_CHANGED || work.fault.status == STOCKADE_ERROR_JOURNAL)) {
    throw refused_journal(work.fault);
  }
  FailureAt failure = failure_at(work.fault, error, context_);
  if (line_.resume && work.fault.status == STOCKADE_ERROR_IO) failure.hints.emplace_back(resume_hint);
  throw failure;
}

void SharedCrypt::run() {
  if (line_.resume) interrupt::set_hint(resume_hint);
  const SlicesWork work{.job = job_.get(),
                        .input = input_,
                        .out_fd = output_.fd(),
                        .journal_fd = output_.journal_fd(),
                        .dynamic = dynamic_,
                        .accept_changed_input = line_.accept_changed_input,
                        .context = context_,
                        .progress = *progress_};
  stockade_status worst = STOCKADE_OK;
  try {
    tell(run_slices(ranks_, work, engine_.get(), [&](const stockade_shared_work& part, int error) {
      worst = part.fault.status;
      judge(part, error);
      // With a journal it has been done.
      if (!line_.resume) output_.sync();
    }));
  } catch (const AgreedFailure& failure) {
    // Damage that another rank has found is damage.
    const bool damaged = failure.status == static_cast<int>(Exit::corrupt);
    settle_partial(damaged ? STOCKADE_ERROR_CHUNK : worst);
    throw;
  }
  ranks_.on_first([&] { complete(); });
}

void SharedCrypt::complete() {
  stockade_fault fault{};
  errno = 0;
  const stockade_status status = stockade_shared_check(job_.get(), output_.fd(), output_.journal_fd(), &fault);
  const int error = errno;
  fault.status = status;
  if (status != STOCKADE_OK) {
    settle_partial(STOCKADE_ERROR_IO);
    FailureAt failure = failure_at(fault, error, context_);
    if (line_.resume) failure.hints.emplace_back(resume_hint);
    throw failure;
  }
  output_.commit();
}

void SharedCrypt::tell(const SlicesDone& done) {
  if (!ui::verbose()) return;
  const double seconds = progress_->seconds();
  std::string text =
      fmt::format("{}: {} bytes in {:.3f} s, {}; {} to {} by each rank", context_.input, done.in_length, seconds,
                  ui::rate_text(done.in_length, seconds), ui::size_text(done.least), ui::size_text(done.most));
  ui::note(text);
}

void SharedCrypt::work() {
  engine_ = make_rank_engine(ranks_, line_.run);
  input_ = open_shared_input(ranks_, *line_.input);
  context_ = {.direction = line_.direction, .input = input_.name, .output = output_.name(), .key_ids = {}};
  share_job();
  dynamic_ = is_dynamic(ranks_, line_.schedule);
  const std::string plan = plan_text(line_.direction, info_.cipher, info_.slice_bytes, engine_.get());
  const std::string who = plan.substr(0, plan.find_first_of(":,", plan.find(',') + 1));
  // All ranks have the same command line.
  if (line_.run.verbose) ui::note(shared_plan_text(ranks_, info_, dynamic_, who));
  progress_ = std::make_unique<ui::Progress>(
      line_.run.progress_when(),
      ui::Progress::Work{.engine = fmt::format("{}, {}", plural(ranks_.size(), "rank"), who)});
  progress_->start_file(*line_.input);
  run();
  progress_->end_file(input_.length);
  progress_->finish();
}

void run_crypt(Session& session, CryptLine& line) {
  line.run.set_verbosity();
  check_line(line);
  const std::vector<std::string> inputs = {*line.input};
  const OutputName name = name_outputs(line.direction, inputs, {line.output, {}}).front();
  if (name.refusal) throw Failure(*name.refusal);
  line.output = name.path;
  session.run([&](Ranks& ranks) { SharedCrypt(ranks, line).work(); });
}

void declare(Command& command, CryptLine& line) {
  const char* files = "files";
  line.keys.declare(command, line.decrypting() ? Purpose::decrypt : Purpose::encrypt);
  command.operand(files, "IN", line.input, "the file to read, by a path under which all ranks see it");
  command.option(
      files, "-o,--output", "OUT", line.output,
      line.decrypting() ? "the file to write instead of IN without .stk" : "the file to write instead of IN.stk");
  command.flag(files, "-f,--force", line.force,
               line.decrypting() ? "replace an existing output"
                                 : "replace an existing output, and encrypt what is a Stockade file");
  command.flag(files, "--resume", line.resume,
               "keep a journal beside the output, and go on with what an interrupted run of the same command has left, "
               "with any number of ranks");
  command.flag(
      files, "--accept-changed-input", line.accept_changed_input,
      "go on although the times or the inode of the input have changed; only for an input whose content has not");
  if (!line.decrypting()) {
    command.option(files, "--resume-key", "KEY", line.resume_key,
                   "who can go on: the key in this file instead of those that open the output");
    command.option("format", "--cipher", "NAME", line.cipher, "cobblestone-256 (the default) or cobblestone-128");
  }
  command.option("speed", "--schedule", "HOW", line.schedule, schedule_help);
  line.run.declare(command);
}

constexpr char common_help[] = R"(ranks:
  Every rank opens IN and writes to a hidden file beside OUT, which gets its name
  once all is done; so both must be where all ranks see them by the same path. Rank 0
  alone reads keys and asks for passphrases, and it alone speaks. The file key goes
  to the other ranks as MPI carries messages: on most networks unencrypted.
  --threads is per rank; without it the ranks of a machine share its cores, and with
  --engine cuda its GPUs. Started without mpirun it is one rank.
)";

constexpr char encrypt_help[] = R"(
interrupted work:
  With --resume the output grows as .OUT.stockade-partial beside OUT, and its
  journal is .OUT.stockade-journal. After a killed rank or mpirun the same command
  does the slices that are missing. The journal is of use only to who can open the
  file, or to who has the key of --resume-key, which -r and -R do not do without.
  What changed meanwhile is refused; --resume --force then starts over.

examples:
  mpirun -n 8 stockade-mpi encrypt -k backup.key checkpoint.h5
  srun -N 4 -n 16 stockade-mpi encrypt -r team.pub.pem --resume --resume-key job.key \
    /scratch/run17.tar -o /archive/run17.tar.stk
)";

constexpr char decrypt_help[] = R"(
what is written:
  Nothing that has not been authenticated, and OUT appears once all of it has been.

examples:
  mpirun -n 8 stockade-mpi decrypt -k backup.key checkpoint.h5.stk
  mpirun -n 8 stockade-mpi decrypt -i team.pem --resume run17.tar.stk -o /scratch/run17.tar
)";

void add_direction(Command& root, Session& session, stockade_direction direction) {
  const bool decrypting = direction == STOCKADE_DECRYPT;
  Command& command = root.add(
      decrypting ? "decrypt" : "encrypt",
      decrypting ? "[-k KEY ... | -i PRIV ... | -p] [OPTION ...] IN" : "(-k KEY ... | -r PUB ... | -p) [OPTION ...] IN",
      decrypting ? "Decrypts one Stockade file with all ranks."
                 : "Encrypts one file with all ranks, for the keys or the passphrase that shall open it.");
  command.when_named([&session, direction, decrypting](Command& named) {
    const auto line = std::make_shared<CryptLine>();
    line->direction = direction;
    declare(named, *line);
    named.footer(fmt::format("{}{}\n{}", common_help, decrypting ? decrypt_help : encrypt_help, exit_status_help));
    named.action([line, &session] { run_crypt(session, *line); });
  });
}

}  // namespace

void add_encrypt(Command& root, Session& session) { add_direction(root, session, STOCKADE_ENCRYPT); }

void add_decrypt(Command& root, Session& session) { add_direction(root, session, STOCKADE_DECRYPT); }

}  // namespace stockade::cmd
