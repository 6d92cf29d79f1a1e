// What STOCKADE_FORCE, STOCKADE_MASK, STOCKADE_THREADS and OMP_NUM_THREADS do, each time in a fresh process.
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "aes/aes_variants.h"
#include "bignum/bignum_variants.h"
#include "cpu/features.h"
#include "cross/child_process.h"
#include "cross/handles.h"
#include "cross/temporary_file.h"
#include "gcm/gcm_variants.h"

namespace stockade::tests {
namespace {

using Answers = std::map<std::string, std::string>;

constexpr const char* large = "explain 268435456";
constexpr const char* small = "explain 64";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct RowNeeds {
  std::string primitive, name;
  cpu::Features needs;
  bool automatic;
};

std::vector<RowNeeds> cipher_rows() {
  std::vector<RowNeeds> rows;
  for (const aes::Variant& v : aes::variants()) rows.push_back({"aes", v.name, v.needs, v.automatic});
  for (const gcm::Variant& v : gcm::variants()) rows.push_back({"gcm", v.name, v.needs, true});
  return rows;
}

std::vector<RowNeeds> all_rows() {
  std::vector<RowNeeds> rows = cipher_rows();
  for (const bignum::Variant& v : bignum::variants()) rows.push_back({"bignum", v.name, v.needs, v.automatic});
  return rows;
}

// The best row that asks for nothing but `usable`.
std::string best_row(const std::string& primitive, cpu::Features usable) {
  for (const RowNeeds& row : all_rows()) {
    if (row.primitive == primitive && row.automatic && (row.needs & ~usable) == 0) return row.name;
  }
  return "";
}

TEST(Environment, empty_chooses_the_best_row_and_every_core) {
  const Answers answers = probe();
  EXPECT_EQ(answers.at("aes key row"), best_row("aes", cpu::detected()));
  EXPECT_EQ(answers.at("gcm key row"), best_row("gcm", cpu::detected()));
  EXPECT_EQ(answers.at("engine"), "STOCKADE_OK");
  EXPECT_EQ(answers.at("rows"), "STOCKADE_ERROR_ARGUMENT");
  EXPECT_EQ(answers.at("threads"), answers.at("cores"));
  EXPECT_TRUE(contains(answers.at(small), "serial")) << answers.at(small);
  if (answers.at("cores") != "1") {
    // A profile that is built in may know better than all cores.
    EXPECT_TRUE(contains(answers.at(large), "threads x")) << answers.at(large);
  }
}

TEST(Environment, lists_every_row_and_feature) {
  const Answers answers = probe();
  for (const RowNeeds& row : all_rows()) {
    const std::string name = "row " + row.primitive + ":" + row.name;
    const bool available = (row.needs & ~cpu::detected()) == 0;
    ASSERT_TRUE(answers.contains(name)) << name;
    EXPECT_EQ(answers.at(name).starts_with("available"), available) << name;
    EXPECT_FALSE(answers.at(name + " reason").empty()) << name;
    const bool chosen = row.name == best_row(row.primitive, cpu::detected());
    EXPECT_EQ(contains(answers.at(name), "chosen"), chosen) << name;
  }
  for (const auto& [name, bit] : cpu::feature_names) {
    EXPECT_EQ(answers.at(std::string("feature ") + name), (cpu::detected() & bit) != 0 ? "present" : "absent");
  }
}

// --- STOCKADE_FORCE ------------------------------------------------------------------------------------------------

TEST(Force, runs_the_row_that_it_names) {
  for (const RowNeeds& row : cipher_rows()) {
    const Answers answers = probe({{"STOCKADE_FORCE", row.primitive + ":" + row.name}});
    const std::string key = row.primitive + " key";
    SCOPED_TRACE(row.primitive + ":" + row.name);
    if ((row.needs & ~cpu::detected()) != 0) {
      EXPECT_EQ(answers.at(key), "STOCKADE_ERROR_UNAVAILABLE");
      EXPECT_EQ(answers.at("rows"), "STOCKADE_ERROR_UNAVAILABLE");
      continue;
    }
    ASSERT_EQ(answers.at(key), "STOCKADE_OK");
    EXPECT_EQ(answers.at(key + " row"), row.name);
    EXPECT_TRUE(contains(answers.at("row " + row.primitive + ":" + row.name), "chosen"));
    if (row.primitive == "aes") {
      EXPECT_TRUE(contains(answers.at(large), "row " + row.name)) << answers.at(large);
    }
  }
}

TEST(Force, chooses_among_the_rows_of_modular_arithmetic) {
  for (const bignum::Variant& row : bignum::variants()) {
    const std::string name = std::string("bignum:") + row.name;
    const Answers answers = probe({{"STOCKADE_FORCE", name}});
    const bool available = (row.needs & ~cpu::detected()) == 0;
    EXPECT_EQ(answers.at("rows"), available ? "STOCKADE_ERROR_ARGUMENT" : "STOCKADE_ERROR_UNAVAILABLE") << name;
    if (available) {
      EXPECT_TRUE(contains(answers.at("row " + name), "chosen")) << name;
    }
    EXPECT_EQ(answers.at("aes key"), "STOCKADE_OK") << "a cipher does without " << name;
  }
}

TEST(Force, never_changes_a_byte) {
  const Answers usual = probe();
  for (const RowNeeds& row : all_rows()) {
    if ((row.needs & ~cpu::detected()) != 0) continue;
    for (const char* engine : {"serial", "threads"}) {
      const Answers answers =
          probe({{"STOCKADE_FORCE", row.primitive + ":" + row.name + ",engine:" + engine}, {"STOCKADE_THREADS", "3"}});
      EXPECT_EQ(answers.at("ctr output"), usual.at("ctr output")) << row.name << " " << engine;
      EXPECT_EQ(answers.at("gcm output"), usual.at("gcm output")) << row.name << " " << engine;
    }
  }
}

TEST(Force, takes_several_names_and_the_last_counts) {
  const Answers answers = probe({{"STOCKADE_FORCE", "gcm:portable,aes:reference,engine:serial,aes:portable"}});
  EXPECT_EQ(answers.at("aes key row"), "portable");
  EXPECT_EQ(answers.at("gcm key row"), "portable");
  EXPECT_TRUE(contains(answers.at(large), "serial")) << answers.at(large);
}

TEST(Force, by_argument_stands_above_the_environment) {
  const Answers answers = probe({{"STOCKADE_FORCE", "aes:reference,gcm:portable"}}, {"aes:portable", "gcm:portable"});
  EXPECT_EQ(answers.at("force aes:portable row"), "portable");
  EXPECT_EQ(answers.at("aes key row"), "reference");
}

TEST(Force, engine_decides_who_runs_the_default) {
  const Answers threads = probe({{"STOCKADE_FORCE", "engine:threads"}, {"STOCKADE_THREADS", "3"}});
  EXPECT_TRUE(contains(threads.at(large), "threads x3")) << threads.at(large);
  const Answers serial = probe({{"STOCKADE_FORCE", "engine:serial"}, {"STOCKADE_THREADS", "3"}});
  EXPECT_TRUE(contains(serial.at(large), "serial")) << serial.at(large);
  const Answers automatic = probe({{"STOCKADE_FORCE", "engine:auto"}, {"STOCKADE_THREADS", "3"}});
  EXPECT_TRUE(contains(automatic.at(large), "threads x3")) << automatic.at(large);
  EXPECT_TRUE(contains(automatic.at(small), "serial")) << automatic.at(small);
}

TEST(Force, unknown_names_are_errors_everywhere) {
  for (const char* force : {"aes:vaes1024", "gcm:reference", "engine:gpu", "rsa:portable", "aes", "aes:", ":", ",",
                            "aes:portable,", "aes:portable,,gcm:portable", "AES:portable", "aes:Portable",
                            "aes:portable gcm:portable", " aes:portable", "aes:portable:gcm", "portable"}) {
    const Answers answers = probe({{"STOCKADE_FORCE", force}});
    for (const char* question : {"aes key", "gcm key", "engine", "engine serial", "rows"}) {
      EXPECT_EQ(answers.at(question), "STOCKADE_ERROR_UNKNOWN_NAME") << question << " under " << force;
    }
  }
}

TEST(Force, of_unknown_names_by_argument_is_an_error) {
  const std::vector<std::string> wrong = {"aes:vaes1024", "gcm:reference", "nonsense", "aes:portable,", "engine:gpu"};
  const Answers answers = probe({}, wrong);
  for (const std::string& force : wrong) {
    EXPECT_EQ(answers.at("force " + force), "STOCKADE_ERROR_UNKNOWN_NAME") << force;
  }
}

// --- STOCKADE_MASK -------------------------------------------------------------------------------------------------

TEST(Mask, hides_the_rows_that_need_a_feature) {
  for (const auto& [name, bit] : cpu::feature_names) {
    std::vector<std::string> forces;
    for (const RowNeeds& row : cipher_rows()) forces.push_back(row.primitive + ":" + row.name);
    const Answers answers = probe({{"STOCKADE_MASK", name}}, forces);
    SCOPED_TRACE(std::string("masked: ") + name);
    const cpu::Features usable = cpu::detected() & ~bit;
    for (const RowNeeds& row : all_rows()) {
      const std::string full = row.primitive + ":" + row.name;
      const bool available = (row.needs & ~usable) == 0;
      EXPECT_EQ(answers.at("row " + full).starts_with("available"), available) << full;
      if (row.primitive == "bignum") continue;
      EXPECT_EQ(answers.at("force " + full), available ? "STOCKADE_OK" : "STOCKADE_ERROR_UNAVAILABLE") << full;
    }
    EXPECT_EQ(answers.at("aes key row"), best_row("aes", usable));
    EXPECT_EQ(answers.at("gcm key row"), best_row("gcm", usable));
    EXPECT_TRUE(contains(answers.at(std::string("feature ") + name), "masked"));
  }
}

TEST(Mask, of_everything_leaves_the_portable_rows) {
  std::string all;
  for (const auto& [name, bit] : cpu::feature_names) {
    if (!all.empty()) all += ',';
    all += name;
  }
  const Answers masked = probe({{"STOCKADE_MASK", all}}), usual = probe();
  EXPECT_EQ(masked.at("aes key row"), "portable");
  EXPECT_EQ(masked.at("gcm key row"), "portable");
  EXPECT_EQ(masked.at("ctr output"), usual.at("ctr output"));
  EXPECT_EQ(masked.at("gcm output"), usual.at("gcm output"));
}

TEST(Mask, makes_a_forced_row_unavailable) {
  const Answers answers = probe({{"STOCKADE_MASK", "aesni"}, {"STOCKADE_FORCE", "aes:aesni"}});
  EXPECT_EQ(answers.at("aes key"), "STOCKADE_ERROR_UNAVAILABLE");
}

TEST(Mask, of_an_unknown_name_is_an_error) {
  for (const char* mask : {"avx1024", "aesni,", "AESNI", "aesni avx2", ","}) {
    const Answers answers = probe({{"STOCKADE_MASK", mask}});
    EXPECT_EQ(answers.at("aes key"), "STOCKADE_ERROR_UNKNOWN_NAME") << mask;
  }
}

// --- threads -------------------------------------------------------------------------------------------------------

TEST(Threads, are_those_of_the_environment) {
  EXPECT_EQ(probe({{"STOCKADE_THREADS", "3"}}).at("threads"), "3");
  EXPECT_EQ(probe({{"OMP_NUM_THREADS", "5"}}).at("threads"), "5");
  EXPECT_EQ(probe({{"STOCKADE_THREADS", "3"}, {"OMP_NUM_THREADS", "5"}}).at("threads"), "3");
  EXPECT_EQ(probe({{"STOCKADE_THREADS", ""}, {"OMP_NUM_THREADS", "5"}}).at("threads"), "5");
  EXPECT_EQ(probe({{"STOCKADE_THREADS", "4096"}}).at("threads"), "4096");
}

TEST(Threads, show_in_the_plan) {
  const Answers answers = probe({{"OMP_NUM_THREADS", "5"}});
  EXPECT_TRUE(contains(answers.at(large), "threads x5")) << answers.at(large);
  const Answers one = probe({{"STOCKADE_THREADS", "1"}});
  EXPECT_TRUE(contains(one.at(large), "serial")) << one.at(large);
}

TEST(Threads, of_no_sense_are_an_error) {
  for (const char* threads : {"0", "4097", "-1", "two", "2x", " 2", "1.5", "99999999999999999999"}) {
    const Answers answers = probe({{"STOCKADE_THREADS", threads}});
    EXPECT_EQ(answers.at("engine"), "STOCKADE_ERROR_ARGUMENT") << threads;
  }
}

// What OpenMP's runtimes take and what they do not.
TEST(Threads, of_no_sense_to_openmp_count_for_nothing) {
  const std::string all = probe().at("threads");
  for (const char* threads : {"", "0", "-1", "two", "2x", "99999999999999999999", ",3"}) {
    EXPECT_EQ(probe({{"OMP_NUM_THREADS", threads}}).at("threads"), all) << threads;
  }
  for (const char* threads : {"5,3", " 5 ", "5 , 2"}) {
    EXPECT_EQ(probe({{"OMP_NUM_THREADS", threads}}).at("threads"), "5") << threads;
  }
}

TEST(Threads, fewer_than_planned_still_do_all_of_the_work) {
  const Answers usual = probe();
  const Answers limited = probe({{"STOCKADE_THREADS", "4096"}, {"STOCKADE_FORCE", "engine:threads"}});
  EXPECT_EQ(limited.at("ctr output"), usual.at("ctr output"));
  EXPECT_EQ(limited.at("gcm output"), usual.at("gcm output"));
}

TEST(Threads, are_as_many_as_the_cores_that_the_process_may_use) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Answers answers = probe();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(answers.at("cores"), "1");
  EXPECT_EQ(answers.at("threads"), "1");
  EXPECT_TRUE(contains(answers.at(large), "serial")) << answers.at(large);
}

// ---- STOCKADE_PROFILE ----

constexpr const char* middle = "explain 98304";

// A profile in a file of its own, by which a message of 96 KiB is done by two threads.
class ProfileFile {
 public:
  ProfileFile() : folder_(temporary_folder() + "/stockade-profile.XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder");
  }
  ~ProfileFile() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/own.profile"; }
  const std::string& folder() const { return folder_; }
  void write(const std::string& text) const { std::ofstream(path()) << text; }
  Answers probe_with() const { return probe({{"STOCKADE_PROFILE", path()}, {"STOCKADE_THREADS", "4"}}); }

