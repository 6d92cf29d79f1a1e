#include "output_names.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <compare>
#include <map>
#include <string_view>
#include <utility>

#include "output_file.h"
#include "resume.h"

namespace stockade::cmd {
namespace {

[[noreturn]] void refuse(std::string message, std::vector<std::string> hints = {}) {
  throw Failure(Exit::usage, std::move(message), std::move(hints));
}

// What a path means, however it is written: its folder, and its name there.
struct Place {
  dev_t device = 0;
  ino_t folder = 0;
  std::string name;
  auto operator<=>(const Place&) const = default;
};

class Places {
 public:
  Place of(const std::string& path) {
    const std::string folder = folder_of(path);
    auto [found, added] = folders_.try_emplace(folder);
    if (added) {
      struct stat status {};
      // A folder that is not there holds nothing that could be mistaken for something else.
      if (stat(folder.empty() ? "." : folder.c_str(), &status) == 0) found->second = {status.st_dev, status.st_ino, {}};
    }
    Place place = found->second;
    place.name = place.folder == 0 ? path : std::string(name_in_folder(path));
    return place;
  }

 private:
  std::map<std::string, Place> folders_;
};

OutputName name_output(stockade_direction direction, const std::string& input, const OutputChoice& choice) {
  if (choice.output) return {*choice.output, {}};
  if (input == "-") {
    if (choice.folder) refuse("standard input has no name to use in --output-dir", {"name the output with -o FILE"});
    return {};
  }
  const std::string_view suffix = file_suffix;
  const std::string folder =
      choice.folder ? *choice.folder + (choice.folder->ends_with('/') ? "" : "/") : folder_of(input);
  const std::string name(name_in_folder(input));
  if (direction == STOCKADE_ENCRYPT) return {folder + name + file_suffix, {}};
  if (name.size() > suffix.size() && name.ends_with(suffix)) {
    return {folder + name.substr(0, name.size() - suffix.size()), {}};
  }
  return {{},
          Failure(Exit::usage, fmt::format("'{}' does not end in {}, so that its output has no name", input, suffix),
                  {"name the output with -o FILE"})};
}

void check_folder(const std::string& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    refuse(fmt::format("--output-dir: '{}' is not a directory", folder));
  }
}

void check_distinct(std::span<const std::string> inputs, std::span<const OutputName> outputs, bool resumable) {
  Places places;
  std::map<Place, const std::string*> sources, targets;
  std::map<std::pair<dev_t, ino_t>, const std::string*> files, reached;
  struct stat status {};
  for (const std::string& input : inputs) {
    if (stat(input.c_str(), &status) == 0) files.try_emplace({status.st_dev, status.st_ino}, &input);
    if (!sources.try_emplace(places.of(input), &input).second) refuse(fmt::format("'{}' is given twice", input));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (outputs[i].refusal) continue;
    const Place place = places.of(outputs[i].path);
    if (const auto [other, added] = targets.try_emplace(place, &inputs[i]); !added) {
      refuse(fmt::format("'{}' and '{}' would both become '{}'", *other->second, inputs[i], outputs[i].path));
    }
    if (const auto other = sources.find(place); other != sources.end()) {
      refuse(fmt::format("the output of '{}' would be '{}', which is an input", inputs[i], *other->second));
    }
    // Also through links.
    if (stat(outputs[i].path.c_str(), &status) != 0) continue;
    if (const auto other = files.find({status.st_dev, status.st_ino}); other != files.end()) {
      refuse(fmt::format("the output of '{}' would be '{}', which is an input", inputs[i], *other->second));
    }
    if (S_ISCHR(status.st_mode)) continue;
    if (const auto [other, added] = reached.try_emplace({status.st_dev, status.st_ino}, &inputs[i]); !added) {
      refuse(fmt::format("'{}' and '{}' would both become '{}'", *other->second, inputs[i], outputs[i].path));
    }
  }
  if (!resumable) return;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (outputs[i].refusal) continue;
    for (const std::string& own : ResumableOutput::side_files(outputs[i].path)) {
      const Place place = places.of(own);
      const bool reached_input = stat(own.c_str(), &status) == 0 && files.contains({status.st_dev, status.st_ino});
      if (reached_input || sources.contains(place) || targets.contains(place)) {
        refuse(fmt::format("the output of '{}' would grow in '{}', which is another input or output", inputs[i], own),
               {"rename that file, or do without --resume"});
      }
    }
  }
}

}  // namespace

std::vector<OutputName> name_outputs(stockade_direction direction, std::span<const std::string> inputs,
                                     const OutputChoice& choice) {
  if (choice.output && choice.folder) refuse("-o and --output-dir exclude each other");
  if (choice.output && inputs.size() > 1) {
    refuse(fmt::format("-o names one output, but there are {} inputs", inputs.size()),
           {"name a folder with --output-dir"});
  }
  if (choice.folder) check_folder(*choice.folder);
  std::vector<OutputName> outputs;
  for (const std::string& input : inputs) {
    if (input == "-" && inputs.size() > 1) refuse("standard input cannot be one of several inputs");
    outputs.push_back(name_output(direction, input, choice));
  }
  if (inputs.size() > 1) check_distinct(inputs, outputs, choice.resumable);
  return outputs;
}

}  // namespace stockade::cmd
