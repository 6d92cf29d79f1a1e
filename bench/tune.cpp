#include "tune.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "parallel/thread_pool.h"
#include "tune/profile_in_force.h"
#include "tune_work.h"

namespace stockade::bench {
namespace {

// A candidate that was so much slower is not tried at all at shorter lengths, where what it costs to begin weighs more; and
// one of RSA, of whose rows the quickest for many operations may be half as quick for one.
constexpr double out_of_the_question = 8, out_of_the_question_for_rows = 4;
// Of what a first look leaves a quick run measures so many.
constexpr size_t most_in_a_hurry = 6;
// By then a team that has nothing to do is asleep, and in nobody's way.
constexpr timespec until_asleep = {0, 5 * parallel::pool_patience};
constexpr std::chrono::microseconds until_apart{2000};
// Times that a noisy point is measured again, each time for longer, where there is time for it.
constexpr uint32_t most_repeats = 3;
// What a choice may lose at the end of its lengths without anybody looking for the place where another one is better.
constexpr double worth_dividing = 0.03, worth_dividing_at_once = 0.1;

double score_of(double amount, double seconds, bool bytes) { return amount / seconds / (bytes ? 1e9 : 1); }

bool counts_bytes(tune::Operation operation) {
  return operation != tune::Operation::rsa_private && operation != tune::Operation::rsa_public;
}

// Long messages are as quick as the memory is just then, and a round may find more of its output in a cache than is its share.
Counts counts_for(const TunePoint& point) {
  constexpr uint64_t beyond_caches = uint64_t{1} << 20;
  return counts_bytes(point.operation) && point.length > beyond_caches ? Counts::median : Counts::fastest;
}

double time_of(const Timing& timing, const TunePoint& point) {
  return counts_for(point) == Counts::fastest ? timing.low : timing.seconds;
}

// Two choices that have the same done.
bool alike(const tune::Choice& a, const tune::Choice& b) { return a == b; }

// Whether a choice was so near to the best at a point that it matters to nobody which of them is taken.
bool does_as_well(const tune::Choice& choice, const TuneOutcome& outcome) {
  constexpr double near = 1.02;
  return alike(choice, outcome.next) && outcome.score < near * outcome.next_score;
}

// What was so far off in two looks in a row that no other is taken: in one alone it may have met with a mishap that was longer
// than the look.
class Excluded {
 public:
  void clear() { seen_.clear(); }
  bool contains(const tune::Choice& choice) const {
    return std::any_of(seen_.begin(), seen_.end(),
                       [&](const Seen& one) { return one.looks >= 2 && alike(one.choice, choice); });
  }
  void note(const tune::Choice& choice, bool far_off) {
    const auto seen =
        std::find_if(seen_.begin(), seen_.end(), [&](const Seen& one) { return alike(one.choice, choice); });
    if (seen == seen_.end()) {
      if (far_off) seen_.push_back({choice, 1});
    } else {
      seen->looks = far_off ? seen->looks + 1 : 0;
    }
  }

 private:
  struct Seen {
    tune::Choice choice;
    uint32_t looks;
  };
  std::vector<Seen> seen_;
};

// How many times as long as the quickest it took; infinite if it was not measured.
double times_of_quickest(const std::vector<TuneResult>& results, const TuneResult& result) {
  double quickest = std::numeric_limits<double>::infinity();
  for (const TuneResult& one : results) {
    if (one.timing.measured) quickest = std::min(quickest, one.timing.low);
  }
  return result.timing.measured ? result.timing.low / quickest : std::numeric_limits<double>::infinity();
}

// What runs on one thread does not find the team of the one before awake, and a team of another size is there before the clock
// runs, each with its share of the data.
class Turns {
 public:
  // Null: whatever the profile in force says.
  Turns(TuneWork& work, uint64_t length, std::vector<const tune::Choice*> choices)
      : work_(work), length_(length), choices_(std::move(choices)) {}

  std::vector<Timing> measure(Schedule schedule) {
    std::vector<Work> works;
    for (const tune::Choice* choice : choices_) {
      works.push_back([this, choice](uint64_t times) { work_.run(length_, choice, times); });
    }
    schedule.before_sample = [this](size_t i) { prepare(choices_[i]); };
    return bench::measure(works, schedule);
  }

