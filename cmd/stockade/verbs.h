// The verbs of the command: each adds its commands and options to the tree.
#pragma once

#include "command_line.h"
#include "key_input.h"

namespace stockade::cmd {

void add_keygen(Command& root);
void add_encrypt(Command& root);
void add_decrypt(Command& root);
void add_inspect(Command& root);
void add_verify(Command& root);
void add_rekey(Command& root);
void add_plan(Command& root);
void add_join(Command& root);
void add_cobblestone(Command& root);
void add_raw(Command& root, const KeyArgument& key_argument);
void add_rsa(Command& root);
void add_info(Command& root);
void add_bench(Command& root);
void add_tune(Command& root);
void add_bench_compare(Command& bench);
void add_report(Command& root);
void add_bench_file(Command& bench);
void add_bench_studies(Command& bench);

}  // namespace stockade::cmd
