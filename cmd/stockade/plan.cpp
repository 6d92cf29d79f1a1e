// stockade plan: begins a file that is made or opened in parts, by many machines that share a file system.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "exit_status.h"
#include "file_failure.h"
#include "file_head.h"
#include "input_file.h"
#include "keyring_input.h"
#include "output_names.h"
#include "plan_file.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

// The command line as it was written; absent where it was not.
struct PlanLine {
  stockade_direction direction = STOCKADE_ENCRYPT;
  KeyOptions keys;
  PlanOptions plan;
  std::optional<std::string> input, output, cipher, slice, parts;
  bool force = false, quiet = false, verbose = false;

  bool decrypting() const { return direction == STOCKADE_DECRYPT; }
};

[[noreturn]] void refuse(std::string message, std::vector<std::string> hints = {}) {
  throw Failure(Exit::usage, std::move(message), std::move(hints));
}

void check_line(const PlanLine& line) {
  if (!line.input || *line.input == "-") refuse("a plan is for one regular file", {"name the input"});
  if (!line.decrypting() && !line.plan.key && line.keys.names_public_keys_only()) {
    refuse("the plan needs a key that opens it, and RSA public keys open nothing",
           {"name one with --plan-key KEY; 'stockade keygen --symmetric -o KEY' makes it"});
  }
  if (line.keys.stdin_readers() + line.plan.stdin_readers() > 1) {
    refuse("keys and passphrase cannot all come from standard input", {"name a file for all but one of them"});
  }
}

Failure plan_failure(const stockade_fault& fault, int error, const FileContext& context) {
  if (fault.status == STOCKADE_ERROR_SCRYPT_NOT_ALONE && context.direction == STOCKADE_DECRYPT) {
    return {Exit::usage, "a plan takes keys or a passphrase, not both", {"leave out what does not open the file"}};
  }
  return file_failure(fault, error, context);
}

class Planning {
 public:
  explicit Planning(const PlanLine& line) : line_(line) {}
  void work();

 private:
  void read_input();
  void read_keys();
  stockade_shared_options options() const;
  void create(PartedOutput& output, OutputFile& plan);

  const PlanLine& line_;
  Input input_;
  FileHead head_;
  KeyringHandle recipients_, plan_keyring_;
  std::unique_ptr<Identities> identities_;
  stockade_format format_{};
};

void Planning::read_input() {
  input_ = open_input(*line_.input, line_.quiet);
  if (!input_.regular()) refuse(fmt::format("a plan is for a regular file, which {} is not", input_.name));
  if (!line_.decrypting()) {
    if (line_.force || !looks_like_stockade_file(input_)) return;
    refuse(fmt::format("{} is a Stockade file already", input_.name), {"encrypt it once more with --force"});
  }
  head_ = read_head(input_);
  if (head_.armored) refuse(fmt::format("{} is armored, and parts do not work with armor", input_.name));
}

void Planning::read_keys() {
  format_.struct_size = sizeof format_;
  if (line_.decrypting()) {
    identities_ = std::make_unique<Identities>(line_.keys);
    format_.keyring = identities_->keyring_for(head_, input_.name);
    format_.max_work_factor = identities_->max_work_factor();
  } else {
    recipients_ = make_recipients(line_.keys);
    format_.keyring = recipients_.get();
    format_.cipher = parse_file_cipher(line_.cipher);
  }
  if (!line_.plan.key) return;
  Recipients ring;
  ring.add_key_file(*line_.plan.key);
  plan_keyring_ = ring.release();
}

stockade_shared_options Planning::options() const {
  constexpr uint64_t least_slice = 256 << 10, most_slice = 64 << 20, most_parts = 1 << 20;
  stockade_shared_options options{};
  options.struct_size = sizeof options;
  options.kind = line_.decrypting() ? STOCKADE_SHARED_DECRYPT : STOCKADE_SHARED_ENCRYPT;
  if (line_.parts) options.processes = static_cast<uint32_t>(parse_number("--parts", *line_.parts, 1, most_parts));
  if (line_.slice) {
    options.slice_bytes = parse_size("--slice", *line_.slice);
    const uint64_t size = options.slice_bytes;
    if (size < least_slice || size > most_slice || (size & (size - 1)) != 0) {
      refuse(fmt::format("--slice: '{}' is no power of two from 256KiB to 64MiB", *line_.slice));
    }
  }
  options.journal_keyring = plan_keyring_.get();
  return options;
}

void Planning::create(PartedOutput& output, OutputFile& plan) {
  stockade_shared_options wanted = options();
  wanted.journal_fd = plan.fd();
  stockade_shared_job* made = nullptr;
  stockade_fault fault{};
  errno = 0;
  const stockade_status status =
      stockade_shared_create(&made, input_.fd.get(), output.fd(), &format_, &wanted, nullptr, &fault);
  const int error = errno;
  const SharedJobHandle job(made);
  if (status == STOCKADE_ERROR_ARGUMENT) refuse("--slice: that makes more than 67108864 slices", {"make them larger"});
  if (status != STOCKADE_OK) {
    throw plan_failure(fault, error,
                       {.direction = line_.direction,
                        .input = input_.name,
                        .output = output.name(),
                        .head = &head_,
                        .key_ids = identities_ ? identities_->key_ids() : std::vector<std::string>()});
  }
  stockade_shared_info info{};
  stockade_shared_info_get(job.get(), &info);
  const uint64_t plain = info.slice_bytes / (line_.decrypting() ? STOCKADE_SEALED_CHUNK_BYTES : STOCKADE_CHUNK_BYTES) *
                         STOCKADE_CHUNK_BYTES;
  ui::note(info.slices == 1 ? "1 slice" : fmt::format("{} slices of {}", info.slices, ui::size_text(plain)));
}

