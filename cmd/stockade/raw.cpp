// stockade raw encrypt|decrypt: one AES mode over one file, without a header, with the key and IV that the caller names.
#include <fmt/format.h>

#include <cerrno>
#include <memory>
#include <string>

#include "command_line.h"
#include "exit_status.h"
#include "handles.h"
#include "input_file.h"
#include "interrupt.h"
#include "key_input.h"
#include "output_file.h"
#include "raw_line.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

int on_progress(void* context, uint64_t done, uint64_t total) {
  static_cast<ui::Progress*>(context)->update(done, total);
  return interrupt::requested() ? 1 : 0;
}

void run_raw(const RawLine& line) {
  line.run.set_verbosity();
  const RawJob job = read_raw_line(line);
  const ui::When when = line.run.progress_when();
  const EngineHandle engine = line.run.make_engine();
  const KeyHandle key = make_raw_key(line, *job.cipher);
  const Input input = open_input(line.input.value_or("-"), line.run.quiet);
  const bool decrypting = line.direction == STOCKADE_DECRYPT;
  OutputFile output({.path = line.output.value_or(""),
                     .force = line.force,
                     .mode = static_cast<mode_t>(decrypting ? 0600 : 0666),
                     .input = &input.status});
  // Plaintext that is not authenticated yet may be seen by nobody.
  Descriptor spool;
  if (decrypting && job.cipher->mode == STOCKADE_GCM && !output.private_until_commit()) spool = make_spool();

  const std::string plan = raw_plan_text(key.get(), line.direction, input.length, engine.get());
  ui::note(plan);
  ui::Progress progress(when, {.engine = plan.substr(0, plan.find_first_of(":,", plan.find(',') + 1))});
  progress.start_file(input.name);
  stockade_raw_options options{.struct_size = sizeof(stockade_raw_options),
                               .iv = job.iv.data(),
                               .iv_length = job.iv.size(),
                               .aad = job.aad.data(),
                               .aad_length = job.aad.size(),
                               .padding = job.padding,
                               .unit = job.unit,
                               .progress = on_progress,
                               .progress_context = &progress,
                               .in_length = 0,
                               .out_length = 0};
  const auto run = decrypting ? stockade_raw_decrypt_fd : stockade_raw_encrypt_fd;
  errno = 0;
  const stockade_status status =
      run(key.get(), input.fd.get(), spool.get() >= 0 ? spool.get() : output.fd(), &options, engine.get());
  const int error = errno;
  progress.clear();
  if (status != STOCKADE_OK) {
    throw raw_failure(status, error, line, job, input,
                      spool.get() >= 0 ? "the temporary file in TMPDIR" : output.name());
  }
  if (spool.get() >= 0) copy_spool(spool.get(), output.fd(), output.name());
  output.commit();
  const double seconds = progress.seconds();
  progress.end_file(options.in_length);
  progress.finish();
  ui::note(fmt::format("{} to {} bytes in {:.3f} s, {}", options.in_length, options.out_length, seconds,
                       ui::rate_text(options.in_length, seconds)));
}

constexpr char encrypt_help[] = R"(GCM:
  The output ends in a tag of 16 bytes. Other modes do not notice a change of the
  data: prefer GCM where you may choose.

examples:
  head -c 32 /dev/urandom > k
  stockade raw encrypt --cipher aes-256-ctr --key-file k \
    --iv 000102030405060708090a0b0c0d0e0f -o disk.img.ctr disk.img
  tar c photos | stockade raw encrypt --cipher aes-256-gcm --key-file k \
    --iv 000102030405060708090a0b > photos.tar.gcm
)";

constexpr char decrypt_help[] = R"(GCM:
  The input ends in its tag of 16 bytes. Until the tag has been verified the
  plaintext stands in a file without a name in TMPDIR, or in the temporary file
  of -o OUT; on a mismatch nothing is written.

examples:
  stockade raw decrypt --cipher aes-256-ctr --key-file k \
    --iv 000102030405060708090a0b0c0d0e0f -o disk.img disk.img.ctr
  stockade raw decrypt --cipher aes-256-gcm --key-file k \
    --iv 000102030405060708090a0b photos.tar.gcm | tar x
)";

void declare(Command& command, RawLine& line) {
  const char* files = "files";
  line.declare_cipher(command);
  command.operand(files, "IN", line.input, "the file to read; - or nothing is standard input");
  command.option(files, "-o,--output", "OUT", line.output,
                 "the file to write; it appears under this name only once it is complete. - or nothing is standard "
                 "output");
  command.flag(files, "-f,--force", line.force, "replace an existing output");
  line.run.declare(command);
}

void add_direction(Command& raw, stockade_direction direction, const KeyArgument& key_argument) {
  const bool decrypting = direction == STOCKADE_DECRYPT;
  Command& command =
      raw.add(decrypting ? "decrypt" : "encrypt", "--cipher NAME (--key-file FILE | --key HEX) [OPTION ...] [IN]",
              decrypting ? "Decrypts what 'raw encrypt' or 'openssl enc -K' has made."
                         : "Encrypts one file or stream; the bytes are those of 'openssl enc -K -iv'.");
  const auto line = std::make_shared<RawLine>();
  line->direction = direction;
  line->key = &key_argument;
  declare(command, *line);
  command.footer(fmt::format("{}\n{}\n{}", raw_key_help, decrypting ? decrypt_help : encrypt_help, exit_status_help));
  command.action([line] { run_raw(*line); });
}

}  // namespace

void add_raw(Command& root, const KeyArgument& key_argument) {
  Command& raw =
      root.add("raw", "encrypt|decrypt ...", "Encrypts or decrypts with a key and IV of your own, without a header.");
  raw.when_named([&key_argument](Command& command) {
    command.footer("'stockade raw encrypt --help' has the options, examples and exit status.");
    add_direction(command, STOCKADE_ENCRYPT, key_argument);
    add_direction(command, STOCKADE_DECRYPT, key_argument);
  });
}

}  // namespace stockade::cmd
