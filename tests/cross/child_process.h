// A program in a process and an environment of its own: what the library reads once per process is tested there.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stockade::tests {

struct Finished {
  int exit_status;  // or minus the signal that ended it
  std::string output;
};

// Runs a program to its end. The environment is this process's without STOCKADE_* and OMP_* (STOCKADE_TEST_SEED stays),
// and with `variables`. Throws std::runtime_error if it cannot be started.
Finished run_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& variables = {});

// The lines "name = value" that tests/cross/probe.cpp prints about its process.
std::map<std::string, std::string> probe(const std::map<std::string, std::string>& variables = {},
                                         const std::vector<std::string>& questions = {});

}  // namespace stockade::tests
