// What the process returns, and the exception that carries a failure from where it is found to main().
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stockade/stockade.h"

namespace stockade::cmd {

// exit_status_help says the same to the user.
enum class Exit : int {
  ok = 0,
  io = 1,            // a read, write, permission or memory failure, or another job's journal
  regression = 1,    // bench compare, which has no other use for 1
  usage = 2,         // the command line, the key or the input cannot be what was meant
  corrupt = 3,       // bad tag, bad padding, truncated ciphertext or no Stockade file at all
  no_key = 4,        // no matching key or wrong passphrase
  unavailable = 5,   // a row or an engine that was asked for and cannot run here
  interrupted = 128  // plus the number of the signal
};

// `message` is one line without the program's name and without a full stop; hints are lines of the same kind.
struct Failure {
  Failure(Exit exit_, std::string message_, std::vector<std::string> hints_ = {})
      : exit(exit_), message(std::move(message_)), hints(std::move(hints_)) {}
  Exit exit;
  std::string message;
  std::vector<std::string> hints;
};

// `direction` matters where the same finding means a wrong request in one direction and damaged data in the other.
Exit exit_for(stockade_status status, stockade_direction direction = STOCKADE_ENCRYPT);

// What is returned after both have happened to different files.
Exit graver(Exit a, Exit b);

// For a status that only the environment can have caused: names the variables in force.
Failure environment_failure(stockade_status status);

// "STOCKADE_FORCE=aes:vaes256", for each variable that is set and that the library reads.
std::vector<std::string> environment_in_force();

// The table that ends the help.
extern const char exit_status_help[];

}  // namespace stockade::cmd
