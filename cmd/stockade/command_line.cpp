#include "command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "exit_status.h"
#include "ui.h"
#include "values.h"

namespace stockade::cmd {
namespace {

constexpr size_t text_column = 27, line_width = 80;
constexpr char last_group[] = "other options";

// `head` on the left, `text` from the text column on, wrapped at spaces.
std::string entry(const std::string& head, std::string_view text) {
  std::string out = "  " + head;
  size_t column = out.size();
  if (column + 2 > text_column) {
    out += '\n';
    column = 0;
  }
  out.append(text_column - column, ' ');
  column = text_column;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > text_column && column + 1 + word.size() > line_width) {
      out += '\n' + std::string(text_column, ' ');
      column = text_column;
    } else if (column > text_column) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

std::string option_entry(const CLI::Option& option) {
  if (option.get_positional()) return entry(option.get_name(true, false), option.get_description());
  std::string head = option.get_snames().empty() ? "    " : "-" + option.get_snames()[0] + ", ";
  head += "--" + option.get_lnames()[0];
  if (!option.get_option_text().empty()) head += " " + option.get_option_text();
  return entry(head, option.get_description());
}

std::string group_text(const CLI::App& app, const std::string& group, const std::string& title) {
  std::string out = fmt::format("\n{}:\n", title);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == group) out += option_entry(*option);
  }
  return out;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

const CLI::App& chosen_app(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_app(*chosen.front());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string see_help(const CLI::App& app) { return fmt::format("see '{} --help'", full_name(app)); }

Failure unexpected(const CLI::App& app, const std::string& word) {
  const bool is_option = word.size() > 1 && word[0] == '-';
  std::vector<std::string> known;
  if (is_option) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  } else {
    known = command_names(app);
  }
  std::vector<std::string> hints = did_you_mean(word, known);
  hints.push_back(see_help(app));
  const char* what = is_option ? "unknown option" : known.empty() ? "unexpected argument" : "unknown command";
  return Failure(Exit::usage, fmt::format("{} '{}'", what, word), hints);
}

// The parser's complaint in this program's words.
Failure parse_failure(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = chosen_app(root);
  if (const auto extras = root.remaining(true); !extras.empty()) return unexpected(app, extras.front());
  std::string text = error.what();
  const std::string name = text.substr(0, text.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const CLI::Option* option = app.get_option_no_throw(name);
    const bool repeated = option != nullptr && option->results().size() > 1;
    return Failure(Exit::usage, fmt::format("{} {}", name, repeated ? "is given more than once" : "needs a value"),
                   {see_help(app)});
  }
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return Failure(Exit::usage, text, {see_help(app)});
}

}  // namespace

Command::Command(CLI::App* app, std::string usage) : app_(app), usage_(std::move(usage)) {
  app_->set_help_flag("-h,--help", "show this help")->group(last_group);
}

Command::~Command() = default;

Command& Command::add(const char* name, const char* usage, const char* description) {
  // Not make_unique: the constructor is for this class alone.
  commands_.emplace_back(new Command(app_->add_subcommand(name, description), usage));
  return *commands_.back();
}

void Command::option(const char* group, const char* names, const char* placeholder, std::optional<std::string>& value,
                     const char* description) {
  const auto store = [&value](const std::string& text) { value = text; };
  app_->add_option_function<std::string>(names, store, description)->option_text(placeholder)->group(group);
}

void Command::operand(const char* group, const char* name, std::optional<std::string>& value, const char* description) {
  option(group, name, "", value, description);
}

void Command::options(const char* group, const char* names, const char* placeholder, std::vector<std::string>& values,
                      const char* description) {
  const auto store = [&values](const std::vector<std::string>& texts) { values = texts; };
  CLI::Option* option = app_->add_option_function<std::vector<std::string>>(names, store, description);
  // One value after each name of an option; an operand takes all that are left.
  if (!option->get_positional()) option->allow_extra_args(false);
  option->option_text(placeholder)->group(group);
}

void Command::operands(const char* group, const char* name, std::vector<std::string>& values, const char* description) {
  options(group, name, "", values, description);
}

void Command::flag(const char* group, const char* names, bool& value, const char* description) {
  app_->add_flag(names, value, description)->group(group);
}

void Command::footer(const std::string& text) { app_->footer(text); }

const Command& Command::chosen() const {
  for (const auto& command : commands_) {
    if (command->app_->parsed()) return command->chosen();
  }
  return *this;
}

void Command::declare_named(int argc, char** argv) {
  if (other_program_) return other_program_(argv);
  if (declare_) declare_(*this);
  for (int i = 1; i < argc; ++i) {
    for (const auto& command : commands_) {
      if (command->app_->get_name() == argv[i]) return command->declare_named(argc - i, argv + i);
    }
    // An option, such as --quiet before the command; none that stands there takes a value.
    if (argv[i][0] != '-') return;
  }
}

std::string Command::help() const {
  std::string out = fmt::format("{}\n\nusage: {} {}\n", app_->get_description(), full_name(*app_), usage_);
  std::vector<std::string> groups = app_->get_groups();
  std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group != last_group; });
  for (const std::string& group : groups) out += group_text(*app_, group, groups.size() == 1 ? "options" : group);
  if (!commands_.empty()) out += "\ncommands:\n";
  for (const CLI::App* command : commands_of(*app_)) out += entry(command->get_name(), command->get_description());
  return fmt::format("{}\n{}\n", out, app_->get_footer());
}

CommandLine::CommandLine(const char* name, const char* usage, const char* description, std::string version)
    : CommandLine(std::make_unique<CLI::App>(description, name), usage, std::move(version)) {}

CommandLine::CommandLine(std::unique_ptr<CLI::App> root, const char* usage, std::string version)
    : Command(root.get(), usage), root_(std::move(root)), version_(std::move(version)) {
  root_->set_version_flag("-V,--version", version_, "show the version and how it was built")->group(last_group);
}

CommandLine::~CommandLine() = default;

void CommandLine::run(int argc, char** argv) {
  declare_named(argc, argv);
  try {
    root_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return ui::print(chosen().help());
  } catch (const CLI::CallForVersion&) {
    return ui::print(version_);
  } catch (const CLI::ParseError& error) {
    throw parse_failure(*root_, error);
  }
  const Command& command = chosen();
  if (!command.action_) {
    const CLI::App& app = chosen_app(*root_);
    throw Failure(Exit::usage, fmt::format("a command is missing after '{}'", full_name(app)),
                  {"the commands are " + listed(command_names(app)), see_help(app)});
  }
  command.action_();
}

}  // namespace stockade::cmd
