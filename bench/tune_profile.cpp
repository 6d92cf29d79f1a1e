#include "tune_profile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "cpu/features.h"
#include "cpu/machine.h"
#include "offload/backend.h"
#include "tune/fingerprint.h"
#include "tune/profile_in_force.h"

namespace stockade::bench {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  std::string reason = std::strerror(errno);
  if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  throw std::runtime_error(fmt::format("cannot {} '{}': {}", what, path, reason));
}

void write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void make_folders(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw std::runtime_error(fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
}

std::vector<std::string> names_of(cpu::Features features) {
  std::vector<std::string> names;
  for (const cpu::FeatureName& feature : cpu::feature_names) {
    if ((features & feature.bit) != 0) names.emplace_back(feature.name);
  }
  return names;
}

std::optional<ProfileRow> parse_line(std::string_view line) {
  ProfileRow parsed{};
  tune::Provenance provenance;
  tune::Fault fault;
  if (!tune::read_entry(line, parsed.row, provenance, fault)) return std::nullopt;
  parsed.score = provenance.score;
  parsed.runner_up = provenance.runner_up;
  parsed.machine = provenance.machine;
  parsed.date = provenance.date;
  parsed.commit = provenance.commit;
  return parsed;
}

ProfileFile parse(const std::string& text, const std::string& path) {
  const auto profile = std::make_unique<tune::Profile>();
  tune::Fault fault;
  if (!tune::read_profile(text, *profile, fault)) {
    throw std::runtime_error(fault.line == 0 ? std::string(fault.what)
                                             : fmt::format("line {}: {}", fault.line, fault.what));
  }
  ProfileFile file;
  file.path = path;
  file.name = std::filesystem::path(path).filename();
  file.head = {profile->machine,         profile->fingerprint,     profile->gpu,
               names_of(profile->needs), names_of(profile->lacks), profile->cores};
  std::istringstream lines(text);
  uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find('|') == std::string::npos || line.find_first_not_of(" \t") == line.find('#')) continue;
    std::optional<ProfileRow> row = parse_line(line);
    if (!row) continue;
    row->row.line = number;
    file.rows.push_back(std::move(*row));
  }
  return file;
}

}  // namespace

ProfileHead head_of_this_machine(const std::string& gpu, bool of_a_class) {
  ProfileHead head;
  head.machine = tune::fingerprint().machine;
  head.gpu = gpu;
  if (!of_a_class) {
    head.fingerprint = tune::fingerprint().text;
    return head;
  }
  head.cores = cpu::machine().cores;
  // Rows about GPUs are for any machine that has such a one.
  if (!gpu.empty()) return head;
  // What makes the classes is what AES is done with.
  constexpr cpu::Features deciding = cpu::aesni | cpu::clmul | cpu::avx2 | cpu::vaes | cpu::vpclmul | cpu::avx512;
  head.needs = names_of(cpu::usable() & deciding);
  head.lacks = names_of(~cpu::usable() & deciding);
  return head;
}

std::string gpu_name(uint32_t device) {
  gpu::DeviceFacts facts;
  if (offload::backend().runtime->facts(device, facts) != STOCKADE_OK)
    throw std::runtime_error("a GPU cannot be described");
  return facts.name;
}

std::string user_profile_path() { return std::string(tune::user_path()); }

std::optional<ProfileFile> read_profile_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return parse({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, path);
}

std::optional<ProfileFile> built_in_profile(const std::string& name) {
  for (const tune::BuiltIn& entry : tune::built_in()) {
    if (name == entry.name) return parse(entry.text, entry.name);
  }
  return std::nullopt;
}

std::string score_text(tune::Operation operation, double score) {
  const bool counts = operation == tune::Operation::rsa_private || operation == tune::Operation::rsa_public;
  // A score of 0 would be none.
  if (score < 0.0005) return fmt::format("{:.2e} {}", score, counts ? "/s" : "GB/s");
  if (score >= 99.95) return fmt::format("{:.0f} {}", score, counts ? "/s" : "GB/s");
  return fmt::format("{:.{}f} {}", score, score >= 9.995 ? 1 : score >= 0.9995 ? 2 : 4, counts ? "/s" : "GB/s");
}

std::string choice_text(const tune::Choice& choice) {
  char text[256];
  tune::write_choice(choice, text, sizeof text);
  return text;
}

ProfileRow row_of(const TuneOutcome& outcome, const std::string& machine, const std::string& date,
                  const std::string& commit) {
  const tune::Operation operation = outcome.point.operation;
  ProfileRow row{{operation, outcome.point.bits, outcome.point.length, outcome.best, outcome.score, 0},
                 score_text(operation, outcome.score),
                 "-",
                 machine,
                 date,
                 commit};
  if (outcome.next_score > 0) {
    row.runner_up = choice_text(outcome.next) + " " + score_text(operation, outcome.next_score);
  }
  return row;
}