 private:
  std::string folder_;
};

std::string profile_of(const std::string& fingerprint) {
  return "stockade-profile 1\nfingerprint " + fingerprint +
         "\nctr 256 65536 engine=threads workers=2 stores=ordinary | 9.0 GB/s | - | here | 2026-11-22 | 0123456\nend "
         "1\n";
}

TEST(Profile, of_this_machine_is_followed_and_named) {
  const ProfileFile file;
  file.write(profile_of(probe().at("fingerprint")));
  const Answers answers = file.probe_with();
  EXPECT_EQ(answers.at("profile"), "own.profile");
  EXPECT_EQ(answers.at("profile path"), file.path());
  EXPECT_EQ(answers.at("profile problem"), "");
  EXPECT_TRUE(contains(answers.at(middle), "threads x2")) << answers.at(middle);
  EXPECT_TRUE(contains(answers.at(middle), "are known to be quickest so (own.profile, line 3)")) << answers.at(middle);
  EXPECT_TRUE(contains(answers.at(small), "serial")) << answers.at(small);
}

TEST(Profile, changes_no_byte) {
  const ProfileFile file;
  file.write(profile_of(probe().at("fingerprint")));
  const Answers with = file.probe_with(), without = probe({{"STOCKADE_PROFILE", "none"}});
  EXPECT_EQ(with.at("ctr output"), without.at("ctr output"));
  EXPECT_EQ(with.at("gcm output"), without.at("gcm output"));
}

