// The verbs of the command: each adds its commands and options to the tree.
#pragma once

#include "cmd/stockade/command_line.h"
#include "cmd/stockade/key_input.h"
#include "session.h"

namespace stockade::cmd {

void add_encrypt(Command& root, Session& session);
void add_decrypt(Command& root, Session& session);
void add_verify(Command& root, Session& session);
void add_raw(Command& root, Session& session, const KeyArgument& key_argument);
void add_bench(Command& root, Session& session);

}  // namespace stockade::cmd
