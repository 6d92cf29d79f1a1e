// The ranks of a run as the command sees them: what each does is agreed on before the next thing is begun, so that a
// failure anywhere ends the run everywhere, with one message.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cmd/stockade/exit_status.h"
#include "stockade/stockade_mpi.h"

namespace stockade::cmd {

// What all ranks throw, the same everywhere.
struct AgreedFailure : Failure {
  AgreedFailure(int status_, std::string message_, std::vector<std::string> hints_)
      : Failure(static_cast<Exit>(0), std::move(message_), std::move(hints_)), status(status_) {}
  int status;  // of the process
};

// This machine's name, for messages.
std::string host_name();

// A failure at a place in a file. Of several equally grave ones the first in the file counts.
struct FailureAt : Failure {
  FailureAt(Failure failure, uint64_t offset_) : Failure(std::move(failure)), offset(offset_) {}
  uint64_t offset;
};

class Ranks {
 public:
  // The team must outlive this.
  explicit Ranks(stockade_mpi_team* team) : team_(team) {}

  uint32_t rank() const { return stockade_mpi_rank(team_); }
  uint32_t size() const { return stockade_mpi_size(team_); }
  bool first() const { return rank() == 0; }
  stockade_mpi_team* team() { return team_; }

  // Every rank runs its action, whatever exceptions it ends with. Returns once all are done; if some have failed, all
  // throw the AgreedFailure of the gravest one, which says where it happened unless it was the same everywhere.
  // Collective, like all below.
  void everywhere(const std::function<void()>& action);
  // Only rank 0 does.
  void on_first(const std::function<void()>& action);

  // For a status on which the library has agreed: throws what all ranks throw. Not collective.
  void check(stockade_status status, const std::function<Failure()>& failure);

  // What rank 0 has becomes what all have.
  void share(void* bytes, uint64_t length);
  // What each rank has, by rank.
  template <typename Value>
  std::vector<Value> gather(const Value& value) {
    std::vector<Value> all(size());
    gather_bytes(&value, sizeof value, all.data());
    return all;
  }
  template <typename Value>
  void share_all(uint32_t root, std::vector<Value>& values) {
    uint64_t count = values.size();
    share_from(root, &count, sizeof count);
    values.resize(count);
    share_from(root, values.data(), count * sizeof(Value));
  }
  // On how many machines the ranks are. Collective when it is called first.
  uint32_t machines();

  // Ends the processes of all ranks: MPI itself has failed, and nothing can be agreed on any more. Not collective.
  [[noreturn]] void lose();

 private:
  struct Report;
  void settle(const Report& report, bool by_first);
  void gather_bytes(const void* bytes, uint64_t length, void* all);
  void share_from(uint32_t root, void* bytes, uint64_t length);

  stockade_mpi_team* team_;
  uint32_t machines_ = 0;  // 0: not yet known
};

}  // namespace stockade::cmd
