// Where the bytes come from, and a look at the first of them that leaves them where they are.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "output_file.h"

namespace stockade::cmd {

struct Input {
  Descriptor fd;
  std::string name;  // for messages: the path in quotes, or "standard input"
  struct stat status {};
  uint64_t start = 0;   // where a regular file stands; standard input need not be at its beginning
  uint64_t length = 0;  // from there to the end; 0 where unknown

  bool regular() const { return S_ISREG(status.st_mode); }
};

// "-" is standard input, and a person at a terminal is told how to end it, unless `quiet`. Throws Failure.
Input open_input(const std::string& path, bool quiet);

// "'path'", or "standard input" for "-".
std::string input_name(const std::string& path);

// Shows the first bytes of an input and leaves them to be read, also those of a pipe or a socket. What else there is, such
// as a terminal, shows nothing.
class Preview {
 public:
  explicit Preview(const Input& input);
  // The bytes seen so far, more than the last time if any followed; waits for them. False where no more are to be had.
  bool look_further();
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  bool look_into_file();
  bool look_into_stream();
  // The bytes that stand in the stream; up to `size`.
  size_t peek(void* buffer, size_t size);

  const Input& input_;
  Descriptor copy_in_, copy_out_;  // a pipe that gets a copy of what stands in the input
  std::vector<uint8_t> bytes_;
};

// Whether the input begins like a Stockade file.
bool looks_like_stockade_file(const Input& input);

}  // namespace stockade::cmd
