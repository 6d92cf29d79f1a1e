// What tuning makes of measurements: which candidate is taken, which rows a profile gets, and what is written of them.
#include "bench/tune.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <set>

#include "bench/tune_profile.h"
#include "bench/tune_work.h"
#include "tune/profile_in_force.h"

namespace stockade::bench {
namespace {

tune::Choice workers(uint32_t count) {
  tune::Choice choice;
  choice.runner = count == 1 ? tune::Runner::serial : tune::Runner::threads;
  choice.workers = count == 1 ? 0 : count;
  return choice;
}

TuneResult result(uint32_t count, double seconds, double low) {
  Timing timing;
  timing.measured = true;
  timing.seconds = seconds;
  timing.low = low;
  timing.high = 2 * seconds;
  return {workers(count), timing};
}

TEST(Decisions, take_the_quickest) {
  EXPECT_EQ(decide({result(1, 2.0, 2.0)}), 0U);
  EXPECT_EQ(decide({result(1, 2.0, 2.0), result(2, 1.0, 1.0)}), 1U);
  EXPECT_EQ(decide({result(1, 1.0, 1.0), result(2, 2.0, 2.0)}), 0U);
  EXPECT_EQ(decide({result(1, 3.0, 3.0), result(2, 1.0, 1.0), result(4, 2.0, 2.0)}), 1U);
}

TEST(Decisions, take_the_most_modest_of_those_that_are_as_quick) {
  EXPECT_EQ(decide({result(1, 1.02, 1.014), result(2, 1.0, 1.0)}), 0U);
  EXPECT_EQ(decide({result(1, 1.03, 1.03), result(2, 1.0, 1.0)}), 1U);
  EXPECT_EQ(decide({result(1, 1.5, 1.5), result(2, 1.01, 1.01), result(4, 1.0, 1.0)}), 1U);
  // What chance explains is more where the rounds were apart, but never so much that it would be missed.
  EXPECT_EQ(decide({result(1, 1.028, 1.028), result(2, 1.1, 1.0)}), 0U);
  EXPECT_EQ(decide({result(1, 1.035, 1.035), result(2, 2.0, 1.0)}), 1U);
}

// A team that was put on one core for most of the rounds is as quick as it was in the others.
TEST(Decisions, compare_the_fastest_rounds) { EXPECT_EQ(decide({result(1, 1.0, 1.0), result(2, 1.4, 0.7)}), 1U); }

TEST(Looks, leave_what_is_not_hopeless_as_far_as_there_is_room) {
  using Indices = std::vector<size_t>;
  const auto none = [](const tune::Choice&) { return false; };
  const std::vector<TuneResult> results{result(1, 9, 1.5), result(2, 9, 1.0), result(4, 9, 1.7), result(8, 9, 1.2)};
  EXPECT_EQ(promising(results, 1.6, 4, none), (Indices{0, 1, 3}));
  EXPECT_EQ(promising(results, 1.6, 2, none), (Indices{1, 3}));
  EXPECT_EQ(promising(results, 1.0, 4, none), (Indices{1}));
  std::vector<TuneResult> unmeasured = results;
  unmeasured[3].timing = {};
  EXPECT_EQ(promising(unmeasured, 1.6, 4, none), (Indices{0, 1}));
}

// A machine that does something else for as long as the look takes shows the best way as a hopeless one.
TEST(Looks, leave_what_stays_however_slow_it_was) {
  using Indices = std::vector<size_t>;
  const std::vector<TuneResult> results{result(1, 9, 1.5), result(2, 9, 1.0), result(4, 9, 20.0)};
  const auto four = [](const tune::Choice& choice) { return choice == workers(4); };
  EXPECT_EQ(promising(results, 1.6, 4, four), (Indices{0, 1, 2}));
  EXPECT_EQ(promising(results, 1.6, 1, four), (Indices{1, 2}));
}

TEST(Looks, leave_the_quickest_way_over_gpus) {
  using Indices = std::vector<size_t>;
  std::vector<TuneResult> results{result(2, 9, 1.0), result(1, 9, 20.0), result(1, 9, 19.0), result(1, 9, 21.0)};
  for (size_t i = 1; i < results.size(); ++i) {
    results[i].choice = {};
    results[i].choice.runner = tune::Runner::cuda;
    results[i].choice.lanes = static_cast<uint8_t>(i);
  }
  EXPECT_EQ(promising(results, 1.6, 4, [](const tune::Choice&) { return false; }), (Indices{0, 2}));
}

TEST(Noise, is_what_the_median_is_above_the_fastest) {
  EXPECT_DOUBLE_EQ(noise_of(result(1, 1.0, 0.9).timing), 0.1);
  EXPECT_DOUBLE_EQ(noise_of(result(1, 1.0, 1.0).timing), 0);
  EXPECT_DOUBLE_EQ(noise_of(Timing{}), 0);
}

TuneOutcome outcome(uint64_t length, uint32_t best, double score, uint32_t next = 0, double next_score = 0) {
  return {{tune::Operation::ctr, 128, length},
          workers(best),
          next == 0 ? tune::Choice{} : workers(next),
          score,
          next_score,
          0,
          2};
}

std::vector<uint64_t> lengths_of(const std::vector<TuneOutcome>& rows) {
  std::vector<uint64_t> lengths;
  for (const TuneOutcome& row : rows) lengths.push_back(row.point.length);
  return lengths;
}

TEST(Rows, stand_where_the_choice_changes) {
  using Lengths = std::vector<uint64_t>;
  EXPECT_EQ(lengths_of(merge({})), Lengths{});
  EXPECT_EQ(lengths_of(merge({outcome(64, 1, 9), outcome(256, 1, 9), outcome(1024, 2, 9), outcome(4096, 2, 9)})),
            (Lengths{64, 1024}));
  // In any order.
  EXPECT_EQ(lengths_of(merge({outcome(4096, 2, 9), outcome(64, 1, 9), outcome(1024, 2, 9)})), (Lengths{64, 1024}));
}

TEST(Rows, do_not_follow_what_is_no_better_than_chance) {
  using Lengths = std::vector<uint64_t>;
  const auto hardly = outcome(256, 2, 10.1, 1, 10.0), clearly = outcome(256, 2, 10.5, 1, 10.0);
  EXPECT_EQ(lengths_of(merge({outcome(64, 1, 9), hardly})), (Lengths{64}));
  EXPECT_EQ(lengths_of(merge({outcome(64, 1, 9), clearly})), (Lengths{64, 256}));
  // It is another one that would have done as well.
  EXPECT_EQ(lengths_of(merge({outcome(64, 4, 9), hardly})), (Lengths{64, 256}));
}

TEST(Rows, are_read_as_they_were_written) {
  const TuneOutcome made = outcome(65536, 2, 31.04, 1, 17.2);
  const ProfileRow row = row_of(made, "somewhere, 4 cores", "2026-11-22", "8ab323e01234");
  EXPECT_EQ(line_of(row),
            "ctr 128 65536 engine=threads workers=2 | 31.0 GB/s | engine=serial 17.2 GB/s | somewhere, 4 cores | "
            "2026-11-22 | 8ab323e01234\n");
  const TuneOutcome again = outcome_of(row);
  EXPECT_EQ(again.point, made.point);
  EXPECT_EQ(again.best, made.best);
  EXPECT_EQ(again.next, made.next);
  EXPECT_DOUBLE_EQ(again.next_score, 17.2);
  EXPECT_EQ(row_of(outcome(64, 1, 0.01234), "m", "2026-11-22", "0123456").score, "0.0123 GB/s");
  EXPECT_EQ(row_of(outcome(64, 1, 1), "m", "2026-11-22", "0123456").runner_up, "-");
  EXPECT_EQ(score_text(tune::Operation::rsa_private, 12345.6), "12346 /s");
  EXPECT_EQ(score_text(tune::Operation::files, 0.0000123), "1.23e-05 GB/s");
}

TEST(Rows, make_a_profile_that_is_read_whatever_their_order) {
  ProfileHead head;
  head.machine = "somewhere, 4 cores";
  head.fingerprint = "0123456789abcdef";
  std::vector<ProfileRow> rows;
  for (const uint64_t length : {4096, 64}) rows.push_back(row_of(outcome(length, 2, 9), "m", "2026-11-22", "0123456"));
  // However slow it was.
  rows.push_back(row_of(outcome(1024, 2, 0.00002, 1, 0.00001), "m", "2026-11-22", "0123456"));
  const auto profile = std::make_unique<tune::Profile>();
  tune::Fault fault;
  ASSERT_TRUE(tune::read_profile(text_of(head, rows), *profile, fault)) << fault.line << ": " << fault.what;
  EXPECT_EQ(profile->entries, 3U);
  EXPECT_STREQ(profile->fingerprint, "0123456789abcdef");
}

TEST(Rows, are_not_measured_where_nobody_could_read_them) {
  ProfileHead head;
  head.machine = "somewhere, 4 cores";
  EXPECT_NO_THROW(check_readable(head, "2026-11-22", "0123456"));
  EXPECT_THROW(check_readable(head, "1970-01-01", "0123456"), std::runtime_error);
  EXPECT_THROW(check_readable(head, "2026-11-22", ""), std::runtime_error);
  head.gpu = std::string(200, 'x');
  EXPECT_THROW(check_readable(head, "2026-11-22", "0123456"), std::runtime_error);
}

class Interrupted : public testing::Test {
 protected:
  Interrupted() {
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder");
  }
  ~Interrupted() override { std::filesystem::remove_all(folder_); }
  // Lengths that a run about that knows already.
  std::vector<uint64_t> known(const std::string& what, bool anew = false) const {
    const PartialProfile partial(path(), what, anew);
    std::vector<uint64_t> lengths;
    for (const ProfileRow& row : partial.rows()) lengths.push_back(row.row.from);
    return lengths;
  }
  void add(const std::string& what, const std::vector<uint64_t>& lengths) const {
    PartialProfile partial(path(), what, false);
    for (const uint64_t length : lengths) {
      partial.add(row_of(outcome(length, 2, 9, 1, 8), "m", "2026-11-22", "0123456"));
    }
  }
  void append(const std::string& text) const { std::ofstream(path() + ".partial", std::ios::app) << text; }
  // Below a folder that is not there yet.
  std::string path() const { return folder_ + "/below/own.profile"; }

