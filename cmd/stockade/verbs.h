// The verbs of the command: each adds its commands and options to the tree.
#pragma once

#include "command_line.h"
#include "key_input.h"

namespace stockade::cmd {

void add_raw(Command& root, const KeyArgument& key_argument);
void add_info(Command& root);
void add_bench(Command& root);

}  // namespace stockade::cmd
