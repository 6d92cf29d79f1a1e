// Other programs as contenders.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace stockade::bench {

// What a turn took: time on the wall, and of all cores together.
struct Usage {
  double seconds = 0, cpu_seconds = 0;
};

// True once the user wants the benchmark to end.
using Stop = std::function<bool()>;

struct ProcessCall {
  std::vector<std::string> words;  // a path, then the arguments
  std::string folder = {};         // in which it runs; empty: where this process is
};

// The path of a program of the PATH; empty where there is none.
std::string find_program(const std::string& name);

// From start to exit, its children included. Standard input is empty and the output goes nowhere, messages to standard
// error. Throws std::runtime_error where it cannot be started, fails, or is ended because of `stop`.
Usage run_process(const ProcessCall& call, const Stop& stop);

// All that a program prints, under the same conditions; its messages go nowhere. Throws likewise.
std::string output_of(const ProcessCall& call, const Stop& stop);

// A program that answers each line with a line.
class Coprocess {
 public:
  explicit Coprocess(const std::vector<std::string>& words);
  ~Coprocess();
  Coprocess(const Coprocess&) = delete;
  Coprocess& operator=(const Coprocess&) = delete;

  // Throws std::runtime_error where it has ended instead.
  std::string read_line();
  std::string ask(const std::string& line);

 private:
  std::string name_, unread_;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
};

// The first line that a program prints; empty where it cannot be run or prints nothing.
std::string first_line_of(const std::vector<std::string>& words);

}  // namespace stockade::bench
