// How many workers work shall have, learned while it is done.
//
// What experience says was true when it was measured. A machine that is a guest of another has its processors elsewhere some
// seconds later, two of them on one core perhaps; other programs come and go; and no profile knows a machine of a new class.
// So an automatic engine now and then gives a few calls to half as many workers, to twice as many, and to one, and goes over to
// those that turn out to be quicker. (Within microseconds, and for as long as a mishap lasts, teams rest: engine/threads.cpp.)
#pragma once

#include <cstdint>

#include "config/environment.h"
#include "parallel/parallel_for.h"

namespace stockade::parallel {

// One kind of work. Has no clock of its own, and is not for more than one thread at a time.
class TeamSize {
 public:
  constexpr TeamSize() = default;
  // So many workers are known to be best, of `most` that there could be; both at least 1. They did a first call, from `begun`
  // to `ended`: times are in nanoseconds.
  TeamSize(uint32_t known, uint32_t most, int64_t begun, int64_t ended);

  // Whom to give the next call to; 1: the calling thread.
  uint32_t workers() const { return asked_; }
  // Whether they are not the best known ones.
  bool on_trial() const { return asked_ != settled_; }
  // What ends before need not be noted.
  int64_t deaf_until() const { return turn_ == between ? next_round_ : 0; }
  // One call that so many did: `amount` of work, for which the quickest of them would have needed `alone`, as far as it could
  // see; 0: it could not. Calls by others than were asked for count for nothing.
  struct Call {
    uint32_t workers;
    int64_t begun, ended, alone;
    double amount;
  };
  void note(const Call& call);

 private:
  static constexpr uint32_t samples = 7;
  // Between rounds, and of a round: the best known number, those beside it, and the calling thread where that may be quicker
  // than any of them.
  enum Turn : uint32_t { between, own, fewer, more, alone, turns };

  // 0: nobody has that turn.
  uint32_t workers_of(Turn turn) const;
  void begin(Turn turn, int64_t now);
  void end_round(int64_t now);
  void pause(int64_t now, int64_t length);

  uint32_t settled_ = 0, most_ = 0, asked_ = 0;
  // What was quicker in the round before; 0: nothing.
  uint32_t winner_ = 0;
  Turn turn_ = between;
  uint32_t calls_ = 0, counted_ = 0;  // of this turn
  uint32_t rounds_ = 0;               // since the last change
  int64_t turn_begun_ = 0, round_begun_ = 0, last_ended_ = 0, next_round_ = 0;
  // For one unit of work: by the calls of this turn; what stands for each turn; and by the quickest worker of the first alone.
  double paces_[samples] = {}, figures_[turns] = {}, alone_ = 0;
};

// What `make_plan` puts into a plan for work whose workers are not asked for, of which experience says that so many are best;
// `most`: that there could be. No lesson where there is nothing to learn.
Lesson lesson_for(const config::EngineChoice& engine, const Task& task, uint32_t known, uint32_t most);

// What was seen of it; times as in TeamSize::Call.
void learn(const Lesson& lesson, int64_t begun, int64_t ended, int64_t alone, uint64_t amount);

// How many kinds are on trial just now: each has to be done again for that to end.
uint32_t kinds_on_trial();

}  // namespace stockade::parallel
