// The descriptors 0, 1 and 2 that a process is started with.
#pragma once

namespace stockade::cmd {

// A process may be started with 0, 1 or 2 closed; then the next file opened would take that number, and messages could
// end in it. Each is filled with something that fails in the direction of its use.
void fill_standard_descriptors();

}  // namespace stockade::cmd
