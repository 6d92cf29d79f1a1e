// Profiles as files: what tuning writes, takes up again, and shows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tune.h"

namespace stockade::bench {

// A row with its provenance, as text.
struct ProfileRow {
  tune::Entry row;
  std::string score, runner_up, machine, date, commit;
};

// What stands above the rows.
struct ProfileHead {
  std::string machine, fingerprint, gpu;
  std::vector<std::string> needs, lacks;
  uint32_t cores = 0;
};

struct ProfileFile {
  std::string path;
  std::string name;  // in explanations
  ProfileHead head;
  std::vector<ProfileRow> rows;
};

// Of this machine: for a profile of it alone, or of all machines of its class. `gpu` may be empty.
ProfileHead head_of_this_machine(const std::string& gpu, bool of_a_class);
// Name of the GPU of that number; throws std::runtime_error.
std::string gpu_name(uint32_t device);

// Where the user's profile is, empty: nowhere.
std::string user_profile_path();

// The profile at that path; nothing if there is none. Throws std::runtime_error with what is wrong with it.
std::optional<ProfileFile> read_profile_file(const std::string& path);
// The one that is built in under that name; nothing if there is none.
std::optional<ProfileFile> built_in_profile(const std::string& name);

// "31.0 GB/s", "1200 /s".
std::string score_text(tune::Operation operation, double score);
std::string choice_text(const tune::Choice& choice);

ProfileRow row_of(const TuneOutcome& outcome, const std::string& machine, const std::string& date,
                  const std::string& commit);
// What a row was made of, but for its noise.
TuneOutcome outcome_of(const ProfileRow& row);

// A line of a profile.
std::string line_of(const ProfileRow& row);
// The whole file, rows in a profile's order.
std::string text_of(const ProfileHead& head, std::vector<ProfileRow> rows);

// Throws std::runtime_error if a profile with rows of that day and commit could not be read again, such as one of a machine
// whose clock stands still: better before they are measured.
void check_readable(const ProfileHead& head, const std::string& date, const std::string& commit);

// Under a temporary name first, on storage, and with all folders of its path. Throws std::runtime_error.
void write_profile_file(const std::string& path, const std::string& text);

// The points of a run that was interrupted. Every point is on storage as soon as it is there.
class PartialProfile {
 public:
  // `what` tells runs apart: what another was about is not taken up. `anew`: nothing is. Throws std::runtime_error.
  PartialProfile(const std::string& profile_path, const std::string& what, bool anew);
  ~PartialProfile();
  PartialProfile(const PartialProfile&) = delete;
  PartialProfile& operator=(const PartialProfile&) = delete;

  // What is known already.
  const std::vector<ProfileRow>& rows() const { return rows_; }
  void add(const ProfileRow& row);
  void remove();

 private:
  std::string path_;
  int fd_ = -1;
  std::vector<ProfileRow> rows_;
};

}  // namespace stockade::bench