 private:
  std::string folder_ = testing::TempDir() + "/stockade-tune.XXXXXX";
};

TEST_F(Interrupted, runs_are_gone_on_with) {
  using Lengths = std::vector<uint64_t>;
  EXPECT_EQ(known("this"), Lengths{});
  add("this", {4096, 64});
  EXPECT_EQ(known("this"), (Lengths{4096, 64}));
  add("this", {256});
  EXPECT_EQ(known("this"), (Lengths{4096, 64, 256}));
  EXPECT_EQ(known("this", true), Lengths{});
  EXPECT_EQ(known("this"), Lengths{});
}

TEST_F(Interrupted, runs_about_something_else_are_not_gone_on_with) {
  add("this", {64});
  EXPECT_EQ(known("that"), std::vector<uint64_t>{});
  EXPECT_EQ(known("this"), std::vector<uint64_t>{}) << "the other run's points are kept now";
}

TEST_F(Interrupted, runs_may_have_ended_within_a_line) {
  add("this", {64, 256});
  append("ctr 128 1024 engine=ser");
  add("this", {4096});
  EXPECT_EQ(known("this"), (std::vector<uint64_t>{64, 256, 4096}));
  append(std::string(100, '\0'));
  EXPECT_EQ(known("this"), (std::vector<uint64_t>{64, 256, 4096}));
}

TEST_F(Interrupted, runs_leave_nothing_when_they_have_ended) {
  {
    PartialProfile partial(path(), "this", false);
    partial.add(row_of(outcome(64, 2, 9), "m", "2026-11-22", "0123456"));
    partial.remove();
  }
  EXPECT_EQ(known("this"), std::vector<uint64_t>{});
}

TEST_F(Interrupted, runs_are_not_begun_where_no_profile_can_be) {
  std::filesystem::create_directories(path());
  EXPECT_THROW(known("this"), std::runtime_error);
}

TEST(Grids, reach_from_end_to_end) {
  EXPECT_EQ(tune_grid(64, 4096, 4), (std::vector<uint64_t>{64, 256, 1024, 4096}));
  EXPECT_EQ(tune_grid(64, 1000, 4), (std::vector<uint64_t>{64, 256, 1000}));
  EXPECT_EQ(tune_grid(64, 64, 4), (std::vector<uint64_t>{64}));
}

TEST(Grids, have_others_between_their_points) {
  const std::vector<uint64_t> grid = tune_grid(64, 1 << 20, 4), others = tune_off_grid(64, 1 << 20, 4);
  EXPECT_GE(others.size(), 2 * (grid.size() - 2));
  for (const uint64_t length : others) {
    EXPECT_EQ(std::count(grid.begin(), grid.end(), length), 0) << length;
    EXPECT_EQ(length % 16, 0U) << length;
    EXPECT_NE(length & (length - 1), 0U) << length;
    EXPECT_LT(length, grid.back());
  }
  // Web pages, of which the published study of block sizes speaks.
  EXPECT_EQ(std::count(others.begin(), others.end(), 150'000), 1);
}

TuneSettings smallest() {
  TuneSettings settings;
  settings.threads = 2;
  settings.largest = 1 << 16;
  settings.operations = {tune::Operation::gcm, tune::Operation::rsa_public};
  settings.schedule.rounds = 1;
  settings.schedule.sample_seconds = 0.00001;
  settings.schedule.limit_seconds = 5;
  return settings;
}

TEST(Subjects, have_files_as_far_as_there_is_room) {
  TuneSettings settings = smallest();
  settings.operations = {tune::Operation::files};
  EXPECT_TRUE(subjects(settings).empty());
  settings.folder = testing::TempDir();
  ASSERT_EQ(subjects(settings).size(), 1U);
  EXPECT_EQ(subjects(settings)[0].lengths.back(), settings.largest);
  // Where nothing can be written there is no room.
  for (const char* folder : {"/proc", "/nowhere"}) {
    settings.folder = folder;
    EXPECT_TRUE(subjects(settings).empty()) << folder;
  }
}

TEST(Candidates, begin_with_the_most_modest_and_are_different) {
  for (const TuneSubject& subject : subjects(smallest())) {
    ASSERT_FALSE(subject.candidates.empty());
    EXPECT_EQ(subject.candidates[0].runner, tune::Runner::serial);
    for (size_t i = 0; i < subject.candidates.size(); ++i) {
      for (size_t j = 0; j < i; ++j) EXPECT_NE(subject.candidates[i], subject.candidates[j]);
    }
  }
}

// A candidate runs as its row says, by the plan that would follow it.
TEST(Tuning, measures_every_point_of_the_grid_and_takes_what_is_known) {
  const TuneSettings settings = smallest();
  std::vector<TuneOutcome> found;
  const auto collect = [&found](const TuneOutcome& outcome) { found.push_back(outcome); };
  const TuneReport report = run_tune(
      settings, {}, [](const TuneProgress&) {}, collect);
  EXPECT_LE(report.points, found.size());
  for (const TuneSubject& subject : subjects(settings)) {
    for (const uint64_t length : subject.lengths) {
      const TunePoint point{subject.operation, subject.bits, length};
      EXPECT_NE(
          std::find_if(found.begin(), found.end(), [&](const TuneOutcome& outcome) { return outcome.point == point; }),
          found.end());
    }
  }
  for (const TuneOutcome& outcome : found) EXPECT_GT(outcome.score, 0);
  // Where the choice changes may be looked for elsewhere, as the second outcomes of points count.
  const std::vector<TuneOutcome> known = found;
  const auto expect_unknown = [&known](const TuneProgress& progress) {
    for (const TuneOutcome& outcome : known) EXPECT_NE(outcome.point, progress.point) << text_of(progress.point);
  };
  std::set<uint64_t> measured;
  run_tune(
      settings, known,
      [&](const TuneProgress& progress) {
        if (measured.insert(progress.point.length).second) expect_unknown(progress);
      },
      collect);
}

// What is best for messages four times as long is hopeless for these, on most machines: they are too short for a team. It is
// measured to the end all the same.
TEST(Tuning, measures_what_is_best_beside) {
  TuneSettings settings = smallest();
  settings.operations = {tune::Operation::gcm};
  const TuneSubject subject = subjects(settings).at(0);
  ASSERT_EQ(subject.lengths.back(), settings.largest);
  const tune::Choice team = subject.candidates.back();
  ASSERT_EQ(team.runner, tune::Runner::threads);
  std::vector<TuneOutcome> known;
  for (const uint64_t length : subject.lengths) {
    if (length != settings.largest / 4)
      known.push_back({{subject.operation, subject.bits, length}, team, {}, 1, 0, 0, 2});
  }
  ASSERT_EQ(known.size() + 1, subject.lengths.size());
  std::vector<TuneOutcome> found;
  run_tune(
      settings, known, [](const TuneProgress&) {}, [&found](const TuneOutcome& outcome) { found.push_back(outcome); });
  const auto first = std::find_if(found.begin(), found.end(), [&](const TuneOutcome& outcome) {
    return outcome.point == TunePoint{subject.operation, subject.bits, settings.largest / 4};
  });
  ASSERT_NE(first, found.end());
  EXPECT_TRUE(first->best == team || first->next == team);
  EXPECT_GT(first->next_score, 0);
}

// Where nothing is done within the limit, everything is measured all the same: a slow machine has a best way too.
TEST(Checks, measure_what_takes_longer_than_the_limit) {
  TuneSettings settings = smallest();
  settings.operations = {tune::Operation::gcm};
  settings.schedule.limit_seconds = 0;
  uint64_t points = 0;
  const tune::ScopedProfile none(nullptr);
  check_tune(
      settings, [](const TuneProgress&) {},
      [&points](const TuneCheck& check) {
        ++points;
        EXPECT_GT(check.best_score, 0);
        EXPECT_GT(check.automatic, 0);
        EXPECT_NE(check.best.runner, tune::Runner::unsaid);
      });
  EXPECT_GT(points, 0U);
}

TEST(Tuning, stops_where_it_is_told_to) {
  struct Stop {};
  uint64_t points = 0;
  const auto stop_at_third = [&points](const TuneProgress& progress) {
    EXPECT_GE(progress.done, 0);
    EXPECT_LE(progress.done, 1);
    if (++points == 3) throw Stop();
  };
  uint64_t outcomes = 0;
  EXPECT_THROW(run_tune(smallest(), {}, stop_at_third, [&outcomes](const TuneOutcome&) { ++outcomes; }), Stop);
  EXPECT_EQ(outcomes, 2U);
}

}  // namespace
}  // namespace stockade::bench