TEST(Profile, stands_below_a_forced_engine) {
  const ProfileFile file;
  file.write(profile_of(probe().at("fingerprint")));
  const Answers answers = probe({{"STOCKADE_PROFILE", file.path()}, {"STOCKADE_FORCE", "engine:serial"}});
  EXPECT_TRUE(contains(answers.at(middle), "serial")) << answers.at(middle);
}

// It was had with the best rows, and others may be many times slower.
TEST(Profile, is_not_followed_where_rows_are_forced) {
  const ProfileFile file;
  file.write(profile_of(probe().at("fingerprint")));
  const Answers answers =
      probe({{"STOCKADE_PROFILE", file.path()}, {"STOCKADE_FORCE", "aes:portable"}, {"STOCKADE_THREADS", "4"}});
  EXPECT_FALSE(contains(answers.at(middle), "own.profile")) << answers.at(middle);
}

TEST(Profile, of_another_machine_is_ignored) {
  const ProfileFile file;
  file.write(profile_of("0123456789abcdef"));
  const Answers answers = file.probe_with();
  EXPECT_EQ(answers.at("profile"), "");
  EXPECT_EQ(answers.at("profile problem"),
            "it was measured on another machine, or with other cores or instruction sets");
  EXPECT_FALSE(contains(answers.at(middle), "own.profile")) << answers.at(middle);
}