TuneOutcome outcome_of(const ProfileRow& row) {
  TuneOutcome outcome{{row.row.operation, row.row.bits, row.row.from}, row.row.choice, {}, row.row.score, 0, 0, 0};
  // "engine=serial 17.2 GB/s": the last two words are the score.
  const std::string& text = row.runner_up;
  const size_t unit = text.rfind(' '), number = unit == std::string::npos ? unit : text.rfind(' ', unit - 1);
  if (number == std::string::npos) return outcome;
  tune::Fault fault;
  if (tune::read_choice(std::string_view(text).substr(0, number), outcome.next, fault)) {
    outcome.next_score = std::strtod(text.c_str() + number, nullptr);
  }
  return outcome;
}

std::string line_of(const ProfileRow& row) {
  return fmt::format("{} {} {} {} | {} | {} | {} | {} | {}\n", name_of(row.row.operation), row.row.bits, row.row.from,
                     choice_text(row.row.choice), row.score, row.runner_up, row.machine, row.date, row.commit);
}

std::string text_of(const ProfileHead& head, std::vector<ProfileRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return std::tuple(a.row.operation, a.row.bits, a.row.from) < std::tuple(b.row.operation, b.row.bits, b.row.from);
  });
  std::string text = fmt::format("stockade-profile {}\n", tune::profile_version);
  text += "# Experience data: docs/tuning.md. Written by 'stockade tune'.\n";
  text += "# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit\n";
  text += fmt::format("machine {}\n", head.machine);
  if (!head.fingerprint.empty()) text += fmt::format("fingerprint {}\n", head.fingerprint);
  if (!head.needs.empty()) text += fmt::format("needs {}\n", fmt::join(head.needs, " "));
  if (!head.lacks.empty()) text += fmt::format("lacks {}\n", fmt::join(head.lacks, " "));
  if (head.cores != 0) text += fmt::format("cores {}\n", head.cores);
  if (!head.gpu.empty()) text += fmt::format("gpu {}\n", head.gpu);
  for (const ProfileRow& row : rows) text += line_of(row);
  return text + fmt::format("end {}\n", rows.size());
}

void check_readable(const ProfileHead& head, const std::string& date, const std::string& commit) {
  TuneOutcome any{};
  any.point = {tune::Operation::ctr, 128, 64};
  any.best.runner = tune::Runner::serial;
  any.score = 1;
  const auto profile = std::make_unique<tune::Profile>();
  tune::Fault fault;
  if (!tune::read_profile(text_of(head, {row_of(any, head.machine, date, commit)}), *profile, fault))
    throw std::runtime_error(fmt::format("a profile that is written here could not be read: {}", fault.what));
}

void write_profile_file(const std::string& path, const std::string& text) {
  make_folders(path);
  std::string temporary = path + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) fail("write", path);
  try {
    write_all(fd, text, path);
    if (fchmod(fd, 0644) != 0 || fsync(fd) != 0) fail("write", path);
  } catch (...) {
    close(fd);
    unlink(temporary.c_str());
    throw;
  }
  close(fd);
  if (rename(temporary.c_str(), path.c_str()) == 0) return;
  const int error = errno;
  unlink(temporary.c_str());
  errno = error;
  fail("write", path);
}

PartialProfile::PartialProfile(const std::string& profile_path, const std::string& what, bool anew)
    : path_(profile_path + ".partial") {
  make_folders(path_);
  // Nothing but a file can be replaced at the end.
  if (std::error_code error; std::filesystem::is_directory(profile_path, error)) {
    errno = EISDIR;
    fail("write", profile_path);
  }
  const std::string first = "# a run of 'stockade tune' that was interrupted: " + what;
  std::string good = first + "\n";
  if (std::ifstream file(path_); file && !anew) {
    std::string line;
    if (std::getline(file, line) && line == first) {
      while (std::getline(file, line)) {
        // The last line may be half of one.
        std::optional<ProfileRow> row = parse_line(line);
        if (!row) break;
        good += line + "\n";
        rows_.push_back(std::move(*row));
      }
    }
  }
  write_profile_file(path_, good);
  fd_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd_ < 0) fail("write", path_);
}

PartialProfile::~PartialProfile() {
  if (fd_ >= 0) close(fd_);
}

void PartialProfile::add(const ProfileRow& row) {
  write_all(fd_, line_of(row), path_);
  rows_.push_back(row);
}

void PartialProfile::remove() { unlink(path_.c_str()); }

}  // namespace stockade::bench
