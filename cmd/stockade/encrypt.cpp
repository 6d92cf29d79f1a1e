// stockade encrypt: Stockade files of any files.
#include <fmt/format.h>

#include <memory>

#include "command_line.h"
#include "crypt_files.h"
#include "exit_status.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

constexpr char help_text[] = R"(names:
  IN becomes IN.stk, beside it or in --output-dir. Standard input goes to standard
  output, or to -o OUT. A Stockade file is not encrypted once more without --force.

who can open it:
  A file can be opened by each of the keys that -k names, and by the private half of
  each RSA key that -r and -R name; or by one passphrase. Without any of these and
  without -p the passphrase comes from STOCKADE_PASSPHRASE, or from the descriptor
  that STOCKADE_PASSPHRASE_FD names; both are taken out of the environment. An empty
  answer to -p makes a passphrase of 140 random bits.

memory:
  Threads x 256 KiB x 2, and the same again where a pipe is involved: 1 MiB for
  two threads. With --resume and --part it is 12 MiB more for each thread, and 40 MiB
  at least. A passphrase takes 128 MiB for its tenths of a second. With GPUs it is
  64 MiB for each of them, and at most 256 MiB beside these.

interrupted work:
  With --resume the output grows as .OUT.stockade-partial beside OUT, and its
  journal is .OUT.stockade-journal. The same command again goes on. The journal is
  of use only to who can open the file, or to who has the key of --resume-key, which
  -r and -R do not do without. With several inputs, an output that is newer than its
  input, and as long as what would be made, is left alone; nothing else of it is looked
  at. What was written is read back and made again where it is not what was written.
  An input that changed meanwhile is refused; --resume --force then starts over.

parts:
  A file too long for one machine is made by many that see it: 'stockade plan' begins
  it, --part I/N does one of N parts of it anywhere, and 'stockade join' completes it.
  The same bytes come of it. A part that was interrupted is run again, or another
  number of parts: what is done is not done again.

examples:
  stockade keygen --symmetric -o backup.key
  stockade encrypt -k backup.key disk.img
  stockade encrypt -r alice.pub.pem -r bob.crt report.pdf
  stockade encrypt -p -o letter.stk letter.txt
  tar c photos | stockade encrypt -k backup.key > photos.tar.stk
  stockade encrypt --resume -k backup.key --output-dir /mnt/usb *.img
)";

}  // namespace

void add_encrypt(Command& root) {
  Command& command = root.add("encrypt", "(-k KEY ... | -r PUB ... | -p) [OPTION ...] [IN ...]",
                              "Encrypts files, each for the keys or the passphrase that shall open it.");
  command.when_named([](Command& named) {
    const auto line = std::make_shared<CryptLine>();
    line->direction = STOCKADE_ENCRYPT;
    line->keys.declare(named, Purpose::encrypt);
    line->declare_files(named);
    named.option("files", "--resume-key", "KEY", line->resume_key,
                 "who can go on: the key in this file instead of those that open the output");
    named.option("format", "--cipher", "NAME", line->cipher, "cobblestone-256 (the default) or cobblestone-128");
    named.flag("format", "-a,--armor", line->armor, "as text (PEM), a third longer");
    line->declare_parts(named);
    line->run.declare(named);
    named.footer(fmt::format("{}\n{}", help_text, exit_status_help));
    named.action([line] { run_crypt(*line); });
  });
}

}  // namespace stockade::cmd
