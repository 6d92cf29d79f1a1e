// stockade-mpi verify: whether every byte of a Stockade file is authentic, and where not, with all ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/stockade/damage.h"
#include "cmd/stockade/exit_status.h"
#include "cmd/stockade/file_head.h"
#include "cmd/stockade/file_job.h"
#include "cmd/stockade/interrupt.h"
#include "cmd/stockade/keyring_input.h"
#include "cmd/stockade/run_options.h"
#include "cmd/stockade/secret_bytes.h"
#include "cmd/stockade/ui.h"
#include "cmd/stockade/values.h"
#include "rank_engine.h"
#include "schedule.h"
#include "shared_file.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct VerifyLine {
  KeyOptions keys;
  std::optional<std::string> input, schedule;
  RunOptions run;
};

// A run of neighbouring damaged chunks.
struct Damage {
  uint64_t chunk, count, length;
};

int on_damage(void* context, uint64_t chunk, uint64_t count, uint64_t, uint64_t length) {
  static_cast<std::vector<Damage>*>(context)->push_back({chunk, count, length});
  return interrupt::requested() ? 1 : 0;
}

// In the order of the file; what two slices have found side by side is one.
void join_neighbours(std::vector<Damage>& damages) {
  std::sort(damages.begin(), damages.end(), [](const Damage& a, const Damage& b) { return a.chunk < b.chunk; });
  size_t kept = 0;
  for (const Damage& damage : damages) {
    if (kept > 0 && damages[kept - 1].chunk + damages[kept - 1].count == damage.chunk) {
      damages[kept - 1].count += damage.count;
      damages[kept - 1].length += damage.length;
    } else {
      damages[kept++] = damage;
    }
  }
  damages.resize(kept);
}

// What all ranks have found, on every rank.
std::vector<Damage> collect(Ranks& ranks, const std::vector<Damage>& mine) {
  std::vector<Damage> all;
  const std::vector<uint64_t> counts = ranks.gather<uint64_t>(mine.size());
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    if (counts[rank] == 0) continue;
    std::vector<Damage> found = rank == ranks.rank() ? mine : std::vector<Damage>();
    ranks.share_all(rank, found);
    all.insert(all.end(), found.begin(), found.end());
  }
  join_neighbours(all);
  return all;
}

class SharedVerify {
 public:
  SharedVerify(Ranks& ranks, const VerifyLine& line) : ranks_(ranks), line_(line) {}

  void work() {
    engine_ = make_rank_engine(ranks_, line_.run);
    input_ = open_shared_input(ranks_, *line_.input);
    context_.input = input_.name;
    share_job();
    const std::string plan = plan_text(STOCKADE_DECRYPT, info_.cipher, info_.slice_bytes, engine_.get());
    const std::string who = plan.substr(0, plan.find_first_of(":,", plan.find(',') + 1));
    dynamic_ = is_dynamic(ranks_, line_.schedule);
    if (line_.run.verbose) ui::note(shared_plan_text(ranks_, info_, dynamic_, who));
    progress_ = std::make_unique<ui::Progress>(
        line_.run.progress_when(),
        ui::Progress::Work{.engine = fmt::format("{}, {}", plural(ranks_.size(), "rank"), who)});
    progress_->start_file(*line_.input);
    run();
  }

 private:
  void make_job();
  void share_job();
  void run();
  void tell(const SlicesDone& done, const std::vector<Damage>& damages);

  Ranks& ranks_;
  const VerifyLine& line_;
  EngineHandle engine_;
  Input input_;
  FileHead head_;
  FileContext context_{.direction = STOCKADE_DECRYPT, .input = {}, .output = {}, .key_ids = {}};
  SharedJobHandle job_;
  stockade_shared_info info_{};
  bool dynamic_ = true;
  std::unique_ptr<ui::Progress> progress_;
};

// On rank 0.
void SharedVerify::make_job() {
  head_ = read_head(input_);
  context_.head = &head_;
  if (head_.status != STOCKADE_OK && head_.status != STOCKADE_ERROR_TRUNCATED) {
    throw file_failure(head_.fault, 0, context_);
  }
  if (head_.armored) {
    throw Failure(Exit::usage, fmt::format("{} is armored, of which ranks cannot read parts", input_.name),
                  {"'stockade verify' reads it"});
  }
  Identities identities(line_.keys);
  context_.key_ids = identities.key_ids();
  stockade_format format{};
  format.struct_size = sizeof format;
  format.keyring = identities.keyring_for(head_, input_.name);
  format.max_work_factor = identities.max_work_factor();
  stockade_shared_options options{};
  options.struct_size = sizeof options;
  options.kind = STOCKADE_SHARED_VERIFY;
  options.processes = ranks_.size();
  options.journal_fd = -1;
  stockade_shared_job* made = nullptr;
  stockade_fault fault{};
  errno = 0;
  const stockade_status status =
      stockade_shared_create(&made, input_.fd.get(), -1, &format, &options, engine_.get(), &fault);
  const int error = errno;
  job_.reset(made);
  fault.status = status;
  if (status != STOCKADE_OK) throw file_failure(fault, error, context_);
}

