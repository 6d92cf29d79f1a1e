// stockade cobblestone encrypt|decrypt: the payload of a Stockade file alone, under a key that the caller names, as other
// software for c2sp.org/chunked-encryption reads and writes it.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "exit_status.h"
#include "file_failure.h"
#include "file_job.h"
#include "input_file.h"
#include "key_input.h"
#include "output_file.h"
#include "run_options.h"
#include "stockade/stockade.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct CobblestoneLine {
  stockade_direction direction = STOCKADE_ENCRYPT;
  std::optional<std::string> key_file, context, bits, output, input;
  bool force = false;
  RunOptions run;
};

stockade_cipher read_bits(const std::optional<std::string>& text) {
  if (!text || *text == "256") return STOCKADE_COBBLESTONE_256;
  if (*text == "128") return STOCKADE_COBBLESTONE_128;
  throw Failure(Exit::usage, fmt::format("--bits: '{}' is neither 256 nor 128", *text));
}

void read_key(const CobblestoneLine& line, stockade_cipher cipher, SecretBytes& key) {
  if (!line.key_file) {
    throw Failure(Exit::usage, "a key is missing", {"--key-file FILE, which holds the raw bytes or their hex digits"});
  }
  if (line.key_file == "-" && line.input.value_or("-") == "-") {
    throw Failure(Exit::usage, "the key and the input cannot both come from standard input",
                  {"name a file for one of the two"});
  }
  key_from_file(*line.key_file, cipher == STOCKADE_COBBLESTONE_128 ? 16 : 32, cipher_name(cipher), key);
}

void run_cobblestone(const CobblestoneLine& line) {
  line.run.set_verbosity();
  const stockade_cipher cipher = read_bits(line.bits);
  const std::vector<uint8_t> binding = line.context ? parse_hex("--context", *line.context) : std::vector<uint8_t>();
  const ui::When when = line.run.progress_when();
  const EngineHandle engine = line.run.make_engine();
  SecretBytes key;
  read_key(line, cipher, key);
  stockade_format format{};
  format.struct_size = sizeof format;
  format.key = key.data();
  format.key_length = key.size();
  format.context = binding.data();
  format.context_length = binding.size();
  format.cipher = cipher;

  const Input input = open_input(line.input.value_or("-"), line.run.quiet);
  const bool decrypting = line.direction == STOCKADE_DECRYPT;
  OutputFile output({.path = line.output.value_or(""),
                     .force = line.force,
                     .mode = static_cast<mode_t>(decrypting ? 0600 : 0666),
                     .input = &input.status});
  const std::string plan = plan_text(line.direction, cipher, input.length, engine.get());
  ui::note(plan);
  ui::Progress progress(when, {.engine = plan.substr(0, plan.find_first_of(":,", plan.find(',') + 1))});
  progress.start_file(line.input.value_or("-"));
  run_file_job(
      {.direction = line.direction, .input = input, .out_fd = output.fd(), .format = format, .progress = progress},
      {.direction = line.direction, .input = input.name, .output = output.name(), .head = nullptr, .key_ids = {}},
      engine.get());
  output.commit();
  progress.finish();
}

constexpr char help_text[] = R"(The output is salt, commitment and chunks of 16 KiB, each sealed with AES-GCM, and
nothing else: no header says for whom it is. The key must be random; it is never a
password. The context is what the data is bound to, such as a name; it is no
secret, is not stored, and must be the same to decrypt.

The key file holds 32 bytes, or 16 with --bits 128, raw or as hex text.
)";

void add_direction(Command& parent, stockade_direction direction) {
  const bool decrypting = direction == STOCKADE_DECRYPT;
  Command& command = parent.add(decrypting ? "decrypt" : "encrypt", "--key-file FILE [OPTION ...] [IN]",
                                decrypting ? "Opens a payload." : "Makes a payload.");
  const auto line = std::make_shared<CobblestoneLine>();
  line->direction = direction;
  command.option("key", "--key-file", "FILE", line->key_file, "the key, raw or as hex text; - is standard input");
  command.option("key", "--context", "HEX", line->context, "what the data is bound to; default nothing");
  command.option("key", "--bits", "N", line->bits, "256 (the default) or 128: Cobblestone-256 or Cobblestone-128");
  command.operand("files", "IN", line->input, "the file to read; - or nothing is standard input");
  command.option("files", "-o,--output", "OUT", line->output,
                 "the file to write; it appears under this name only once it is complete. - or nothing is standard "
                 "output");
  command.flag("files", "-f,--force", line->force, "replace an existing output");
  line->run.declare(command);
  command.footer(fmt::format("{}\n{}", help_text, exit_status_help));
  command.action([line] { run_cobblestone(*line); });
}

}  // namespace

void add_cobblestone(Command& root) {
  root.add("cobblestone", "encrypt|decrypt ...",
           "Encrypts or decrypts the payload of c2sp.org/chunked-encryption alone, for exchange with other software.")
      .when_named([](Command& command) {
        add_direction(command, STOCKADE_ENCRYPT);
        add_direction(command, STOCKADE_DECRYPT);
        command.footer("'stockade cobblestone encrypt --help' has the options and exit status.");
      });
}

}  // namespace stockade::cmd