 private:
  void prepare(const tune::Choice* choice) {
    const bool alone = choice == nullptr ? work_.automatic_is_alone(length_) : choice->runner == tune::Runner::serial;
    if (alone && after_a_team_) nanosleep(&until_asleep, nullptr);
    // A team that was asleep may wake on one core, and takes a while to find others.
    const auto enough = !alone && !after_a_team_ ? std::max(work_.warm_up(), until_apart) : work_.warm_up();
    // A team that is woken loses time at first, and an automatic engine then rests from it for a while.
    const auto begun = std::chrono::steady_clock::now();
    do {
      work_.run(length_, choice, 1);
    } while (std::chrono::steady_clock::now() - begun < enough);
    after_a_team_ = !alone;
  }

  TuneWork& work_;
  const uint64_t length_;
  const std::vector<const tune::Choice*> choices_;
  bool after_a_team_ = true;
};

std::vector<Timing> measure_choices(TuneWork& work, uint64_t length, const std::vector<tune::Choice>& choices,
                                    const Schedule& schedule) {
  std::vector<const tune::Choice*> all;
  for (const tune::Choice& choice : choices) all.push_back(&choice);
  return Turns(work, length, std::move(all)).measure(schedule);
}

// What a short look at each candidate takes.
std::vector<Timing> look_at(TuneWork& work, uint64_t length, const std::vector<tune::Choice>& choices,
                            const Schedule& schedule) {
  // The better of two samples: one alone may have met with a mishap.
  Schedule look = schedule;
  look.rounds = 2;
  look.sample_seconds = schedule.sample_seconds / 2;
  return measure_choices(work, length, choices, look);
}

// As `promising` has it, of all that are not excluded; `excluded` learns from it.
std::vector<tune::Choice> look_for_promising(TuneWork& work, uint64_t length, std::vector<tune::Choice> choices,
                                             const Schedule& schedule, size_t most,
                                             const std::vector<tune::Choice>& staying, Excluded& excluded) {
  const auto stays = [&](const tune::Choice& choice) {
    return work.stays(choice) ||
           std::any_of(staying.begin(), staying.end(), [&](const tune::Choice& one) { return alike(one, choice); });
  };
  std::erase_if(choices, [&](const tune::Choice& choice) { return excluded.contains(choice) && !stays(choice); });
  if (choices.size() <= 1) return choices;
  const std::vector<Timing> timings = look_at(work, length, choices, schedule);
  std::vector<TuneResult> results;
  for (size_t i = 0; i < choices.size(); ++i) results.push_back({choices[i], timings[i]});
  std::vector<tune::Choice> kept;
  for (const size_t i : promising(results, work.hopeless(), most, stays)) kept.push_back(choices[i]);
  const double far_off = work.begins() ? out_of_the_question : out_of_the_question_for_rows;
  for (const TuneResult& result : results) {
    // What works on one thread stays: it is what short lengths come to.
    if (work.begins() && result.choice.runner != tune::Runner::threads) continue;
    excluded.note(result.choice, times_of_quickest(results, result) > far_off);
  }
  return kept;
}

class Tuning {
 public:
  Tuning(const TuneSettings& settings, const std::vector<TuneOutcome>& known,
         const std::function<void(const TuneProgress&)>& on_point,
         const std::function<void(const TuneOutcome&)>& on_outcome)
      : settings_(settings),
        known_(known),
        on_point_(on_point),
        on_outcome_(on_outcome),
        end_(settings.seconds > 0 ? Clock::now() + seconds(settings.seconds) : Clock::time_point::max()) {}

