// stockade bench rsa.
#pragma once

#include "command_line.h"

namespace stockade::cmd {

void add_bench_rsa(Command& bench);

}  // namespace stockade::cmd