void SharedVerify::share_job() {
  SecretBytes terms(STOCKADE_SHARED_TERMS_BYTES);
  ranks_.on_first([&] {
    make_job();
    export_job(job_.get(), terms);
  });
  ranks_.share(terms.data(), terms.capacity());
  ranks_.everywhere([&] {
    if (ranks_.first()) return;
    // No child shall inherit it.
    take_environment_passphrase(nullptr);
    job_ = import_job(terms);
  });
  stockade_shared_info_get(job_.get(), &info_);
}

void SharedVerify::run() {
  std::vector<Damage> mine;
  const SlicesWork work{.job = job_.get(),
                        .input = input_,
                        .dynamic = dynamic_,
                        .context = context_,
                        .progress = *progress_,
                        .damage = on_damage,
                        .damage_context = &mine};
  // The file may also end in the wrong place, which is said once all else is known.
  std::optional<FailureAt> end;
  const SlicesDone done = run_slices(ranks_, work, engine_.get(), [&](const stockade_shared_work& part, int error) {
    const stockade_status status = part.fault.status;
    if (status == STOCKADE_OK || (status == STOCKADE_ERROR_CHUNK && !mine.empty())) return;
    if (status == STOCKADE_ERROR_TRUNCATED || status == STOCKADE_ERROR_TRAILING_DATA) {
      end = failure_at(part.fault, error, context_);
      return;
    }
    throw failure_at(part.fault, error, context_);
  });
  progress_->end_file(input_.length);
  progress_->finish();
  const std::vector<Damage> damages = collect(ranks_, mine);
  ranks_.on_first([&] {
    for (const Damage& damage : damages) {
      ui::print(fmt::format("{}: {}\n", ui::escaped(*line_.input), damage_text(damage.chunk, damage.count, damage.length)));
    }
  });
  ranks_.everywhere([&] {
    if (end) throw *end;
  });
  ranks_.on_first([&] { tell(done, damages); });
}

void SharedVerify::tell(const SlicesDone& done, const std::vector<Damage>& damages) {
  if (damages.empty()) {
    ui::print(fmt::format("{}: intact, {}\n", ui::escaped(*line_.input), plural(done.out_length, "byte")));
    return;
  }
  uint64_t count = 0;
  for (const Damage& damage : damages) count += damage.count;
  throw Failure(Exit::corrupt, fmt::format("{} is damaged: {}; {} intact", input_.name, plural(count, "bad chunk"),
                                           plural(done.out_length, "byte")));
}

void run_verify(Session& session, const VerifyLine& line) {
  line.run.set_verbosity();
  check_input_path(line.input);
  check_run_options(line.run);
  check_schedule(line.schedule);
  session.run([&](Ranks& ranks) { SharedVerify(ranks, line).work(); });
}

}  // namespace

void add_verify(Command& root, Session& session) {
  root.add("verify", "[-k KEY ... | -i PRIV ... | -p] [OPTION ...] FILE",
           "Opens every chunk of a Stockade file with all ranks, writes none, and lists what is damaged.")
      .when_named([&session](Command& command) {
        const auto line = std::make_shared<VerifyLine>();
        line->keys.declare(command, Purpose::decrypt);
        command.operand("files", "FILE", line->input, "the file, by a path under which all ranks see it");
        command.option("speed", "--schedule", "HOW", line->schedule, schedule_help);
        line->run.declare(command);
        command.footer(
            fmt::format(R"(Standard output has the line 'FILE: intact, N bytes', or one for each run of damaged
chunks, 'FILE: chunks 3 to 5 damaged: bytes 49152 to 98303 of the plaintext', in the
order of the file and the same for any number of ranks.

examples:
  mpirun -n 8 stockade-mpi verify -k backup.key run17.tar.stk

{})",
                        exit_status_help));
        command.action([line, &session] { run_verify(session, *line); });
      });
}

}  // namespace stockade::cmd
