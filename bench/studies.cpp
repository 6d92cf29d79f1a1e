#include "studies.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "gpu_questions.h"
#include "study_questions.h"

namespace stockade::bench {
namespace {

constexpr uint64_t seed = 0x5D1E5;

std::string gigabytes_text(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// What a size will take, by the sizes before it; 0 where none has been measured.
double expected_seconds(const StudyLine& line, const std::vector<uint64_t>& sizes, size_t column) {
  for (size_t i = column; i-- > 0;) {
    if (line.cells[i].seconds > 0) {
      return line.cells[i].seconds * static_cast<double>(sizes[column]) / static_cast<double>(sizes[i]);
    }
  }
  return 0;
}

std::string milliseconds_text(double seconds) { return std::to_string(std::llround(seconds * 1e3)) + " ms"; }

std::string slow_reason(double seconds, double limit) {
  return "would take " + milliseconds_text(seconds) + "; the limit is " + milliseconds_text(limit);
}

void check_status(stockade_status status, const std::string& who) {
  if (status != STOCKADE_OK) throw std::runtime_error(who + ": " + stockade_status_text(status));
}

// A key is made and freed in each call: its schedule is part of what is timed.
StudyContender stockade_contender(const std::string& name, uint32_t threads, const std::string& force,
                                  std::shared_ptr<Engine> engine, const AesCipher& cipher, StudySpace& space) {
  StudyContender made{name, threads};
  made.run = [name, force, engine = std::move(engine), cipher, &space](uint64_t size) {
    stockade_key* raw = nullptr;
    check_status(
        stockade_key_create(&raw, cipher.mode, space.key, cipher.bits / 8, force.empty() ? nullptr : force.c_str()),
        name);
    const Key key(raw);
    check_status(
        stockade_encrypt(key.get(), space.iv, iv_bytes(cipher), space.in.data(), size, space.out.data(), engine->get()),
        name);
  };
  return made;
}

void verify(const StudyContender& contender, const AesCipher& cipher, StudySpace& space, uint64_t size) {
  std::memset(space.out.data(), 0xEE, size);
  contender.run(size);
  if (std::memcmp(space.out.data(), space.expected.data(), size) == 0) return;
  throw Mismatch(contender.name + " and OpenSSL give different bytes for " + cipher.name + ", " + std::to_string(size) +
                 " bytes");
}

// The cells of one size.
void measure_column(StudyTable& table, size_t first_line, size_t column, const AesCipher& cipher,
                    std::vector<StudyContender>& contenders, StudySpace& space, const StudySettings& settings) {
  const uint64_t size = table.sizes[column];
  const std::string no_memory = size > space.in.size() ? memory_reason(3 * size) : "";
  std::vector<Work> works;
  std::vector<StudyCell*> cells;
  for (size_t i = 0; i < contenders.size(); ++i) {
    StudyLine& line = table.lines[first_line + i];
    const double expected = expected_seconds(line, table.sizes, column);
    line.cells.push_back({});
    StudyCell& cell = line.cells.back();
    cell.reason = contenders[i].reason;
    if (cell.reason.empty() && size > space.in.size())
      cell.reason = no_memory.empty() ? "not enough memory" : no_memory;
    if (cell.reason.empty() && contenders[i].slow && expected > settings.textbook_seconds) {
      cell.reason = slow_reason(expected, settings.textbook_seconds);
    }
    if (!cell.reason.empty()) continue;
    if (works.empty()) {
      contenders[i].run(size);
      std::memcpy(space.expected.data(), space.out.data(), size);
    } else {
      verify(contenders[i], cipher, space, size);
    }
    works.push_back([run = &contenders[i].run, size](uint64_t iterations) {
      for (; iterations > 0; --iterations) (*run)(size);
    });
    cells.push_back(&cell);
  }
  if (works.empty()) return;
  const std::vector<Timing> timings = measure(works, settings.schedule);
  for (size_t i = 0; i < timings.size(); ++i) *cells[i] = study_cell(timings[i], settings.schedule.rounds);
}

const StudyLine* find_yardstick(const StudyTable& table, const StudyLine& line) {
  for (const StudyLine& other : table.lines) {
    if (other.contender == table.yardstick && other.cipher == line.cipher && other.operation == line.operation &&
        other.stage == line.stage) {
      return &other;
    }
  }
  return nullptr;
}

}  // namespace

StudyCell left_out_cell(const std::string& reason) {
  StudyCell cell;
  cell.reason = reason;
  return cell;
}

StudyCell study_cell(const Timing& timing, uint32_t rounds) {
  if (!timing.measured) return left_out_cell("one call takes too long");
  StudyCell cell;
  cell.samples = rounds;
  cell.seconds = timing.seconds;
  cell.low = timing.low;
  cell.high = timing.high;
  return cell;
}

StudyCell study_cell(const std::vector<double>& seconds) {
  StudyCell cell;
  cell.samples = seconds.size();
  cell.seconds = median(seconds);
  cell.low = *std::min_element(seconds.begin(), seconds.end());
  cell.high = *std::max_element(seconds.begin(), seconds.end());
  return cell;
}

std::string gpu_reason(const StudySettings& settings) { return "not available: " + settings.no_gpu; }

std::string memory_reason(uint64_t needed) {
  const uint64_t available = available_memory() / 4 * 3;
  if (needed <= available) return {};
  return "not enough memory: " + gigabytes_text(needed) + " are needed, " + gigabytes_text(available) + " may be used";
}

void compare_with_yardstick(StudyTable& table) {
  if (table.yardstick.empty()) return;
  for (StudyLine& line : table.lines) {
    const StudyLine* const other = find_yardstick(table, line);
    if (other == nullptr) continue;
    for (size_t i = 0; i < line.cells.size(); ++i) {
      StudyCell& cell = line.cells[i];
      if (cell.seconds <= 0) continue;
      const bool there = other->cells[i].seconds > 0;
      const double seconds = there ? other->cells[i].seconds : expected_seconds(*other, table.sizes, i);
      cell.ratio = seconds / cell.seconds;
      cell.ratio_scaled = !there && seconds > 0;
    }
  }
}

StudySpace::StudySpace(uint64_t bytes) : in(bytes), out(bytes), expected(bytes) {
  fill(key, sizeof key, seed);
  fill(iv, sizeof iv, seed + 1);
  fill(in.data(), bytes, seed + 2);
}

StudyContender openssl_contender(const AesCipher& cipher, StudySpace& space) {
  StudyContender made{"openssl"};
  const auto peer = std::make_shared<OpensslPeer>(cipher.mode, cipher.bits, STOCKADE_ENCRYPT, space.key);
  made.run = [peer, &space](uint64_t size) {
    if (!peer->rekey(space.key) || !peer->message(space.iv, space.in.data(), size, space.out.data(), nullptr)) {
      throw std::runtime_error("openssl: a message failed");
    }
  };
  return made;
}

StudyContender row_contender(const std::string& name, const std::string& row, const AesCipher& cipher,
                             StudySpace& space) {
  stockade_row found{};
  for (uint32_t i = 0; stockade_row_get(i, &found) == STOCKADE_OK; ++i) {
    if (std::string(found.primitive) != "aes" || row != found.name) continue;
    if (found.available) {
      return stockade_contender(name, 1, "aes:" + row, std::make_shared<Engine>(make_engine("serial", 1)), cipher,
                                space);
    }
    return {name, 1, std::string("not available: ") + found.reason};
  }
  return {name, 1, "not available: not built for this processor"};
}

StudyContender engine_contender(const std::string& name, const char* engine, uint32_t threads, const AesCipher& cipher,
                                StudySpace& space) {
  return stockade_contender(name, threads, "", std::make_shared<Engine>(make_engine(engine, threads)), cipher, space);
}

StudyContender cuda_contender(const StudySettings& settings, const AesCipher& cipher, StudySpace& space) {
  if (settings.gpus.devices.empty()) return {"cuda", 0, gpu_reason(settings)};
  const std::vector<uint32_t> first = {settings.gpus.devices[0].number};
  return stockade_contender("cuda", 0, "", std::make_shared<Engine>(make_gpu_engine("cuda", settings.threads, first)),
                            cipher, space);
}

void measure_contenders(StudyTable& table, const AesCipher& cipher, std::vector<StudyContender>& contenders,
                        StudySpace& space, const StudySettings& settings, const StudyListener& listener) {
  const size_t first_line = table.lines.size();
  for (const StudyContender& contender : contenders) {
    table.lines.push_back({cipher.name, "encrypt", contender.name, "", contender.threads, 0, {}});
  }
  for (size_t column = 0; column < table.sizes.size(); ++column) {
    listener.on_point(table.study + ": " + cipher.name + ", " + std::to_string(table.sizes[column]) + " bytes");
    measure_column(table, first_line, column, cipher, contenders, space, settings);
  }
}

uint64_t study_space_bytes(const std::vector<uint64_t>& sizes) {
  uint64_t most = 16;
  for (const uint64_t size : sizes) {
    if (memory_reason(3 * size).empty()) most = std::max(most, size);
  }
  return most;
}

void run_studies(const StudySettings& settings, const StudyListener& listener) {
  const auto asked = [&settings](const char* study) {
    return std::find(settings.studies.begin(), settings.studies.end(), study) != settings.studies.end();
  };
  if (asked("s1")) ask_modes(settings, listener);
  if (asked("s2")) ask_launch(settings, listener);
  if (asked("s3")) {
    ask_engines(settings, listener);
    ask_profile(settings, listener);
    ask_tables(settings, listener);
  }
  if (asked("s4")) ask_file_stages(settings, listener);
  if (asked("s5")) {
    listener.on_ablation(run_rsa_ablation(settings.schedule, listener.on_point));
    ask_sums(settings, listener);
  }
}

}  // namespace stockade::bench
