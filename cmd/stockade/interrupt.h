// Ctrl-C and its kin: first a polite request that the work sees through its progress callback, then, where the work is
// stuck in a system call, the end. Either way the temporary output is gone and the exit status is 128 + signal.
#pragma once

namespace stockade::cmd::interrupt {

// Handles SIGINT, SIGTERM and SIGHUP unless they are ignored already (as under nohup), and ignores SIGPIPE and SIGXFSZ, so
// that a closed pipe and a file-size limit are write errors like any other.
void install();

// True once a signal has come.
bool requested();
// 128 + the signal's number.
int exit_status();
// The text of the message for it.
extern const char message[];

// The file to remove should the process have to end at once; null for none. The text must stay until it is replaced.
void remove_at_end(const char* path);

}  // namespace stockade::cmd::interrupt
