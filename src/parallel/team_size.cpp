#include "parallel/team_size.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <iterator>
#include <limits>

#include "parallel/thread_pool.h"

namespace stockade::parallel {

namespace {

constexpr int64_t microsecond = 1'000, millisecond = 1'000'000;

// No trial before so many calls, and so long: a process with fewer has nothing to learn for.
constexpr int64_t first_calls = 16;
constexpr int64_t first_pause = millisecond;
// Until workers that were asleep are there, and data is in their caches.
constexpr uint32_t settling_calls = 2;
constexpr int64_t settling = 200 * microsecond;
// Rounds that change nothing are the rarer the more there are. In the end they take at most a 64th of the time, of which less
// than half is lost even where half as many and twice as many workers need twice as long.
constexpr int64_t shortest_pause = 10 * millisecond, longest_pause = 160 * millisecond;
constexpr int64_t least_part = 16, largest_part = 64;
// A process that has slept so long in the middle of a round begins another one.
constexpr int64_t longest_gap = 100 * millisecond;
// What is quicker by less is left for another day.
constexpr double worth_a_change = 0.95;

}  // namespace

TeamSize::TeamSize(uint32_t known, uint32_t most, int64_t begun, int64_t ended)
    : settled_(known),
      most_(most),
      asked_(known),
      next_round_(ended + std::max(first_pause, first_calls * (ended - begun))) {}

uint32_t TeamSize::workers_of(Turn turn) const {
  switch (turn) {
    case own:
      return settled_;
    case fewer:
      return settled_ / 2;
    case more:
      return settled_ == most_ ? 0 : std::min(2 * settled_, most_);
    default:
      // Where two are slower than four, one may still be quicker than both. It is no trial if that would take long.
      return settled_ / 2 > 1 && alone_ < 2 * figures_[own] ? 1 : 0;
  }
}

void TeamSize::begin(Turn turn, int64_t now) {
  turn_ = turn;
  asked_ = workers_of(turn);
  calls_ = counted_ = 0;
  turn_begun_ = now;
}

void TeamSize::pause(int64_t now, int64_t length) {
  turn_ = between;
  asked_ = settled_;
  next_round_ = now + length;
}

void TeamSize::note(const Call& call) {
  if (call.workers != asked_ || call.ended < deaf_until()) return;
  if (turn_ == between) {
    round_begun_ = last_ended_ = call.ended;
    alone_ = std::numeric_limits<double>::infinity();
    return begin(own, call.ended);
  }
  if (call.begun - last_ended_ > longest_gap) {
    winner_ = 0;
    return pause(call.ended, first_pause);
  }
  last_ended_ = call.ended;
  ++calls_;
  if (turn_ != own && (calls_ <= settling_calls || call.begun < turn_begun_ + settling)) return;
  paces_[counted_++] = static_cast<double>(call.ended - call.begun) / call.amount;
  if (turn_ == own && call.alone > 0) alone_ = std::min(alone_, static_cast<double>(call.alone) / call.amount);
  if (counted_ < samples) return;
  // Others have to be quicker even if they had good luck and the best known ones had bad: calls are not alike.
  const uint32_t middle = samples / 2;
  std::sort(paces_, paces_ + samples);
  figures_[turn_] = paces_[turn_ == own ? middle - 1 : middle + 1];
  for (uint32_t next = turn_ + 1; next < turns; ++next) {
    if (workers_of(static_cast<Turn>(next)) != 0) return begin(static_cast<Turn>(next), call.ended);
    figures_[next] = std::numeric_limits<double>::infinity();
  }
  end_round(call.ended);
}

void TeamSize::end_round(int64_t now) {
  const auto best = static_cast<Turn>(std::min_element(figures_ + fewer, figures_ + turns) - figures_);
  const uint32_t before = winner_;
  const int64_t took = now - round_begun_;
  winner_ = figures_[best] < worth_a_change * figures_[own] ? workers_of(best) : 0;
  // It has to be so once more, when what was the matter just now may be over.
  if (winner_ != 0 && winner_ != before) return pause(now, std::max(first_pause, took));
  if (winner_ != 0) {
    settled_ = winner_;
    winner_ = 0;
    rounds_ = 0;
  }
  const int64_t least = std::min(shortest_pause << rounds_, longest_pause);
  const int64_t part = std::min(least_part << rounds_, largest_part);
  rounds_ = std::min(rounds_ + 1, 8U);
  pause(now, std::max(least, part * took));
}

// ---- all kinds ----

namespace {

// Looked up by whoever plans, changed by whoever has worked; neither waits for another. What is lost so is a figure among
// many.
struct alignas(64) Kept {
  std::atomic<uint64_t> kind{0};
  std::atomic<int64_t> deaf_until{0};
  std::atomic<uint16_t> workers{0};
  std::atomic<bool> on_trial{false};
  std::atomic<bool> busy{false};
  std::atomic<int64_t> used{0};  // when something was last learned here
  TeamSize size;
};
constexpr uint32_t places_bits = 8;
constinit Kept kept[1 << places_bits];
// What has not been done for so long gives its place to something else.
constexpr int64_t forgotten = 1000 * millisecond;

// Four to each doubling of the amount. Quick to make, for some calls take a microsecond.
uint64_t kind_of(const Task& task, uint32_t most) {
  const auto width = static_cast<uint32_t>(std::bit_width(task.bytes));
  const uint64_t length = width * 4 + (width < 3 ? 0 : task.bytes >> (width - 3) & 3);
  uint64_t kind = uint64_t{task.in_place} << 1 | 1;
  kind = kind << 12 | (task.way & 0xfffU);
  kind = kind << 5 | static_cast<uint64_t>(task.operation);
  kind = kind << 8 | length;
  kind = kind << 9 | (task.bits / 64 & 0x1ffU);
  return kind << 13 | most;
}

struct Places {
  Kept* places[2];
  Kept* of(uint64_t kind) const {
    for (Kept* const place : places) {
      if (place->kind.load(std::memory_order_acquire) == kind) return place;
    }
    return nullptr;
  }
  // One that nobody has, or that has not been used for long.
  Kept* to_take(int64_t now) const {
    if (Kept* const empty = of(0); empty != nullptr) return empty;
    for (Kept* const place : places) {
      if (now - place->used.load(std::memory_order_relaxed) > forgotten) return place;
    }
    return nullptr;
  }
};

Places places_of(uint64_t kind) {
  uint64_t mixed = kind * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93;
  const uint64_t first = mixed >> (64 - places_bits);
  return {{&kept[first], &kept[first ^ 1]}};
}

Kept* find_place(uint64_t kind) { return places_of(kind).of(kind); }

}  // namespace

Lesson lesson_for(const config::EngineChoice& engine, const Task& task, uint32_t known, uint32_t most) {
  // Longer work is as quick as the memory, and each trial of it takes long.
  constexpr uint64_t longest = uint64_t{32} << 20;
  if (engine.kind != config::Kind::automatic || task.operation == tune::Operation::files) return {};
  if (known <= 1 || task.bytes == 0 || task.bytes > longest || tune::is_replaced() || !can_use_pool()) return {};
  Lesson lesson{kind_of(task, most), static_cast<uint16_t>(known), static_cast<uint16_t>(most),
                static_cast<uint16_t>(known), false};
  if (const Kept* const place = find_place(lesson.kind); place != nullptr) {
    // Somebody else's by now, perhaps.
    lesson.workers = std::clamp<uint16_t>(place->workers.load(std::memory_order_relaxed), 1, lesson.most);
    lesson.on_trial = place->on_trial.load(std::memory_order_relaxed);
  }
  return lesson;
}

bool listens(const Lesson& lesson) {
  const Kept* const place = find_place(lesson.kind);
  if (place == nullptr) return true;
  // Some calls take a microsecond; this clock is late by some milliseconds and takes a fraction of the other's time.
  timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec >= place->deaf_until.load(std::memory_order_relaxed);
}

void learn(const Lesson& lesson, int64_t begun, int64_t ended, int64_t alone, uint64_t amount) {
  Kept* place = find_place(lesson.kind);
  if (place != nullptr && ended < place->deaf_until.load(std::memory_order_relaxed)) {
    if (ended - place->used.load(std::memory_order_relaxed) > forgotten / 4)
      place->used.store(ended, std::memory_order_relaxed);
    return;
  }
  if (place == nullptr) place = places_of(lesson.kind).to_take(ended);
  if (place == nullptr || place->busy.load(std::memory_order_relaxed)) return;
  if (place->busy.exchange(true, std::memory_order_acquire)) return;
  if (place->kind.load(std::memory_order_relaxed) == lesson.kind) {
    place->size.note({lesson.workers, begun, ended, alone, static_cast<double>(amount)});
  } else {
    place->kind.store(0, std::memory_order_relaxed);
    place->size = TeamSize(lesson.known, lesson.most, begun, ended);
  }
  place->deaf_until.store(place->size.deaf_until(), std::memory_order_relaxed);
  place->workers.store(static_cast<uint16_t>(place->size.workers()), std::memory_order_relaxed);
  place->on_trial.store(place->size.on_trial(), std::memory_order_relaxed);
  place->used.store(ended, std::memory_order_relaxed);
  place->kind.store(lesson.kind, std::memory_order_release);
  place->busy.store(false, std::memory_order_release);
}

uint32_t kinds_on_trial() {
  return static_cast<uint32_t>(std::count_if(std::begin(kept), std::end(kept), [](const Kept& place) {
    return place.kind.load(std::memory_order_acquire) != 0 && place.on_trial.load(std::memory_order_relaxed);
  }));
}

}  // namespace stockade::parallel