// What a mask hides is not there, so what was measured with it does not count.
TEST(Profile, of_this_machine_with_other_instruction_sets_is_ignored) {
  const ProfileFile file;
  file.write(profile_of(probe().at("fingerprint")));
  const Answers answers =
      probe({{"STOCKADE_PROFILE", file.path()}, {"STOCKADE_MASK", "adx,ifma,avx512,vaes,avx2,clmul,aesni"}});
  if (cpu::detected() == cpu::none) GTEST_SKIP() << "there is nothing to hide";
  EXPECT_EQ(answers.at("profile"), "");
}

TEST(Profile, that_is_damaged_or_of_another_version_is_ignored) {
  const ProfileFile file;
  const std::string good = profile_of(probe().at("fingerprint"));
  const auto problem = [&file](const std::string& text) {
    file.write(text);
    const Answers answers = file.probe_with();
    EXPECT_EQ(answers.at("profile"), "");
    EXPECT_FALSE(contains(answers.at(middle), "own.profile")) << answers.at(middle);
    return answers.at("profile problem");
  };
  EXPECT_EQ(problem(good.substr(0, good.size() - 6)), "line 3: its end is missing");
  EXPECT_EQ(problem(""), "it is empty");
  EXPECT_EQ(problem("stockade-profile 2\n"), "line 1: it was written for another version of Stockade");
  EXPECT_EQ(problem("stockade-profile 0\n"), "line 1: it was written for another version of Stockade");
  EXPECT_EQ(problem(std::string(1000, '\0')), "line 1: this is no profile of Stockade");
  EXPECT_EQ(problem(std::string((1 << 20) + 1, '#')), "it is too long for a profile");
}

