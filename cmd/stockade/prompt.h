// Questions to the person at the terminal. They go to /dev/tty, so that standard input and output stay free for data.
#pragma once

#include <string_view>

#include "output_file.h"
#include "secret_bytes.h"

namespace stockade::cmd::ui {

class Prompt {
 public:
  Prompt();
  // Whether there is a terminal to ask at.
  bool available() const { return terminal_.get() >= 0; }
  // One line without its end, not echoed. Throws Failure where nobody answers or the answer is longer than `answer` takes.
  void ask_secret(std::string_view question, SecretBytes& answer);
  // Shows a line.
  void tell(std::string_view text, std::string_view secret);

 private:
  Descriptor terminal_;
};

}  // namespace stockade::cmd::ui