  // The grid of every subject, and then, as far as there is time, where choices change between its points, and all points once
  // more: what else runs on the machine, and on the machine below it, changes within seconds, and a choice shall be right on the
  // whole.
  TuneReport run() {
    const std::vector<TuneSubject> all = subjects(settings_);
    for (size_t i = 0; i < all.size(); ++i) {
      begin(all[i], i, all.size(), 0);
      if (const auto work = make_tune_work(settings_, all[i].operation, all[i].bits)) take_grid(*work, all[i]);
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const Clock::time_point now = Clock::now();
      if (now >= end_) break;
      begin(all[i], i, all.size(), 1);
      const auto work = make_tune_work(settings_, all[i].operation, all[i].bits);
      if (work == nullptr) continue;
      // Each subject has an equal part of what is left.
      const bool hurried = end_ != Clock::time_point::max();
      settle(*work, all[i], now, hurried ? now + (end_ - now) / static_cast<Clock::rep>(all.size() - i) : end_);
    }
    if (settings_.seconds > 0) use_what_is_left(all);
    count_noise();
    return report_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Found {
    TuneOutcome outcome;
    std::vector<TuneResult> results;  // none: the outcome is from an earlier run
    size_t candidates = 0;
    uint32_t repeats = 0;
  };
  using Subject = std::pair<tune::Operation, uint32_t>;

  static Clock::duration seconds(double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
  }

  // Share of the whole that is done then, where a run has an end and so a third pass.
  static constexpr double third_pass = 0.7;

  void begin(const TuneSubject& subject, size_t number, size_t count, size_t pass) {
    found_ = &all_found_[{subject.operation, subject.bits}];
    excluded_.clear();
    constexpr double begins[] = {0, 0.4, third_pass, 1};
    share_ = (begins[pass + 1] - begins[pass]) / static_cast<double>(count);
    before_ = begins[pass] + share_ * static_cast<double>(number);
    point_share_ = 0;
  }

  void take_grid(TuneWork& work, const TuneSubject& subject) {
    // From the longest down: what cannot begin quickly enough there never can.
    size_t done = 0;
    for (auto length = subject.lengths.rbegin(); length != subject.lengths.rend(); ++length, ++done) {
      point_share_ = share_ * static_cast<double>(done) / static_cast<double>(subject.lengths.size());
      take(work, {subject.operation, subject.bits, *length});
    }
  }

  // What GPUs would be given is no part of what was measured of cores.
  static tune::Choice as_measured(tune::Choice choice) {
    if (choice.runner == tune::Runner::threads) choice.lanes = 0, choice.run_bytes = 0;
    return choice;
  }

  // What is best at the next lengths, shorter and longer, as far as they are known. Wherever else it is that, a short look is
  // not enough to rule it out.
  std::vector<tune::Choice> best_beside(uint64_t length) const {
    std::vector<tune::Choice> best;
    const auto here = found_->lower_bound(length), longer = found_->upper_bound(length);
    if (here != found_->begin()) best.push_back(as_measured(std::prev(here)->second.outcome.best));
    if (longer != found_->end()) best.push_back(as_measured(longer->second.outcome.best));
    return best;
  }

  // How much longer a choice took than the quickest did.
  static double loss(const Found& found, tune::Choice choice) {
    choice = as_measured(choice);
    const TuneOutcome& outcome = found.outcome;
    double quickest = std::numeric_limits<double>::infinity(), own = quickest;
    for (const TuneResult& result : found.results) {
      const double time = time_of(result.timing, outcome.point);
      quickest = std::min(quickest, time);
      if (alike(result.choice, choice)) own = time;
    }
    if (!found.results.empty()) return own / quickest - 1;
    if (alike(outcome.best, choice)) return 0;
    return alike(outcome.next, choice) ? outcome.score / outcome.next_score - 1 : own;
  }

  // What lies between points whose choices differ, and all points again; a repetition may show that the place is elsewhere.
  void settle(TuneWork& work, const TuneSubject& subject, Clock::time_point from, Clock::time_point until) {
    const bool hurried = until != Clock::time_point::max();
    const auto part = [&](int quarters) { return hurried ? from + quarters * (until - from) / 4 : until; };
    divide(work, subject, part(2), worth_dividing_at_once);
    repeat(work, subject, part(3));
    do {
      divide(work, subject, until, worth_dividing);
    } while (repeat(work, subject, until));
  }

  // Cores of a virtual machine are near to each other, or far, for seconds at a time. So what the places depend on where choices
  // change is measured at several times.
  void use_what_is_left(const std::vector<TuneSubject>& all) {
    constexpr uint32_t most = 16;
    const Clock::time_point from = Clock::now();
    for (uint32_t often = 2; often <= most; ++often) {
      for (size_t i = 0; i < all.size() && Clock::now() < end_; ++i) {
        begin(all[i], i, all.size(), 2);
        share_ = 0;
        before_ = third_pass + (1 - third_pass) * std::chrono::duration<double>(Clock::now() - from) /
                                   std::chrono::duration<double>(end_ - from);
        if (found_->size() < 2) continue;
        const auto work = make_tune_work(settings_, all[i].operation, all[i].bits);
        if (work == nullptr) continue;
        do {
          divide(*work, all[i], end_, worth_dividing);
        } while (repeat(*work, all[i], end_, often, around_changes()));
      }
    }
  }

  // The first lengths of rows, and those before them.
  std::set<uint64_t> around_changes() const {
    std::set<uint64_t> places;
    for (const TuneOutcome& row : rows()) {
      const auto first = found_->find(row.point.length);
      if (first == found_->begin()) continue;
      places.insert(first->first);
      places.insert(std::prev(first)->first);
    }
    return places;
  }

  // What a profile would have of the subject at hand.
  std::vector<TuneOutcome> rows() const {
    std::vector<TuneOutcome> outcomes;
    for (const auto& [length, found] : *found_) outcomes.push_back(found.outcome);
    return merge(outcomes);
  }

  // Looks for the places where choices change, most to gain first.
  void divide(TuneWork& work, const TuneSubject& subject, Clock::time_point until, double worth) {
    // Lengths do not come in order: what was out of the question at a longer one may be the best here.
    excluded_.clear();
    while (Clock::now() < until) {
      const uint64_t middle = place_to_divide(work, worth);
      if (middle == 0) return;
      take(work, {subject.operation, subject.bits, middle});
    }
  }

  uint64_t place_to_divide(const TuneWork& work, double worth) const {
    // Unknown losses are of choices that a first look ruled out.
    const double most = work.hopeless();
    const std::vector<TuneOutcome> known_rows = rows();
    double gain = 0;
    uint64_t place = 0;
    const tune::Choice* in_force = nullptr;
    uint64_t low = 0;
    for (const auto& [length, found] : *found_) {
      if (in_force != nullptr) {
        const double ratio = static_cast<double>(length) / static_cast<double>(low);
        const double lost = std::min(loss(found, *in_force), most);
        auto middle = static_cast<uint64_t>(static_cast<double>(low) * std::sqrt(ratio));
        // Whole blocks, and lines of the caches.
        if (counts_bytes(found.outcome.point.operation)) middle -= middle % (low >= 4096 ? 256 : 16);
        const bool between = middle > low && middle < length;
        if (between && ratio > work.near_enough() && lost > worth && lost * std::log(ratio) > gain) {
          gain = lost * std::log(ratio);
          place = middle;
        }
      }
      for (const TuneOutcome& row : known_rows) {
        if (row.point.length <= length) in_force = &row.best;
      }
      low = length;
    }
    return place;
  }

  // Each point, or each of these, until it has been repeated that often, the noisiest first. Whether any was measured.
  bool repeat(TuneWork& work, const TuneSubject& subject, Clock::time_point until, uint32_t often = 1,
              const std::set<uint64_t>& only = {}) {
    std::vector<std::pair<double, uint64_t>> order;
    for (const auto& [length, found] : *found_) {
      if (found.results.size() < 2 || (often > 1 && !only.contains(length))) continue;
      const uint32_t least = work.varies() ? often : 0;
      const uint32_t wanted = found.outcome.noise > too_noisy ? std::max(most_repeats, least) : least;
      if (found.repeats < wanted) order.emplace_back(-found.outcome.noise, length);
    }
    std::sort(order.begin(), order.end());
    size_t done = 0;
    for (; done < order.size() && Clock::now() < until; ++done) {
      point_share_ = share_ * static_cast<double>(done) / static_cast<double>(order.size());
      const TunePoint point{subject.operation, subject.bits, order[done].second};
      on_point_({point, before_ + point_share_});
      Found& found = found_->at(point.length);
      ++found.repeats;
      repeat_point(work, point, found);
      on_outcome_(found.outcome);
    }
    return done > 0;
  }

  // The same candidates again, for longer if the point was noisy.
  void repeat_point(TuneWork& work, const TunePoint& point, Found& found) {
    work.prepare(point.length);
    add_missing(work, point.length, found.results);
    std::vector<tune::Choice> choices;
    for (const TuneResult& result : found.results) choices.push_back(result.choice);
    Schedule schedule = settings_.schedule;
    if (found.outcome.noise > too_noisy) {
      ++report_.again;
      const uint32_t longer = std::min(found.repeats + 1, most_repeats);
      schedule.rounds *= longer;
      schedule.sample_seconds *= longer;
    }
    const std::vector<Timing> timings = measure_choices(work, point.length, choices, schedule);
    for (size_t i = 0; i < choices.size(); ++i) {
      if (!timings[i].measured) continue;
      Timing& sum = found.results[i].timing;
      if (!sum.measured) {
        sum = timings[i];
        continue;
      }
      const double weight = found.repeats;  // of those before
      sum.seconds = (weight * sum.seconds + timings[i].seconds) / (weight + 1);
      sum.low = std::min(sum.low, timings[i].low);
      sum.high = std::max(sum.high, timings[i].high);
    }
    std::erase_if(found.results, [](const TuneResult& result) { return !result.timing.measured; });
    const size_t best = decide(found.results, counts_for(point));
    found.outcome = conclude(work, point, found.results, best, found.candidates);
  }

  // What has turned out to be best beside it and was not measured here, in its place among the candidates.
  void add_missing(const TuneWork& work, uint64_t length, std::vector<TuneResult>& results) const {
    const std::vector<tune::Choice> best = best_beside(length);
    std::vector<TuneResult> all;
    for (const tune::Choice& choice : work.candidates(length)) {
      const auto is = [&](const auto& one) { return alike(one, choice); };
      const auto measured =
          std::find_if(results.begin(), results.end(), [&](const TuneResult& result) { return is(result.choice); });
      if (measured != results.end()) {
        all.push_back(*measured);
      } else if (std::any_of(best.begin(), best.end(), is)) {
        all.push_back({choice, {}});
      }
    }
    results = std::move(all);
  }

  void count_noise() {
    for (const auto& [subject, points] : all_found_) {
      for (const auto& [length, found] : points) {
        if (found.results.empty()) continue;
        report_.worst_noise = std::max(report_.worst_noise, found.outcome.noise);
        if (found.outcome.noise > too_noisy) ++report_.noisy;
      }
    }
  }

  void take(TuneWork& work, const TunePoint& point) {
    // Of a point that was measured twice the second outcome counts.
    const auto known =
        std::find_if(known_.rbegin(), known_.rend(), [&](const TuneOutcome& one) { return one.point == point; });
    if (known != known_.rend()) {
      (*found_)[point.length] = {*known, {}, 0, 0};
      return;
    }
    on_point_({point, before_ + point_share_});
    Found& found = (*found_)[point.length];
    found = measure_point(work, point);
    on_outcome_(found.outcome);
  }

  Found measure_point(TuneWork& work, const TunePoint& point) {
    work.prepare(point.length);
    const std::vector<tune::Choice> all = work.candidates(point.length);
    std::vector<TuneResult> results;
    Schedule schedule = settings_.schedule;
    const size_t most = settings_.seconds > 0 ? most_in_a_hurry : all.size();
    size_t best = 0;
    ++report_.points;
    for (uint32_t repeat = 0;; ++repeat) {
      const std::vector<tune::Choice> left =
          look_for_promising(work, point.length, all, schedule, most, best_beside(point.length), excluded_);
      const std::vector<Timing> timings = measure_choices(work, point.length, left, schedule);
      results.clear();
      for (size_t i = 0; i < left.size(); ++i) {
        if (timings[i].measured) results.push_back({left[i], timings[i]});
      }
      best = decide(results, counts_for(point));
      // In a hurry the others come first, and this one again if there is time.
      const uint32_t repeats = settings_.seconds > 0 ? 0 : 2;
      if (repeat == repeats || noise_of(results[best].timing) <= too_noisy) break;
      ++report_.again;
      schedule.rounds += settings_.schedule.rounds;
      schedule.sample_seconds *= 2;
    }
    return {conclude(work, point, results, best, all.size()), results, all.size(), 0};
  }

  TuneOutcome conclude(TuneWork& work, const TunePoint& point, const std::vector<TuneResult>& results, size_t best,
                       size_t candidates) {
    TuneOutcome outcome{point, results[best].choice, {}, 0, 0, 0, static_cast<uint32_t>(candidates)};
    if (outcome.best.runner == tune::Runner::threads) add_ring(outcome.best, results);
    const double amount = work.amount(point.length);
    const bool bytes = counts_bytes(point.operation);
    outcome.score = score_of(amount, time_of(results[best].timing, point), bytes);
    outcome.noise = noise_of(results[best].timing);
    for (size_t i = 0; i < results.size(); ++i) {
      const double score = score_of(amount, time_of(results[i].timing, point), bytes);
      if (i == best || score <= outcome.next_score) continue;
      outcome.next = results[i].choice;
      outcome.next_score = score;
    }
    return outcome;
  }

  // Where cores are best, whoever asks for GPUs all the same shall have their best ring.
  static void add_ring(tune::Choice& choice, const std::vector<TuneResult>& results) {
    const TuneResult* quickest = nullptr;
    for (const TuneResult& result : results) {
      if (result.choice.runner != tune::Runner::cuda) continue;
      if (quickest == nullptr || result.timing.low < quickest->timing.low) quickest = &result;
    }
    if (quickest == nullptr) return;
    choice.lanes = quickest->choice.lanes;
    choice.run_bytes = quickest->choice.run_bytes;
  }

  const TuneSettings& settings_;
  const std::vector<TuneOutcome>& known_;
  const std::function<void(const TuneProgress&)>& on_point_;
  const std::function<void(const TuneOutcome&)>& on_outcome_;
  TuneReport report_;
  const Clock::time_point end_;
  std::map<Subject, std::map<uint64_t, Found>> all_found_;
  std::map<uint64_t, Found>* found_ = nullptr;  // of the subject at hand, by length
  Excluded excluded_;
  double before_ = 0, share_ = 0, point_share_ = 0;
};

}  // namespace

std::string text_of(const TunePoint& point) {
  std::string text = std::string(name_of(point.operation)) + ", keys of " + std::to_string(point.bits) + " bits, ";
  return text + std::to_string(point.length) + (counts_bytes(point.operation) ? " bytes" : " at a time");
}

double noise_of(const Timing& timing) {
  return timing.seconds > 0 ? (timing.seconds - timing.low) / timing.seconds : 0;
}

size_t decide(const std::vector<TuneResult>& results, Counts counts) {
  const auto time = [counts](const TuneResult& result) {
    return counts == Counts::fastest ? result.timing.low : result.timing.seconds;
  };
  size_t quickest = 0;
  for (size_t i = 1; i < results.size(); ++i) {
    if (time(results[i]) < time(results[quickest])) quickest = i;
  }
  const double chance = std::clamp(noise_of(results[quickest].timing), 0.015, 0.03);
  for (size_t i = 0; i < quickest; ++i) {
    if (time(results[i]) <= time(results[quickest]) * (1 + chance)) return i;
  }
  return quickest;
}

std::vector<size_t> promising(const std::vector<TuneResult>& results, double hopeless, size_t most,
                              const std::function<bool(const tune::Choice&)>& stays) {
  std::vector<std::pair<double, size_t>> order;
  const TuneResult* quickest_of_gpus = nullptr;
  for (size_t i = 0; i < results.size(); ++i) {
    const double times = times_of_quickest(results, results[i]);
    if (times <= hopeless) order.emplace_back(times, i);
    if (results[i].choice.runner != tune::Runner::cuda || !results[i].timing.measured) continue;
    if (quickest_of_gpus == nullptr || results[i].timing.low < quickest_of_gpus->timing.low)
      quickest_of_gpus = &results[i];
  }
  std::sort(order.begin(), order.end());
  if (order.size() > most) order.resize(most);
  std::set<size_t> left;
  for (const auto& [times, i] : order) left.insert(i);
  for (size_t i = 0; i < results.size(); ++i) {
    // Of GPUs the quickest way stays, for its ring.
    if (stays(results[i].choice) || &results[i] == quickest_of_gpus) left.insert(i);
  }
  return {left.begin(), left.end()};
}

std::vector<TuneOutcome> merge(std::vector<TuneOutcome> outcomes) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const TuneOutcome& a, const TuneOutcome& b) { return a.point.length < b.point.length; });
  std::vector<TuneOutcome> rows;
  for (const TuneOutcome& outcome : outcomes) {
    if (rows.empty() || (!alike(rows.back().best, outcome.best) && !does_as_well(rows.back().best, outcome))) {
      rows.push_back(outcome);
    }
  }
  return rows;
}

