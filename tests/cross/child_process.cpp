#include "cross/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>
#include <string_view>

extern char** environ;

namespace stockade::tests {

namespace {

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool ours =
        (text.starts_with("STOCKADE_") && !text.starts_with("STOCKADE_TEST_")) || text.starts_with("OMP_");
    const bool replaced = variables.contains(std::string(text.substr(0, text.find('='))));
    if (!ours && !replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(count));
  return text;
}

}  // namespace

Finished run_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& variables) {
  std::vector<std::string> arguments = command, environment = environment_with(variables);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Finished finished{0, error == 0 ? read_all(ends[0]) : ""};
  close(ends[0]);
  if (error != 0) throw std::runtime_error("cannot run " + arguments[0]);
  int status = 0;
  waitpid(child, &status, 0);
  finished.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return finished;
}

std::map<std::string, std::string> probe(const std::map<std::string, std::string>& variables,
                                         const std::vector<std::string>& questions) {
  std::vector<std::string> command = {STOCKADE_PROBE};
  command.insert(command.end(), questions.begin(), questions.end());
  const Finished finished = run_program(command, variables);
  if (finished.exit_status != 0) {
    throw std::runtime_error("the probe ended with " + std::to_string(finished.exit_status) + ": " + finished.output);
  }
  std::map<std::string, std::string> answers;
  std::istringstream lines(finished.output);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    if (equals != std::string::npos) answers[line.substr(0, equals)] = line.substr(equals + 3);
  }
  return answers;
}

}  // namespace stockade::tests
