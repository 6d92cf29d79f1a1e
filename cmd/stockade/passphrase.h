// Where a passphrase comes from: a person, a file, a descriptor or the environment, and never the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "command_line.h"
#include "secret_bytes.h"

namespace stockade::cmd {

inline constexpr size_t longest_passphrase = 4096;

// Room for one more byte tells a passphrase that is too long.
struct Passphrase : SecretBytes {
  Passphrase() : SecretBytes(longest_passphrase + 2) {}
};

enum class Purpose { encrypt, decrypt };

// How the command line names a source. `prefix` distinguishes the passphrase that rekey adds from the one that it opens with.
struct PassphraseOptions {
  bool prompt = false;
  std::optional<std::string> file, fd;

  // -p, --passphrase-file and --passphrase-fd.
  void declare(Command& command, const char* group, Purpose purpose);
  // --add-passphrase, --add-passphrase-file and --add-passphrase-fd.
  void declare_addition(Command& command, const char* group);

  bool given() const { return prompt || file || fd; }
  bool reads_stdin() const { return file == "-" || fd == "0"; }

  // Reads it from where the options say. `question` is what a person is asked, such as "passphrase: ". For encryption a
  // person is asked twice, and an empty answer makes one. `no_input` refuses to ask. Throws Failure.
  void read(Purpose purpose, std::string_view question, bool no_input, Passphrase& passphrase) const;
};

// STOCKADE_PASSPHRASE, or what STOCKADE_PASSPHRASE_FD points to; nothing where neither is set. Both are taken out of the
// environment, and `passphrase` null does only that. Throws Failure.
void take_environment_passphrase(Passphrase* passphrase);

// Asks to decrypt; false where there is no terminal or `no_input` forbids to ask. Throws Failure.
bool ask_passphrase(std::string_view question, bool no_input, Passphrase& passphrase);

}  // namespace stockade::cmd
