// The tree of commands and their options: declared by the verbs, read by CLI11, described by --help. The only file that
// knows CLI11.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}

namespace stockade::cmd {

class Command {
 public:
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // A command below this one. `usage` is what follows its name in its help: "[--json]".
  Command& add(const char* name, const char* usage, const char* description);
  // Declares what is below this command, only if the line names it: most of the tree is never built.
  void when_named(std::function<void(Command&)> declare) { declare_ = std::move(declare); }

  // What is declared here is listed under `group` in the help, in the order of declaration ("other options" come last).
  // `value` stays absent where the option is not given; it must outlive the command.
  void option(const char* group, const char* names, const char* placeholder, std::optional<std::string>& value,
              const char* description);
  void operand(const char* group, const char* name, std::optional<std::string>& value, const char* description);
  // The same for what may be given any number of times; the values stand in the order of the line.
  void options(const char* group, const char* names, const char* placeholder, std::vector<std::string>& values,
               const char* description);
  void operands(const char* group, const char* name, std::vector<std::string>& values, const char* description);
  void flag(const char* group, const char* names, bool& value, const char* description);

  // Another program does this: its words, the command first, are not read here. `run` does not return.
  void other_program(std::function<void(char** argv)> run) { other_program_ = std::move(run); }

  // The end of its help.
  void footer(const std::string& text);
  // What the command does, once the whole line has been read. A command without one needs a further word.
  void action(std::function<void()> action) { action_ = std::move(action); }

 private:
  friend class CommandLine;
  Command(CLI::App* app, std::string usage);
  // The command that the line names: this one or one below.
  const Command& chosen() const;
  std::string help() const;
  void declare_named(int argc, char** argv);

  std::function<void(Command&)> declare_;
  std::function<void(char**)> other_program_;
  std::function<void()> action_;
  CLI::App* app_;
  std::string usage_;
  std::vector<std::unique_ptr<Command>> commands_;
};

// The root. `version` is what --version prints.
class CommandLine : public Command {
 public:
  CommandLine(const char* name, const char* usage, const char* description, std::string version);
  ~CommandLine();

  // Reads the line and runs the action that it names, or prints help or version. Throws Failure.
  void run(int argc, char** argv);

 private:
  CommandLine(std::unique_ptr<CLI::App> root, const char* usage, std::string version);

  std::unique_ptr<CLI::App> root_;
  std::string version_;
};

}  // namespace stockade::cmd
