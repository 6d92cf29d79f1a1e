#include "mpi.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bench/mpi_group.h"
#include "bench/mpi_work.h"
#include "bench/runner.h"
#include "bench/turns.h"

namespace stockade::bench {
namespace {

constexpr uint32_t warm_up = 1;

// 1, 2, 4 and so on below `all`, and that.
std::vector<uint32_t> doublings(uint32_t all) {
  std::vector<uint32_t> counts;
  for (uint32_t count = 1; count < all; count *= 2) counts.push_back(count);
  counts.push_back(all);
  return counts;
}

class Measurement {
 public:
  explicit Measurement(const MpiSettings& settings) : settings_(settings) {}
  MpiReport run();

 private:
  void look_around();
  void measure_links();
  void measure_group(uint32_t ranks);
  void measure_form(const MpiGroup& group, MpiForm form, uint32_t threads);
  void measure_point(const MpiGroup& group, MpiPoint point, const MpiFiles* files);
  double time_turns(const MpiGroup& group, const MpiWork& work, MpiPoint& point);
  std::vector<uint32_t> threads_for(uint32_t ranks) const;
  void compare();
  void fit_all();

  const MpiSettings& settings_;
  MpiReport report_;
  std::vector<int> cores_;
  uint32_t rank_ = 0;
  Team world_;
};

void Measurement::look_around() {
  stockade_mpi_team* made = nullptr;
  check(stockade_mpi_team_create(&made, MPI_COMM_WORLD), "stockade_mpi_team_create");
  world_.reset(made);
  rank_ = stockade_mpi_rank(made);
  report_.ranks = stockade_mpi_size(made);
  const uint32_t head = stockade_mpi_local_rank(made) == 0 ? 1 : 0, local = stockade_mpi_local_size(made);
  MPI_Allreduce(&head, &report_.machines, 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&local, &report_.ranks_per_machine, 1, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
  cores_ = shared_cores();
  report_.cores = static_cast<uint32_t>(cores_.size());
  MPI_Bcast(&report_.cores, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
}

// Messages between rank 0 and the last one, there and back: seconds for one there.
double ping_pong(uint32_t rank, uint32_t last, int bytes, int times) {
  std::vector<uint8_t> buffer(static_cast<size_t>(std::max(bytes, 1)));
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    if (rank == 0) {
      MPI_Send(buffer.data(), bytes, MPI_BYTE, static_cast<int>(last), 0, MPI_COMM_WORLD);
      MPI_Recv(buffer.data(), bytes, MPI_BYTE, static_cast<int>(last), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == last) {
      MPI_Recv(buffer.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  return (MPI_Wtime() - begin) / times / 2;
}

double time_each(int times, const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) work();
  return (MPI_Wtime() - begin) / times;
}

void Measurement::measure_links() {
  constexpr int often = 200, seldom = 20, large = 4 << 20;
  const uint32_t last = report_.ranks - 1;
  MpiLinks& links = report_.links;
  stockade_mpi_team* const world = world_.get();
  if (last > 0) {
    ping_pong(rank_, last, 0, seldom);
    links.latency = ping_pong(rank_, last, 0, often);
    ping_pong(rank_, last, large, 2);
    links.bandwidth = large / ping_pong(rank_, last, large, seldom);
  }
  links.agreement = time_each(often, [&] { stockade_mpi_agree(world, STOCKADE_OK, nullptr); });
  std::vector<uint8_t> terms(STOCKADE_SHARED_TERMS_BYTES);
  links.broadcast = time_each(often, [&] { stockade_mpi_broadcast(world, 0, terms.data(), terms.size()); });
  stockade_mpi_counter* counter = nullptr;
  check(stockade_mpi_counter_create(&counter, world), "stockade_mpi_counter_create");
  uint64_t number = 0;
  links.number = time_each(often, [&] {
    if (rank_ == last) stockade_mpi_counter_next(counter, &number);
  });
  MPI_Bcast(&links.number, 1, MPI_DOUBLE, static_cast<int>(last), MPI_COMM_WORLD);
  stockade_mpi_counter_free(counter);
}

std::vector<uint32_t> Measurement::threads_for(uint32_t ranks) const {
  if (!settings_.threads.empty()) return settings_.threads;
  const uint32_t local = std::min(ranks, report_.ranks_per_machine);
  std::vector<uint32_t> counts = {1};
  for (uint32_t count = 2; count * local <= report_.cores; count *= 2) counts.push_back(count);
  return counts;
}

// Returns the share of the time in MPI.
double Measurement::time_turns(const MpiGroup& group, const MpiWork& work, MpiPoint& point) {
  std::vector<double> works, copies, movings, shares;
  for (uint32_t round = 0; round < settings_.rounds + warm_up; ++round) {
    const double before = stockade_mpi_seconds(group.team());
    const double seconds = time_together(group, work.work);
    const double in_mpi = stockade_mpi_seconds(group.team()) - before;
    const double copy = work.copy ? time_together(group, work.copy) : 0;
    const double moving = work.moving ? time_together(group, work.moving) : 0;
    if (settings_.stop()) throw std::runtime_error("the benchmark was stopped");
    if (round < warm_up) continue;
    works.push_back(seconds);
    copies.push_back(copy);
    movings.push_back(moving);
    shares.push_back(in_mpi / seconds);
  }
  point.seconds = median(works);
  point.low = *std::min_element(works.begin(), works.end());
  point.high = *std::max_element(works.begin(), works.end());
  point.copy_seconds = median(copies);
  point.moving_seconds = median(movings);
  return median(shares);
}

void Measurement::measure_point(const MpiGroup& group, MpiPoint point, const MpiFiles* files) {
  if (group.member()) {
    point.machines = group.machines();
    settings_.on_turn(std::string(form_name(point.form)) + ", " + std::to_string(point.ranks) + " ranks, " +
                      std::to_string(point.threads) + " threads, " + std::to_string(point.bytes) + " bytes");
    const MpiTask task{group, point.threads, point.bytes, settings_.cipher};
    const MpiWork work = point.form == MpiForm::distributed ? distributed_work(task)
                         : point.form == MpiForm::root      ? root_work(task)
                         : point.form == MpiForm::device    ? device_work(task)
                                                            : file_work(task, *files);
    const double share = time_turns(group, work, point);
    point.in_mpi = mean_of(group, share);
    report_.points.push_back(point);
  }
  meet_quietly();
}

void Measurement::measure_form(const MpiGroup& group, MpiForm form, uint32_t threads) {
  const uint32_t local = std::min(group.size(), report_.ranks_per_machine);
  for (const uint64_t size : settings_.sizes) {
    for (const bool weak : {false, true}) {
      // Of one rank both are the same, and what rank 0 has does not grow.
      if (weak && (group.size() == 1 || form == MpiForm::root)) continue;
      if (!weak && group.size() != 1 && form == MpiForm::device) continue;
      MpiPoint point{.form = form,
                     .weak = weak,
                     .ranks = group.size(),
                     .threads = threads,
                     .machines = 1,
                     .bytes = weak ? size * group.size() : size,
                     .oversubscribed = local * threads > report_.cores};
      std::unique_ptr<MpiFiles> files;
      if (form == MpiForm::file) files = std::make_unique<MpiFiles>(settings_.folder, point.bytes);
      measure_point(group, point, files.get());
    }
  }
}

void Measurement::measure_group(uint32_t ranks) {
  const MpiGroup group(ranks);
  for (const uint32_t threads : threads_for(ranks)) {
    if (group.member()) group.pin(cores_, threads);
    for (const MpiForm form : settings_.forms) {
      // To a GPU it is all the same how many threads its rank has.
      if (form != MpiForm::device || threads == threads_for(ranks).front()) measure_form(group, form, threads);
    }
  }
  meet_quietly();
}

void Measurement::compare() {
  for (MpiPoint& point : report_.points) {
    const uint64_t bytes = point.weak ? point.bytes / point.ranks : point.bytes;
    for (const MpiPoint& one : report_.points) {
      if (one.ranks != 1 || one.form != point.form || one.threads != point.threads || one.bytes != bytes) continue;
      const double rate = static_cast<double>(point.bytes) / point.seconds;
      point.speedup = rate / (static_cast<double>(one.bytes) / one.seconds);
      point.efficiency = point.speedup / point.ranks;
    }
  }
}

void Measurement::fit_all() {
  std::map<std::pair<MpiForm, uint32_t>, std::vector<MpiSample>> samples;
  for (const MpiPoint& point : report_.points) {
    // GPUs that share nothing have nothing to tell.
    if (point.oversubscribed || point.form == MpiForm::device) continue;
    // All of one message pass rank 0, and all of one file its file system.
    const double machines = point.form == MpiForm::distributed ? point.machines : 1;
    samples[{point.form, point.threads}].push_back(
        {point.ranks, static_cast<double>(point.bytes), machines, point.seconds});
  }
  for (const auto& [kind, points] : samples) {
    // Of one number of ranks nothing follows for others.
    const uint32_t first = points.front().ranks;
    if (std::all_of(points.begin(), points.end(), [&](const MpiSample& sample) { return sample.ranks == first; })) {
      continue;
    }
    const MpiSteps steps = kind.first == MpiForm::root ? MpiSteps::star : MpiSteps::tree;
    report_.fits.push_back({kind.first, kind.second, fit(steps, points)});
  }
}

MpiReport Measurement::run() {
  look_around();
  measure_links();
  for (const uint32_t ranks : settings_.ranks.empty() ? doublings(report_.ranks) : settings_.ranks) {
    measure_group(ranks);
  }
  compare();
  fit_all();
  return std::move(report_);
}

}  // namespace

const char* form_name(MpiForm form) {
  constexpr const char* names[] = {"distributed", "root", "file", "device"};
  return names[static_cast<uint32_t>(form)];
}

MpiReport measure_mpi(const MpiSettings& settings) { return Measurement(settings).run(); }

}  // namespace stockade::bench
