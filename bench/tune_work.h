// The work that tuning measures: one operation with keys of one size, at any length.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "tune.h"

namespace stockade::bench {

class TuneWork {
 public:
  virtual ~TuneWork() = default;
  // Lengths that a profile has rows for: those of a grid, ascending.
  virtual std::vector<uint64_t> lengths() const = 0;
  // Lengths off that grid.
  virtual std::vector<uint64_t> other_lengths() const = 0;
  // The most modest first.
  virtual std::vector<tune::Choice> candidates(uint64_t length) const = 0;
  // Gets ready for runs at that length.
  virtual void prepare(uint64_t length) = 0;
  // Does it that often, as a profile with only that row has it done; null: as the profile in force has it done.
  virtual void run(uint64_t length, const tune::Choice* choice, uint64_t times) = 0;
  // What a run does: bytes, or operations.
  virtual double amount(uint64_t length) const { return static_cast<double>(length); }
  // Whether the profile in force has it done on one thread.
  virtual bool automatic_is_alone(uint64_t length) const = 0;
  // Whether what that does is exactly this choice. False where it cannot be known.
  virtual bool automatic_is(uint64_t, const tune::Choice&) const { return false; }
  // Whether many threads are the worse the shorter the work is, because of what it takes to begin.
  virtual bool begins() const { return true; }
  // Whether some seconds later it may be as quick as it never was before.
  virtual bool varies() const { return true; }
  // So long it runs before each sample, outside the clock.
  virtual std::chrono::microseconds warm_up() const { return std::chrono::milliseconds(1); }
  // A candidate that a first look shows to be so much slower than the quickest is not measured further.
  virtual double hopeless() const { return 1.6; }
  // A candidate that is measured to the end whatever a first look shows.
  virtual bool stays(const tune::Choice&) const { return false; }
  // Between two lengths whose choices differ the place where they change is looked for until it is known to this factor.
  virtual double near_enough() const { return 1.12; }
};

// Null where the operation cannot be had here: there is no GPU, or no room.
std::unique_ptr<TuneWork> make_tune_work(const TuneSettings& settings, tune::Operation operation, uint32_t bits);
std::unique_ptr<TuneWork> make_gpu_tune_work(const TuneSettings& settings, tune::Operation operation, uint32_t bits);

// The sizes of keys that are measured.
std::vector<uint32_t> tune_bits(const TuneSettings& settings, tune::Operation operation);

// From `least` to `most` in steps of that factor; `most` ends the list.
std::vector<uint64_t> tune_grid(uint64_t least, uint64_t most, uint64_t factor);
// Between the points of such a grid, and off every power of two.
std::vector<uint64_t> tune_off_grid(uint64_t least, uint64_t most, uint64_t factor);

// A profile of one row, with which plans are made while it stands.
class OneRow {
 public:
  explicit OneRow(const char* gpu = "");
  // Null: nothing is replaced.
  void set(tune::Operation operation, uint32_t bits, const tune::Choice& choice);
  const tune::Profile* profile() const { return profile_.get(); }

 private:
  std::unique_ptr<tune::Profile> profile_;
};

}  // namespace stockade::bench