void Planning::work() {
  ui::set_verbosity(line_.quiet, line_.verbose);
  check_line(line_);
  const std::string& path = line_.plan.path();
  const std::string inputs[] = {*line_.input};
  const OutputName named = name_outputs(line_.direction, inputs, {.output = line_.output, .folder = {}})[0];
  if (named.refusal) throw Failure(*named.refusal);
  read_input();
  PartedOutput output({.path = named.path, .force = line_.force, .input = &input_.status});
  // Before anybody is asked for a passphrase in vain.
  output.make();
  OutputFile plan({.path = path, .force = line_.force, .mode = 0600, .input = &input_.status});
  if (!plan.private_until_commit()) refuse(fmt::format("the plan {} is no regular file", plan.name()));
  read_keys();
  output.check_target();
  create(output, plan);
  plan.commit();
  output.keep();
}

constexpr char encrypt_text[] = R"(names:
  IN becomes IN.stk, or OUT. Until 'join' gives it its name it stands beside that as
  .OUT.stockade-parts, which all who do a part must see, like IN and the plan.

the plan:
  It holds the key of the file, sealed to who can open the file, or to the key of
  --plan-key, and says which slices are done. RSA public keys open nothing, so with
  -r and -R alone --plan-key is needed.

examples:
  stockade plan encrypt -k backup.key --plan disk.plan --parts 8 disk.img
  stockade encrypt --part 3/8 --plan disk.plan -k backup.key disk.img
  stockade join --plan disk.plan -k backup.key -o disk.img.stk
)";

constexpr char decrypt_text[] = R"(names:
  IN.stk becomes IN, or OUT. Until 'join' gives it its name it stands beside that as
  .OUT.stockade-parts, which all who do a part must see, like IN and the plan.

the plan:
  It holds the key of the file, sealed to the keys or the passphrase that are given
  here, or to the key of --plan-key, and says which slices are done.

examples:
  stockade plan decrypt -k backup.key --plan disk.plan --parts 8 disk.img.stk
  stockade decrypt --part 3/8 --plan disk.plan -k backup.key disk.img.stk
  stockade join --plan disk.plan -k backup.key -o disk.img
)";

void add_direction(Command& parent, stockade_direction direction) {
  const bool decrypting = direction == STOCKADE_DECRYPT;
  Command& command = parent.add(decrypting ? "decrypt" : "encrypt",
                                decrypting ? "[-k KEY ... | -i PRIV ... | -p] --plan FILE [OPTION ...] IN"
                                           : "(-k KEY ... | -r PUB ... | -p) --plan FILE [OPTION ...] IN",
                                decrypting ? "Plans to decrypt a Stockade file." : "Plans to encrypt a file.");
  command.when_named([direction, decrypting](Command& named) {
    const auto line = std::make_shared<PlanLine>();
    line->direction = direction;
    line->keys.declare(named, decrypting ? Purpose::decrypt : Purpose::encrypt);
    line->plan.declare(named, "parts");
    named.option("parts", "--parts", "N", line->parts,
                 "how many parts there will be, about: a small file is cut finer for more of them");
    named.option("parts", "--slice", "SIZE", line->slice,
                 "bytes of plaintext in a slice, which one part does as a whole: a power of two, at most 64MiB; 4MiB "
                 "or less if not "
                 "given");
    named.operand("files", "IN", line->input, "the file to read");
    named.option("files", "-o,--output", "OUT", line->output, "the file that is to be written");
    named.flag("files", "-f,--force", line->force,
               decrypting ? "replace existing files, and an earlier plan for OUT"
                          : "replace existing files, and an earlier plan for OUT; encrypt what is a Stockade file");
    if (!decrypting) {
      named.option("format", "--cipher", "NAME", line->cipher, "cobblestone-256 (the default) or cobblestone-128");
    }
    named.flag("other options", "-q,--quiet", line->quiet, "say nothing but errors");
    named.flag("other options", "-v,--verbose", line->verbose, "say how it was done");
    named.footer(fmt::format("{}\n{}", decrypting ? decrypt_text : encrypt_text, exit_status_help));
    named.action([line] { Planning(*line).work(); });
  });
}

}  // namespace

void add_plan(Command& root) {
  root.add("plan", "encrypt|decrypt ...", "Begins a file that many machines make or open in parts.")
      .when_named([](Command& plan) {
        add_direction(plan, STOCKADE_ENCRYPT);
        add_direction(plan, STOCKADE_DECRYPT);
      });
}

}  // namespace stockade::cmd
