// stockade decrypt: what the Stockade files hold.
#include <fmt/format.h>

#include <memory>

#include "command_line.h"
#include "crypt_files.h"
#include "exit_status.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

constexpr char help_text[] = R"(names:
  IN.stk becomes IN, beside it or in --output-dir, readable by you alone. Standard
  input goes to standard output, or to -o OUT. Armor is recognised.

which key:
  Of the keys that -k and -i name the one that fits is used. A file with a passphrase
  asks for it at the terminal if no source is named, and so does an RSA private key
  that is encrypted. Without -k and -p, and with -i, the passphrase comes from STOCKADE_PASSPHRASE, or from the descriptor that
  STOCKADE_PASSPHRASE_FD names; both are taken out of the environment.

what is written:
  Nothing that has not been authenticated. A file appears under its name once all
  of it has been; where the output is a pipe, authentic parts may be out before a
  later one fails. So look at the exit status: in a shell, 'set -o pipefail'.

ranges:
  --range OFFSET:LENGTH writes these bytes alone; sizes such as 1MiB are fine, and
  nothing behind the colon means to the end. Of a regular file only what is needed
  is read, and the last chunk, which proves the length. A pipe or an armored file
  is read and authenticated to its end.

parts:
  A file too long for one machine is opened by many that see it: 'stockade plan'
  begins, --part I/N does one of N parts anywhere, and 'stockade join' completes the
  output, which has its name only then. A part that was interrupted is run again, or
  another number of parts: what is done is not done again.

memory:
  Threads x 256 KiB x 2, and the same again where a pipe is involved: 1 MiB for
  two threads. With --resume and --part each thread holds 4 MiB more. A passphrase
  takes what its file asks for, 128 MiB unless it was made with another cost. With
  GPUs it is 64 MiB for each of them, and at most 256 MiB beside these.

examples:
  stockade decrypt -k backup.key disk.img.stk
  stockade decrypt -i alice.pem report.pdf.stk
  stockade decrypt -k backup.key photos.tar.stk -o - | tar x
  stockade decrypt -k backup.key --range 1GiB:4096 -o sectors disk.img.stk
)";

}  // namespace

void add_decrypt(Command& root) {
  Command& command = root.add("decrypt", "[-k KEY ... | -i PRIV ... | -p] [OPTION ...] [IN ...]",
                              "Decrypts Stockade files, or a part of one.");
  command.when_named([](Command& named) {
    const auto line = std::make_shared<CryptLine>();
    line->direction = STOCKADE_DECRYPT;
    line->keys.declare(named, Purpose::decrypt);
    line->declare_files(named);
    named.option("files", "--range", "OFF:LEN", line->range, "these bytes of the plaintext only");
    line->declare_parts(named);
    line->run.declare(named);
    named.footer(fmt::format("{}\n{}", help_text, exit_status_help));
    named.action([line] { run_crypt(*line); });
  });
}

}  // namespace stockade::cmd
