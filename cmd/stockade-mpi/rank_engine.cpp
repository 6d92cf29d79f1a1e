#include "rank_engine.h"

#include <fmt/format.h>

#include "cmd/stockade/values.h"

namespace stockade::cmd {
namespace {

void choose_device(Ranks& ranks, const RunOptions& options, stockade_engine* engine) {
  const std::vector<uint32_t> numbers = options.device_numbers();
  const uint32_t mine = numbers[stockade_mpi_local_rank(ranks.team()) % numbers.size()];
  const stockade_status status = stockade_engine_set_devices(engine, &mine, 1);
  if (status == STOCKADE_ERROR_ARGUMENT) throw Failure(Exit::usage, "--devices belongs to --engine cuda or hybrid");
  if (status != STOCKADE_OK) throw options.engine_failure(status);
}

}  // namespace

void check_run_options(const RunOptions& options) {
  options.progress_when();
  options.thread_count();
  options.device_numbers();
}

EngineHandle make_rank_engine(Ranks& ranks, const RunOptions& options) {
  stockade_engine* engine = nullptr;
  const char* const name = options.engine ? options.engine->c_str() : nullptr;
  const stockade_status status = stockade_mpi_engine_create(&engine, ranks.team(), name, options.thread_count());
  EngineHandle handle(engine);
  ranks.check(status, [&] { return options.engine_failure(status); });
  if (options.devices) ranks.everywhere([&] { choose_device(ranks, options, handle.get()); });
  return handle;
}

std::string ranks_text(Ranks& ranks) {
  const uint32_t machines = ranks.machines();
  std::string text = plural(ranks.size(), "rank");
  if (machines > 1) text += fmt::format(" on {} machines", machines);
  return text;
}

}  // namespace stockade::cmd
