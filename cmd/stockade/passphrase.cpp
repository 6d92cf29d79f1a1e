#include "passphrase.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "exit_status.h"
#include "prompt.h"
#include "stockade/stockade.h"
#include "values.h"

namespace stockade::cmd {
namespace {

constexpr char value_variable[] = "STOCKADE_PASSPHRASE", fd_variable[] = "STOCKADE_PASSPHRASE_FD";

void check(const std::string& what, const Passphrase& passphrase) {
  if (passphrase.size() > longest_passphrase) {
    throw Failure(Exit::usage, fmt::format("{} holds more than {} bytes", what, longest_passphrase));
  }
  if (passphrase.size() == 0) throw Failure(Exit::usage, fmt::format("{} holds no passphrase", what));
}

// One line end is not part of it.
void settle(const std::string& what, Passphrase& passphrase) {
  passphrase.resize(without_line_end(passphrase.text()).size());
  check(what, passphrase);
}

void read_from_fd(const char* what, const std::string& number, Passphrase& passphrase) {
  const uint64_t fd = parse_number(what, number, 0, 1 << 20);
  const std::string name = fmt::format("descriptor {} of {}", fd, what);
  read_secret(static_cast<int>(fd), name, passphrase);
  settle(name, passphrase);
}

// 7 groups of 4 characters of base32: 140 random bits. No branch and no look-up depends on them.
void generate(Passphrase& passphrase) {
  constexpr size_t characters = 28, group = 4;
  SecretBytes random(characters);
  if (stockade_random(random.data(), characters) != STOCKADE_OK) {
    throw Failure(Exit::io, "the system gives no random numbers");
  }
  size_t size = 0;
  for (size_t i = 0; i < characters; ++i) {
    if (i > 0 && i % group == 0) passphrase.data()[size++] = '-';
    const uint32_t value = random.data()[i] & 31u;
    // 'a' to 'z', then '2' to '7'.
    const uint32_t digit = 0u - ((25u - value) >> 31);
    passphrase.data()[size++] = static_cast<uint8_t>('a' + value - (digit & ('a' + 26 - '2')));
  }
  passphrase.resize(size);
}

void ask_twice(ui::Prompt& terminal, std::string_view question, Passphrase& passphrase) {
  terminal.ask_secret(fmt::format("{} (empty to have one made): ", question), passphrase);
  if (passphrase.size() == 0) {
    generate(passphrase);
    return terminal.tell("the passphrase, which is shown this once: ", passphrase.text());
  }
  Passphrase again;
  terminal.ask_secret("the same again: ", again);
  if (!again.equals(passphrase)) throw Failure(Exit::usage, "the two passphrases differ");
}

Failure cannot_ask(bool no_input) {
  return {Exit::usage,
          no_input ? "a passphrase is needed, and --no-input forbids to ask for it"
                   : "there is no terminal to ask for the passphrase at",
          {"--passphrase-file FILE and --passphrase-fd N read it from elsewhere"}};
}

}  // namespace

void PassphraseOptions::declare(Command& command, const char* group, Purpose purpose) {
  command.flag(group, "-p,--passphrase", prompt,
               purpose == Purpose::encrypt ? "ask for a passphrase at the terminal, or make one"
                                           : "ask for the passphrase at the terminal");
  command.option(group, "--passphrase-file", "FILE", file,
                 "read it from FILE; one line end behind it is not part of it. - is standard input");
  command.option(group, "--passphrase-fd", "N", fd, "read it from descriptor N");
}

void PassphraseOptions::declare_addition(Command& command, const char* group) {
  command.flag(group, "--add-passphrase", prompt, "add a passphrase, asked for at the terminal, or make one");
  command.option(group, "--add-passphrase-file", "FILE", file, "add the one in FILE");
  command.option(group, "--add-passphrase-fd", "N", fd, "add the one that descriptor N gives");
}

void PassphraseOptions::read(Purpose purpose, std::string_view question, bool no_input, Passphrase& passphrase) const {
  if ((prompt ? 1 : 0) + (file ? 1 : 0) + (fd ? 1 : 0) > 1) {
    throw Failure(Exit::usage, "more than one source for the passphrase is given");
  }
  if (file) {
    const std::string what = *file == "-" ? "standard input" : fmt::format("the passphrase file '{}'", *file);
    read_secret_file(*file, what, passphrase);
    return settle(what, passphrase);
  }
  if (fd) return read_from_fd("--passphrase-fd", *fd, passphrase);
  ui::Prompt terminal;
  if (no_input || !terminal.available()) throw cannot_ask(no_input);
  if (purpose == Purpose::encrypt) return ask_twice(terminal, question, passphrase);
  terminal.ask_secret(fmt::format("{}: ", question), passphrase);
  check("the answer", passphrase);
}

void take_environment_passphrase(Passphrase* passphrase) {
  char* const value = std::getenv(value_variable);
  const char* const number = std::getenv(fd_variable);
  const bool has_fd = number != nullptr;
  const std::string fd = has_fd ? number : "";
  if (value != nullptr) {
    const size_t size = std::strlen(value);
    if (passphrase != nullptr) {
      passphrase->resize(std::min(size, passphrase->capacity()));
      std::memcpy(passphrase->data(), value, passphrase->size());
    }
    // unsetenv() alone would leave it to be read in /proc.
    explicit_bzero(value, size);
  }
  unsetenv(value_variable);
  unsetenv(fd_variable);
  if (passphrase == nullptr) return;
  if (value != nullptr) {
    check(value_variable, *passphrase);
  } else if (has_fd) {
    read_from_fd(fd_variable, fd, *passphrase);
  }
}

bool ask_passphrase(std::string_view question, bool no_input, Passphrase& passphrase) {
  ui::Prompt terminal;
  if (no_input || !terminal.available()) return false;
  terminal.ask_secret(question, passphrase);
  check("the answer", passphrase);
  return true;
}

}  // namespace stockade::cmd