std::vector<TuneSubject> subjects(const TuneSettings& settings) {
  std::vector<TuneSubject> all;
  for (const tune::Operation operation : settings.operations) {
    for (const uint32_t bits : tune_bits(settings, operation)) {
      const auto work = make_tune_work(settings, operation, bits);
      if (work == nullptr || work->lengths().empty()) continue;
      const std::vector<uint64_t> lengths = work->lengths();
      all.push_back({operation, bits, lengths, work->candidates(lengths.back())});
    }
  }
  return all;
}

TuneReport run_tune(const TuneSettings& settings, const std::vector<TuneOutcome>& known,
                    const std::function<void(const TuneProgress&)>& on_point,
                    const std::function<void(const TuneOutcome&)>& on_outcome) {
  return Tuning(settings, known, on_point, on_outcome).run();
}

namespace {

double chance_of(const Timing& a, const Timing& b) { return noise_of(a) + noise_of(b); }

TuneCheck check_point(TuneWork& work, const TunePoint& point, const Schedule& schedule) {
  work.prepare(point.length);
  Excluded none;
  const std::vector<tune::Choice> candidates = work.candidates(point.length);
  const std::vector<tune::Choice> ways =
      look_for_promising(work, point.length, candidates, schedule, candidates.size(), {}, none);
  std::vector<const tune::Choice*> all{nullptr};
  for (const tune::Choice& way : ways) all.push_back(&way);
  // However slow a machine is, what the first look left has to be measured, for the best of it is the yardstick.
  Schedule patient = schedule;
  patient.limit_seconds = std::numeric_limits<double>::infinity();
  const std::vector<Timing> timings = Turns(work, point.length, all).measure(patient);
  TuneCheck check{point, 0, {}, 0, 0, 0, 0, true};
  const double amount = work.amount(point.length);
  const bool bytes = counts_bytes(point.operation);
  check.automatic = score_of(amount, timings[0].seconds, bytes);
  size_t best = 0;
  for (size_t i = 1; i < timings.size(); ++i) {
    const double score = score_of(amount, timings[i].seconds, bytes);
    if (ways[i - 1].runner == tune::Runner::serial) check.serial_score = std::max(check.serial_score, score);
    if (score <= check.best_score) continue;
    check.best_score = score;
    best = i;
  }
  check.best = ways[best - 1];
  check.ratio = check.automatic / check.best_score;
  check.chance = chance_of(timings[0], timings[best]);
  // Between a choice and itself there is nothing but noise.
  check.holds = check.ratio >= 0.95 || work.automatic_is(point.length, check.best);
  // The best of many figures is partly the luckiest, so the two are measured against each other.
  for (uint32_t repeat = 0; !check.holds && repeat < 3; ++repeat) {
    Schedule longer = patient;
    longer.rounds = 2 * schedule.rounds + 1;
    longer.sample_seconds = 2 * schedule.sample_seconds;
    const std::vector<Timing> two = Turns(work, point.length, {nullptr, all[best]}).measure(longer);
    check.automatic = score_of(amount, two[0].seconds, bytes);
    check.best_score = score_of(amount, two[1].seconds, bytes);
    check.ratio = two[1].seconds / two[0].seconds;
    check.chance = chance_of(two[0], two[1]);
    check.holds = check.ratio >= 0.95;
  }
  return check;
}

}  // namespace

void check_tune(const TuneSettings& settings, const std::function<void(const TuneProgress&)>& on_point,
                const std::function<void(const TuneCheck&)>& on_check) {
  const std::vector<TuneSubject> all = subjects(settings);
  // What a machine is just then may not be what it is on the whole: points that fail have another chance, some time later.
  std::vector<TunePoint> again;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto work = make_tune_work(settings, all[i].operation, all[i].bits);
    if (work == nullptr) continue;
    const std::vector<uint64_t> lengths = work->other_lengths();
    for (size_t j = 0; j < lengths.size(); ++j) {
      const TunePoint point{all[i].operation, all[i].bits, lengths[j]};
      const double part = static_cast<double>(j) / static_cast<double>(lengths.size());
      on_point({point, (static_cast<double>(i) + part) / static_cast<double>(all.size())});
      const TuneCheck check = check_point(*work, point, settings.schedule);
      if (check.holds) {
        on_check(check);
      } else {
        again.push_back(point);
      }
    }
  }
  for (const TunePoint& point : again) {
    on_point({point, 1});
    if (const auto work = make_tune_work(settings, point.operation, point.bits))
      on_check(check_point(*work, point, settings.schedule));
  }
}

}  // namespace stockade::bench
