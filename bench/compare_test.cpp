// Comparing two runs: the statistics against published tables and against chance itself, what counts as a difference,
// and which files are refused.
#include "compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cross/random_source.h"

namespace stockade::bench {
namespace {

using nlohmann::ordered_json;
using Reason = RefusedResult::Reason;

// ---- noise ----

TEST(CompareNoise, expected_range_is_that_of_control_charts) {
  // d2 as in ASTM E2587 and other tables.
  const std::pair<uint64_t, double> table[] = {{1, 0},     {2, 1.128},  {3, 1.693}, {5, 2.326},
                                               {7, 2.704}, {10, 3.078}, {25, 3.931}};
  for (const auto& [count, expected] : table) EXPECT_NEAR(expected_range(count), expected, 6e-4) << count;
}

TEST(CompareNoise, quantiles_are_those_of_the_tables_of_students_t) {
  struct Row {
    double probability, freedom, expected;
  };
  for (const Row& row : {Row{0.05, 1, 6.314},
                         {0.025, 2, 4.303},
                         {0.025, 10, 2.228},
                         {0.005, 5, 4.032},
                         {0.001, 2, 22.33},
                         {0.0005, 30, 3.646},
                         {0.025, 1000, 1.962}}) {
    EXPECT_NEAR(student_quantile(row.probability, row.freedom) / row.expected, 1, 5e-4) << row.freedom;
  }
}

// Times of some rounds around `middle`, with normal logarithms.
Spread measured(std::mt19937_64& chance, uint64_t rounds, double deviation, double middle = 1) {
  std::normal_distribution<double> normal(0, deviation);
  std::vector<double> times(rounds);
  for (double& time : times) time = middle * std::exp(normal(chance));
  std::ranges::sort(times);
  const double median = rounds % 2 == 1 ? times[rounds / 2] : (times[rounds / 2 - 1] + times[rounds / 2]) / 2;
  return {median, times.front(), times.back(), rounds};
}

double share_beyond(uint64_t rounds, double error, double factor, int trials) {
  std::mt19937_64 chance(tests::test_seed());
  Noise noise;
  int beyond = 0;
  for (int i = 0; i < trials; ++i) {
    const Spread a = measured(chance, rounds, 0.02), b = measured(chance, rounds, 0.02, factor);
    beyond += std::log(b.median / a.median) > noise.bound(a, b, error).value();
  }
  return static_cast<double>(beyond) / trials;
}

TEST(CompareNoise, false_alarms_are_rarer_than_promised) {
  for (const uint64_t rounds : {3, 5, 7, 11, 51}) {
    const double share = share_beyond(rounds, 0.05, 1, 2000);
    // 0.05 is promised; four standard deviations of 2,000 trials more would be 0.07.
    EXPECT_LT(share, 0.07) << rounds;
    // And the bound is not so wide that it says nothing.
    EXPECT_GT(share, 0.005) << rounds;
  }
}

TEST(CompareNoise, real_changes_are_found) {
  EXPECT_GT(share_beyond(5, 0.0001, 1.3, 400), 0.9);
  EXPECT_GT(share_beyond(7, 0.0001, 1.15, 400), 0.9);
  EXPECT_GT(share_beyond(11, 0.0001, 1.1, 400), 0.9);
}

TEST(CompareNoise, bound_grows_with_the_spread_and_shrinks_with_the_rounds) {
  Noise noise;
  const auto bound = [&](double spread, uint64_t rounds, double error = 0.01) {
    const Spread one{1, 1 - spread, 1 + spread, rounds};
    return noise.bound(one, one, error).value();
  };
  EXPECT_LT(bound(0.01, 7), bound(0.02, 7));
  EXPECT_LT(bound(0.02, 7), bound(0.2, 7));
  EXPECT_LT(bound(0.02, 9), bound(0.02, 7));
  EXPECT_LT(bound(0.02, 7), bound(0.02, 3));
  EXPECT_LT(bound(0.02, 7, 0.01), bound(0.02, 7, 0.001));
}

TEST(CompareNoise, bounds_are_those_of_the_documentation) {
  // 250 measurements that spread by 1 %.
  Noise noise;
  for (const auto& [rounds, expected] : {std::pair<uint64_t, double>{7, 0.0385}, {3, 0.192}}) {
    const Spread one{1, 1, std::exp(0.01 * expected_range(rounds)), rounds};
    EXPECT_NEAR(std::exp(noise.bound(one, one, comparison_error / 2 / 250).value()) - 1, expected, 5e-4) << rounds;
  }
}

TEST(CompareNoise, without_a_spread_there_is_no_bound) {
  Noise noise;
  const Spread known{1, 0.9, 1.1, 7}, exact{1, 1, 1, 7};
  EXPECT_FALSE(noise.bound(known, {1, 0, 0, 7}, 0.01));
  EXPECT_FALSE(noise.bound({1, 0.9, 1.1, 1}, known, 0.01));
  EXPECT_EQ(noise.bound(exact, exact, 0.01), 0);
}

// ---- runs ----

ordered_json head(const char* schema) {
  return {{"schema", schema},
          {"date", "2026-03-01T12:00:00Z"},
          {"machine", {{"cpu", "Test CPU"}, {"cores", 4}}},
          {"environment", ordered_json::array()},
          {"settings", {{"rounds", 7}}},
          {"peer", "OpenSSL 3.0.19"},
          {"results", ordered_json::array()}};
}

void set_times(ordered_json& result, double seconds, double spread = 0.02) {
  result["seconds_median"] = seconds;
  result["seconds_low"] = seconds * (1 - spread);
  result["seconds_high"] = seconds * (1 + spread);
}

// Four sizes, OpenSSL and two rows; one point was not measured.
ordered_json aes_run() {
  ordered_json run = head("stockade-bench-aes/1");
  for (const uint64_t bytes : {64, 1024, 16384, 1 << 20}) {
    for (const auto& [contender, rate] : {std::pair{"openssl", 3e9}, {"vaes512", 12e9}, {"vaes256", 9e9}}) {
      ordered_json result{{"cipher", "aes-256-gcm"}, {"operation", "seal"},    {"streams", 1},
                          {"message_bytes", bytes},  {"contender", contender}, {"threads", 1},
                          {"measured", true},        {"on_core", 0.995}};
      set_times(result, 1e-8 + static_cast<double>(bytes) / rate);
      run["results"].push_back(result);
    }
  }
  ordered_json left_out = run["results"][0];
  left_out["contender"] = "reference";
  left_out["measured"] = false;
  run["results"].push_back(left_out);
  return run;
}

ordered_json queue_run() {
  ordered_json run = head("stockade-bench-rsa/1");
  for (const auto& [clients, arrivals] : {std::pair{4, ""}, {0, "50% of openssl"}}) {
    for (const char* contender : {"openssl", "ifma"}) {
      run["results"].push_back({{"bits", 2048},
                                {"operation", "sign"},
                                {"contender", contender},
                                {"threads", 2},
                                {"clients", clients},
                                {"arrivals_per_second", clients == 0 ? ordered_json(900.0) : ordered_json()},
                                {"arrivals", arrivals},
                                {"measured", true},
                                {"operations_per_second", 2000.0},
                                {"operations_per_second_low", 1960.0},
                                {"operations_per_second_high", 2040.0},
                                {"latency_seconds_median", 2e-3},
                                {"latency_seconds_median_low", 1.96e-3},
                                {"latency_seconds_median_high", 2.04e-3},
                                {"latency_seconds_p99", 4e-3},
                                {"latency_seconds_p99_low", 3.9e-3},
                                {"latency_seconds_p99_high", 4.1e-3}});
    }
  }
  return run;
}

ordered_json keys_run() {
  ordered_json run = head("stockade-bench-rsa/1");
  for (const char* contender : {"openssl", "ifma"}) {
    ordered_json result{{"bits", 2048}, {"operation", "load private"}, {"contender", contender}, {"runs", 51}};
    set_times(result, 1e-3);
    run["results"].push_back(result);
  }
  return run;
}

ResultFile read(const ordered_json& run, const std::string& name = "a.json") {
  return read_result_text(name, run.dump());
}

Comparison compared(const ordered_json& before, const ordered_json& after, double threshold = 0.05) {
  return compare(read(before), read(after, "b.json"), threshold);
}

// The first `count` of Stockade's results take `factor` times as long.
ordered_json slowed(ordered_json run, double factor, size_t count) {
  for (ordered_json& result : run["results"]) {
    if (result["contender"] == "openssl" || count == 0 || !result["measured"]) continue;
    for (const char* name : {"seconds_median", "seconds_low", "seconds_high"}) {
      result[name] = result[name].get<double>() * factor;
    }
    --count;
  }
  return run;
}

Reason reason_of(const std::function<void()>& work, std::string* text = nullptr) {
  try {
    work();
  } catch (const RefusedResult& refused) {
    if (text != nullptr) *text = refused.what();
    return refused.reason;
  }
  ADD_FAILURE() << "nothing was refused";
  return Reason::unreadable;
}

TEST(Compare, a_run_does_not_differ_from_itself) {
  for (const ordered_json& run : {aes_run(), queue_run(), keys_run()}) {
    const Comparison found = compared(run, run);
    EXPECT_TRUE(found.slower().empty() && found.faster().empty() && found.unjudged().empty());
    EXPECT_TRUE(found.gone.empty() && found.added.empty() && found.notes.empty());
    EXPECT_FALSE(found.within().empty());
    EXPECT_TRUE(found.peers_moved.empty());
  }
}

TEST(Compare, one_regression_is_found) {
  const Comparison found = compared(aes_run(), slowed(aes_run(), 1.3, 1));
  ASSERT_EQ(found.slower().size(), 1);
  EXPECT_NEAR(found.slower()[0]->change, 0.3, 1e-9);
  EXPECT_EQ(found.slower()[0]->name,
            "cipher aes-256-gcm, operation seal, streams 1, message bytes 64, contender vaes512, threads 1");
  EXPECT_TRUE(found.faster().empty());
}

TEST(Compare, a_gain_is_no_regression) {
  const Comparison found = compared(aes_run(), slowed(aes_run(), 0.5, 2));
  EXPECT_TRUE(found.slower().empty());
  EXPECT_EQ(found.faster().size(), 2);
}

TEST(Compare, the_largest_come_first) {
  ordered_json after = slowed(slowed(aes_run(), 1.3, 2), 1.2, 1);
  Comparison found = compared(aes_run(), after);
  ASSERT_EQ(found.slower().size(), 2);
  EXPECT_GT(found.slower()[0]->change, found.slower()[1]->change);
  after = slowed(slowed(aes_run(), 0.5, 2), 1.2, 1);
  found = compared(aes_run(), after);
  ASSERT_EQ(found.faster().size(), 2);
  EXPECT_LT(found.faster()[0]->change, found.faster()[1]->change);
}

TEST(Compare, a_moved_peer_is_no_regression_but_widens_the_bound) {
  const auto with_peer = [](double factor) {
    ordered_json run = slowed(aes_run(), 1.3, 3);
    set_times(run["results"][0], run["results"][0]["seconds_median"].get<double>() * factor);
    return run;
  };
  // The peers have moved as far as Stockade: that is the machine.
  for (const double factor : {1.4, 1 / 1.4}) {
    const Comparison found = compared(aes_run(), with_peer(factor));
    EXPECT_TRUE(found.slower().empty());
    ASSERT_EQ(found.peers_moved.size(), 1);
    EXPECT_NEAR(found.peers_moved.at(""), 0.4, 1e-9);
  }
  EXPECT_EQ(compared(aes_run(), with_peer(1.2)).slower().size(), 3);
  // Another OpenSSL tells nothing of the machine.
  ordered_json other = with_peer(1.4);
  other["peer"] = "OpenSSL 4.0";
  EXPECT_EQ(compared(aes_run(), other).slower().size(), 3);
  EXPECT_EQ(compared(aes_run(), other).notes.size(), 1);
}

TEST(Compare, changes_below_the_threshold_do_not_count) {
  ordered_json before = aes_run(), after = slowed(aes_run(), 1.04, 100);
  for (ordered_json* run : {&before, &after}) {
    for (ordered_json& result : (*run)["results"]) set_times(result, result["seconds_median"], 0);
  }
  EXPECT_TRUE(compared(before, after).slower().empty());
  EXPECT_EQ(compared(before, after, 0.03).slower().size(), 8);
}

TEST(Compare, a_wide_spread_hides_a_change) {
  ordered_json before = aes_run(), after = slowed(aes_run(), 1.3, 100);
  for (ordered_json* run : {&before, &after}) {
    for (ordered_json& result : (*run)["results"]) result["seconds_low"] = result["seconds_low"].get<double>() / 3;
  }
  EXPECT_TRUE(compared(before, after).slower().empty());
}

TEST(Compare, the_bound_is_the_same_in_both_directions) {
  const Difference there{"", {}, false, {1}, {1.2}, 0.2, 0.19}, back{"", {}, false, {1.2}, {1}, 1 / 1.2 - 1, 0.19};
  EXPECT_TRUE(there.slower() && back.faster());
  EXPECT_FALSE(there.faster() || back.slower());
}

TEST(Compare, whole_comparisons_without_a_change_seldom_alarm) {
  std::mt19937_64 chance(tests::test_seed());
  const auto noisy = [&] {
    ordered_json run = aes_run();
    for (ordered_json& result : run["results"]) {
      const Spread times = measured(chance, 7, 0.03, result["seconds_median"]);
      result["seconds_median"] = times.median;
      result["seconds_low"] = times.low;
      result["seconds_high"] = times.high;
    }
    return run;
  };
  int alarms = 0;
  for (int i = 0; i < 100; ++i) {
    const ordered_json before = noisy();
    ordered_json after = noisy();
    // Without peers to tell of the machine, so that the statistics stand alone.
    after["peer"] = "another";
    const Comparison found = compared(before, after, 0);
    alarms += !found.slower().empty() || !found.faster().empty();
  }
  // 15 or more of 100 at a rate of one in twenty: 1 in 7,000.
  EXPECT_LT(alarms, 15);
}

TEST(Compare, what_is_in_one_file_only_is_named) {
  ordered_json less = aes_run();
  less["results"].erase(1);
  const Comparison found = compared(aes_run(), less);
  ASSERT_EQ(found.gone.size(), 1);
  EXPECT_NE(found.gone[0].find("message bytes 64, contender vaes512"), std::string::npos);
  EXPECT_TRUE(found.added.empty());
  EXPECT_EQ(compared(less, aes_run()).added, found.gone);
}

TEST(Compare, other_machines_and_settings_are_named) {
  const auto note_with = [](const std::function<void(ordered_json&)>& change, const std::string& words) {
    ordered_json after = aes_run();
    change(after);
    const Comparison found = compared(aes_run(), after);
    ASSERT_EQ(found.notes.size(), 1) << words;
    EXPECT_NE(found.notes[0].find(words), std::string::npos) << found.notes[0];
  };
  note_with([](ordered_json& run) { run["machine"]["cpu"] = "another"; },
            "two machines, Test CPU with 4 cores and anot");
  note_with([](ordered_json& run) { run["machine"]["cores"] = 8; }, "two machines");
  note_with([](ordered_json& run) { run["gpus"] = {{{"name", "H"}}}; }, "GPU \"H\"");
  note_with([](ordered_json& run) { run["environment"] = {"STOCKADE_THREADS=1"}; }, "environment differs: none, then");
  note_with([](ordered_json& run) { run["settings"]["rounds"] = 3; }, "the setting rounds differs: 7, then 3");
  note_with(
      [](ordered_json& run) {
        for (ordered_json& result : run["results"]) result["on_core"] = 0.5;
      },
      "b.json had its core for 50 % of the time");
}

TEST(Compare, the_queue_is_judged_by_rate_and_latencies) {
  ordered_json after = queue_run();
  for (const char* name : {"operations_per_second", "operations_per_second_low", "operations_per_second_high"}) {
    for (ordered_json& result : after["results"]) {
      if (result["contender"] != "openssl") result[name] = result[name].get<double>() / 1.5;
    }
  }
  // At given times it has a latency only.
  Comparison found = compared(queue_run(), after);
  ASSERT_EQ(found.slower().size(), 1);
  EXPECT_NEAR(found.slower()[0]->change, 0.5, 1e-9);
  EXPECT_NE(found.slower()[0]->name.find("clients 4, figure signing"), std::string::npos) << found.slower()[0]->name;
  EXPECT_EQ(found.differences.size(), 10);
  // The rate of arrivals is measured, and so never twice the same: what it is a share of tells the points.
  after = queue_run();
  for (ordered_json& result : after["results"]) {
    if (result["clients"] == 0) result["arrivals_per_second"] = 950.0;
  }
  EXPECT_EQ(compared(queue_run(), after).differences.size(), 10);
}

TEST(Compare, peers_that_move_by_chance_hide_no_other_figure) {
  ordered_json after = queue_run();
  for (ordered_json& result : after["results"]) {
    const bool peer = result["contender"] == "openssl";
    for (const char* end : {"", "_low", "_high"}) {
      ordered_json& tail = result[std::string("latency_seconds_p99") + end];
      ordered_json& middle = result[std::string("latency_seconds_median") + end];
      if (peer) tail = tail.get<double>() * 9;
      if (!peer) middle = middle.get<double>() * 1.5;
    }
  }
  const Comparison found = compared(queue_run(), after);
  ASSERT_EQ(found.peers_moved.size(), 1);
  EXPECT_NEAR(found.peers_moved.at("latency p99"), 8, 1e-9);
  EXPECT_EQ(found.slower().size(), 2);
}

TEST(Compare, files_of_earlier_commits_without_a_spread_are_not_judged) {
  ordered_json before = keys_run(), after = keys_run();
  for (ordered_json* run : {&before, &after}) {
    for (ordered_json& result : (*run)["results"]) {
      result.erase("seconds_low");
      result.erase("seconds_high");
    }
  }
  for (ordered_json& result : after["results"]) result["seconds_median"] = 3e-3;
  const Comparison found = compared(before, after);
  EXPECT_TRUE(found.slower().empty());
  EXPECT_EQ(found.unjudged().size(), 1);
}

TEST(Compare, a_queue_in_which_a_round_signed_nothing_is_not_judged) {
  ordered_json run = queue_run();
  for (ordered_json& result : run["results"]) result["operations_per_second_low"] = nullptr;
  EXPECT_EQ(compared(run, run).unjudged().size(), 1);
}

TEST(Compare, times_of_other_amounts_are_not_paired) {
  const auto file_run = [](uint64_t bytes) {
    ordered_json run = head("stockade-bench-file/1");
    for (const char* point : {"encrypt", "start"}) {
      ordered_json result{{"question", "files"},
                          {"point", point},
                          {"contender", "stockade"},
                          {"threads", 1},
                          {"measured", true},
                          {"files", 1},
                          {"bytes", std::string_view(point) == "start" ? 100 : bytes}};
      set_times(result, 0.5);
      run["results"].push_back(result);
    }
    return run;
  };
  const Comparison found = compared(file_run(1 << 28), file_run(1 << 30));
  EXPECT_EQ(found.differences.size(), 1);
  EXPECT_EQ(found.gone.size(), 1);
  EXPECT_EQ(found.added.size(), 1);
}

// ---- refusals ----

TEST(Compare, kinds_that_cannot_be_compared_are_refused) {
  std::string text;
  EXPECT_EQ(reason_of([] { compared(aes_run(), keys_run()); }, &text), Reason::unfit);
  EXPECT_NE(text.find("nothing to compare"), std::string::npos) << text;
  EXPECT_EQ(reason_of([] { compared(queue_run(), keys_run()); }), Reason::unfit);
}

TEST(Compare, nothing_in_common_is_refused) {
  ordered_json other = aes_run();
  for (ordered_json& result : other["results"]) result["cipher"] = "aes-128-gcm";
  std::string text;
  EXPECT_EQ(reason_of([&] { compared(aes_run(), other); }, &text), Reason::unfit);
  EXPECT_NE(text.find("no measurement in common"), std::string::npos) << text;
}

TEST(ResultFile, unknown_and_newer_schemas_are_refused) {
  const std::pair<const char*, const char*> schemas[] = {
      {"stockade-bench-aes/2", "newer than this program"}, {"stockade-bench-mpi/999999", "newer than this program"},
      {"stockade-bench-aes/0", "unknown schema"},          {"stockade-bench-aes/1x", "unknown schema"},
      {"stockade-bench-aes/9999999", "unknown schema"},    {"stockade-bench-aes", "unknown schema"},
      {"stockade-bench-xyz/1", "stockade-bench-aes/1, "},  {"other/1", "unknown schema"}};
  for (const auto& [schema, words] : schemas) {
    ordered_json run = aes_run();
    run["schema"] = schema;
    std::string text;
    EXPECT_EQ(reason_of([&] { read(run); }, &text), Reason::unfit) << schema;
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_TRUE(text.starts_with("a.json: ")) << text;
  }
  EXPECT_EQ(reason_of([] { read_result_text("a", R"({"results": []})"); }), Reason::unfit);
}

TEST(ResultFile, damaged_text_is_refused) {
  const std::string whole = aes_run().dump();
  for (const std::string& text : {std::string(), std::string("{"), whole.substr(0, whole.size() - 1),
                                  std::string("\xff\xfe"), std::string("{\"schema\": 1e999}"), std::string("[NaN]")}) {
    EXPECT_EQ(reason_of([&] { read_result_text("a", text); }), Reason::damaged) << text;
  }
}

TEST(ResultFile, every_member_that_is_used_is_checked) {
  for (const ordered_json& whole : {aes_run(), queue_run(), keys_run()}) {
    for (const auto& [name, value] : whole["results"][0].items()) {
      if (name == "arrivals_per_second" || name == "on_core") continue;
      ordered_json run = whole;
      run["results"][0][name] = ordered_json::array({ordered_json::array()});
      EXPECT_EQ(reason_of([&] { read(run); }), Reason::damaged) << name;
    }
    for (const char* name : {"machine", "settings", "results"}) {
      ordered_json run = whole;
      run[name] = 1;
      EXPECT_EQ(reason_of([&] { read(run); }), Reason::damaged) << name;
    }
  }
  for (const ordered_json& value : {ordered_json(0), ordered_json(-1), ordered_json("1"), ordered_json(true)}) {
    ordered_json run = aes_run();
    run["results"][0]["seconds_low"] = value;
    EXPECT_EQ(reason_of([&] { read(run); }), Reason::damaged) << value;
  }
}

TEST(ResultFile, a_median_outside_of_its_spread_and_a_point_twice_are_refused) {
  ordered_json run = aes_run();
  run["results"][0]["seconds_high"] = run["results"][0]["seconds_low"];
  std::string text;
  EXPECT_EQ(reason_of([&] { read(run); }, &text), Reason::damaged);
  EXPECT_NE(text.find("is not between"), std::string::npos) << text;
  run = aes_run();
  run["results"].push_back(run["results"][0]);
  EXPECT_EQ(reason_of([&] { read(run); }, &text), Reason::damaged);
  EXPECT_NE(text.find("result 13 is there twice"), std::string::npos) << text;
  run["results"] = ordered_json::array();
  EXPECT_EQ(reason_of([&] { read(run); }, &text), Reason::damaged);
  EXPECT_NE(text.find("no measurement"), std::string::npos) << text;
}

TEST(ResultFile, every_kind_is_told_from_the_others) {
  EXPECT_EQ(read(aes_run()).kind, "aes");
  EXPECT_EQ(read(queue_run()).kind, "rsa-queue");
  EXPECT_EQ(read(keys_run()).kind, "rsa-keys");
  ordered_json run = head("stockade-bench-rsa/1");
  run.erase("results");
  ordered_json layer{{"layers", "AVX + OMP"}, {"threads", 1}, {"measured", true}, {"on_core", 0.5}};
  set_times(layer, 1e-3);
  run["ablation"] = {{"layers", {layer}}};
  const ResultFile ablation = read(run);
  EXPECT_EQ(ablation.kind, "rsa-ablation");
  EXPECT_EQ(ablation.share_on_core(), 0.5);
  run = head("stockade-bench-gpu/1");
  ordered_json result{{"question", "device"},   {"title", "GPU 0"}, {"cipher", "aes-128-ctr"},
                      {"operation", "encrypt"}, {"form", ""},       {"gpus", 1},
                      {"message_bytes", 65536}, {"samples", 9},     {"measured", true}};
  set_times(result, 1e-5);
  run["results"].push_back(result);
  const ResultFile gpu = read(run);
  EXPECT_EQ(gpu.kind, "gpu");
  ASSERT_EQ(gpu.measurements.size(), 1);
  EXPECT_EQ(gpu.measurements[0].seconds.rounds, 9);
  EXPECT_EQ(gpu.share_on_core(), 1);
  run = head("stockade-bench-studies/1");
  result = {{"study", "s2"},          {"table", "launch"},   {"title", "by threads"}, {"cipher", "aes-128-ctr"},
            {"operation", "encrypt"}, {"contender", "cuda"}, {"stage", ""},           {"threads", 0},
            {"message_bytes", 65536}, {"samples", 9},        {"measured", true},      {"threads_per_block", 256}};
  set_times(result, 1e-5);
  run["results"].push_back(result);
  result["threads_per_block"] = 512;
  run["results"].push_back(result);
  EXPECT_EQ(read(run).measurements.size(), 2);
  run = head("stockade-bench-mpi/1");
  result = {{"form", "file"}, {"scaling", "weak"}, {"ranks", 2}, {"threads", 1}, {"machines", 1}, {"bytes", 99}};
  set_times(result, 1e-2);
  run["results"].push_back(result);
  EXPECT_EQ(read(run).measurements.size(), 1);
}

TEST(ResultFile, a_file_that_is_not_there_is_unreadable) {
  std::string text;
  EXPECT_EQ(reason_of([] { read_result_file("/nowhere/at all.json"); }, &text), Reason::unreadable);
  EXPECT_EQ(text, "/nowhere/at all.json: no such file or directory");
  EXPECT_EQ(reason_of([] { read_result_file("/"); }), Reason::unreadable);
}

}  // namespace
}  // namespace stockade::bench
