// S3: one core, all cores (the study's OpenMP), MPI's ranks, a GPU and OpenSSL, from memory to memory; and AES by tables of
// products, by T-tables and by instructions.
#include <algorithm>
#include <memory>

#include "aes.h"
#include "study_questions.h"
#include "textbook_aes.h"

namespace stockade::bench {
namespace {

// The smallest message that `stockade-mpi bench` measures, and the largest.
constexpr uint64_t least_of_mpi = 1 << 10, most_of_mpi = 1 << 30;

std::vector<MpiTime> run_mpi(const StudySettings& settings, const AesCipher& cipher, uint64_t largest,
                             std::string& reason) {
  std::vector<uint64_t> sizes = settings.engine_sizes;
  std::erase_if(sizes,
                [largest](uint64_t size) { return size < least_of_mpi || size > most_of_mpi || size > largest; });
  if (!settings.run_mpi) {
    reason = "not available: " + settings.no_mpi;
  } else if (!sizes.empty()) {
    try {
      return settings.run_mpi(cipher.name, sizes);
    } catch (const std::runtime_error& failure) {
      if (settings.stop()) throw;
      reason = std::string("not available: ") + failure.what();
    }
  }
  return {};
}

StudyLine mpi_line(const AesCipher& cipher, const std::string& form, const std::vector<MpiTime>& times,
                   const std::string& reason, const StudySettings& settings) {
  StudyLine line{cipher.name, "encrypt", "mpi, " + form, "", settings.threads, 0, {}};
  for (const uint64_t size : settings.engine_sizes) {
    const auto found = std::find_if(times.begin(), times.end(),
                                    [&](const MpiTime& time) { return time.form == form && time.bytes == size; });
    if (found == times.end()) {
      const bool fits = size >= least_of_mpi && size <= most_of_mpi;
      line.cells.push_back(left_out_cell(!reason.empty() ? reason
                                         : fits          ? "not enough memory"
                                                         : "stockade-mpi bench measures 1 KiB to 1 GiB"));
      continue;
    }
    StudyCell cell;
    cell.samples = found->rounds;
    cell.seconds = found->seconds;
    cell.low = found->low;
    cell.high = found->high;
    line.cells.push_back(cell);
    line.threads = found->ranks;
  }
  return line;
}

using TableCipher = void (*)(const TableKey&, const uint8_t*, uint8_t*, uint64_t);

StudyContender table_contender(const std::string& name, TableCipher encrypt, const AesCipher& cipher,
                               StudySpace& space) {
  StudyContender made{name};
  made.slow = true;
  made.run = [encrypt, bits = cipher.bits, &space](uint64_t size) {
    encrypt(expand_table_key(space.key, bits / 8), space.in.data(), space.out.data(), size);
  };
  return made;
}

}  // namespace

void ask_engines(const StudySettings& settings, const StudyListener& listener) {
  for (const AesCipher& cipher :
       {AesCipher{"aes-128-ecb", STOCKADE_ECB, 128}, AesCipher{"aes-128-ctr", STOCKADE_CTR, 128}}) {
    StudyTable table{"s3",
                     "engines",
                     cipher.name + " encrypt, memory to memory, with the key's set-up",
                     "openssl",
                     settings.engine_sizes,
                     false,
                     {}};
    uint64_t largest = 0;
    {
      // Gone before MPI's ranks want memory of their own.
      StudySpace space(study_space_bytes(settings.engine_sizes));
      largest = space.in.size();
      std::vector<StudyContender> contenders;
      contenders.push_back(openssl_contender(cipher, space));
      contenders.push_back(engine_contender("serial", "serial", 1, cipher, space));
      contenders.push_back(engine_contender("threads", "threads", settings.threads, cipher, space));
      contenders.push_back(cuda_contender(settings, cipher, space));
      measure_contenders(table, cipher, contenders, space, settings, listener);
    }
    listener.on_point("s3: " + cipher.name + " over MPI");
    std::string reason;
    const std::vector<MpiTime> times = run_mpi(settings, cipher, largest, reason);
    for (const char* form : {"root", "distributed"}) {
      table.lines.push_back(mpi_line(cipher, form, times, reason, settings));
    }
    compare_with_yardstick(table);
    listener.on_table(table);
  }
}

void ask_tables(const StudySettings& settings, const StudyListener& listener) {
  const AesCipher cipher{"aes-128-ecb", STOCKADE_ECB, 128};
  StudySpace space(study_space_bytes(settings.table_sizes));
  StudyTable table{"s3", "tables", cipher.name + " encrypt on one core", "textbook", settings.table_sizes, false, {}};
  std::vector<StudyContender> contenders;
  contenders.push_back(openssl_contender(cipher, space));
  contenders.push_back(row_contender("textbook", "reference", cipher, space));
  contenders.back().slow = true;
  contenders.push_back(table_contender("64 KB products", encrypt_by_products, cipher, space));
  contenders.push_back(table_contender("t-tables", encrypt_by_t_tables, cipher, space));
  contenders.push_back(row_contender("aes-ni", "aesni", cipher, space));
  measure_contenders(table, cipher, contenders, space, settings, listener);
  compare_with_yardstick(table);
  listener.on_table(table);
}

}  // namespace stockade::bench