TEST(Profile, that_cannot_be_read_is_ignored) {
  const ProfileFile file;
  const auto problem = [](const std::string& path) {
    return probe({{"STOCKADE_PROFILE", path}}).at("profile problem");
  };
  EXPECT_EQ(problem(file.path()), "");  // there is none
  EXPECT_EQ(problem(file.path() + "/below"), "");
  EXPECT_EQ(problem(file.folder()), "it is not a file");
  ASSERT_EQ(mkfifo(file.path().c_str(), 0600), 0);
  EXPECT_EQ(problem(file.path()), "it is not a file");
}

TEST(Profile, is_looked_for_where_configuration_is) {
  const std::string fingerprint = probe().at("fingerprint");
  const auto path = [](const std::map<std::string, std::string>& variables) {
    return probe(variables).at("profile path");
  };
  const std::string below = "/stockade/profiles/" + fingerprint + ".profile";
  EXPECT_EQ(path({{"HOME", "/home/somebody"}}), "/home/somebody/.config" + below);
  EXPECT_EQ(path({{"XDG_CONFIG_HOME", "/etc/own"}}), "/etc/own" + below);
  EXPECT_EQ(path({{"XDG_CONFIG_HOME", "relative"}, {"HOME", "/h"}}), "/h/.config" + below);
  EXPECT_EQ(path({{"HOME", ""}}), "");
  EXPECT_EQ(path({{"STOCKADE_PROFILE", "none"}}), "");
  EXPECT_EQ(path({{"STOCKADE_PROFILE", "here"}}), "here");
  EXPECT_EQ(path({{"STOCKADE_PROFILE", ""}, {"HOME", "/h"}}), "/h/.config" + below);
}

TEST(Profile, none_means_nothing_built_in_either) {
  EXPECT_EQ(probe({{"STOCKADE_PROFILE", "none"}}).at("built in"), "");
}

}  // namespace
}  // namespace stockade::tests
