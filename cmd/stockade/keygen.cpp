// stockade keygen: a new key, readable by nobody else.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "command_line.h"
#include "exit_status.h"
#include "output_file.h"
#include "secret_bytes.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct KeygenLine {
  bool symmetric = false, force = false, quiet = false;
  std::optional<std::string> output;
};

constexpr size_t key_length = 32;

// No branch and no look-up depends on the bytes.
void encode_hex(const SecretBytes& bytes, SecretBytes& text) {
  const auto digit = [](uint32_t value) {
    return static_cast<uint8_t>('0' + value + ((0u - ((9u - value) >> 31)) & ('a' - '0' - 10)));
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    text.data()[2 * i] = digit(bytes.data()[i] >> 4);
    text.data()[2 * i + 1] = digit(bytes.data()[i] & 15u);
  }
  text.resize(2 * bytes.size());
}

void run_keygen(const KeygenLine& line) {
  ui::set_verbosity(line.quiet, false);
  if (!line.symmetric) {
    throw Failure(Exit::usage, "what kind of key is to be made is missing", {"--symmetric makes a key of 32 bytes"});
  }
  SecretBytes key, text;
  key.resize(key_length);
  if (stockade_random(key.data(), key_length) != STOCKADE_OK) {
    throw Failure(Exit::io, "the system gives no random numbers");
  }
  char id[12];
  if (const auto status = stockade_key_id(key.data(), key_length, id); status != STOCKADE_OK) {
    throw Failure(exit_for(status), stockade_status_text(status));
  }
  encode_hex(key, text);
  text.data()[text.size()] = '\n';
  text.resize(text.size() + 1);
  OutputFile output({.path = line.output.value_or(""), .force = line.force, .mode = 0600, .text = true});
  write_all(output.fd(), text.data(), text.size(), output.name());
  output.commit();
  ui::notice(fmt::format("key {}", id));
}

}  // namespace

void add_keygen(Command& root) {
  root.add("keygen", "--symmetric [-o KEY] [-f]", "Makes a key.").when_named([](Command& command) {
    const auto line = std::make_shared<KeygenLine>();
    command.flag("options", "--symmetric", line->symmetric,
                 "a key of 32 random bytes: whoever has it can encrypt and decrypt");
    command.option("options", "-o,--output", "KEY", line->output,
                   "the file to write, readable by you alone; - or nothing is standard output");
    command.flag("options", "-f,--force", line->force, "replace an existing file: what it opened stays shut for ever");
    command.flag("other options", "-q,--quiet", line->quiet, "say nothing but errors");
    command.footer(fmt::format(R"(The file holds the key as 64 hex digits. The note on standard error is the key's id,
the name by which files that are encrypted for it call it; it is no secret.
Keep a copy of the key where the files are not: without it they are lost.

examples:
  stockade keygen --symmetric -o backup.key
  stockade encrypt -k backup.key disk.img

{})",
                               exit_status_help));
    command.action([line] { run_keygen(*line); });
  });
}

}  // namespace stockade::cmd
