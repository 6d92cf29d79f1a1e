// Stockade files against the best that there is: `stockade bench file`. Axes: question, contender, threads. The questions
// are those of file_questions; each has points, and each point has contenders that take turns.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "process.h"

namespace stockade::bench {

// memory: the payload without a file, against the raw cipher. files: encrypting, decrypting and verifying a large file,
// against the same reads and writes without a cipher. start: a file so small that only the start of the program counts.
// range: a part of the large file against all of it. many: small files, by one command and by one command each.
inline constexpr std::array<const char*, 5> file_questions = {"memory", "files", "start", "range", "many"};

struct FileSettings {
  std::vector<std::string> questions;
  std::string folder;    // the large file and its copies; removed by the caller
  uint64_t size = 0;     // of the large file
  uint32_t rounds = 0;   // turns of each contender, of which the median counts
  uint32_t threads = 1;  // of the default engine
  bool quick = false;
  std::string program;  // the stockade command
  std::string python;   // with cryptography.cobblestone; empty: none
  // Asked during long work; true ends it with an exception.
  Stop stop;
};

struct FileLine {
  std::string contender;
  uint32_t threads = 1;
  std::string reason;                     // why there is no figure; the rest is then 0
  uint64_t bytes = 0;                     // of plaintext in a turn; 0 where the point is not about bytes
  double seconds = 0, low = 0, high = 0;  // of a turn: the median, the fastest, the slowest
  double cpu_seconds = 0;                 // of all cores, the median of the turns
  uint64_t sampled = 0;                   // many: files in a turn, where the figures are scaled up from fewer than all
  std::vector<double> ratios;             // speed over that of each yardstick of the point; 0 where there is none
};

// Another line that lines are compared with. With `same_threads` it is the line of that contender with as many threads.
struct Yardstick {
  std::string contender;
  bool same_threads = false;
};

struct FilePoint {
  std::string question, name;
  std::string detail;  // what the contenders do, in a few words
  uint64_t files = 1;
  std::vector<Yardstick> yardsticks;
  std::vector<FileLine> lines;
};

// Bytes that the files of such a run take at the same time.
uint64_t file_space(const FileSettings& settings);

// A Python that has cryptography.cobblestone: `wanted` if it is not empty, else build/venv of the checkout that `program`
// was built in, else python3. Empty where none has it.
std::string find_python(const std::string& wanted, const std::string& program);

// The other programs and their versions, or "not installed".
struct FilePeer {
  std::string name, version;
};
std::vector<FilePeer> file_peers(const FileSettings& settings);

// `on_turn` hears what is about to be measured and may throw to stop; `on_point` gets each point as it is complete. Throws
// Mismatch (aes.h) where a contender's output is wrong, std::runtime_error where something fails.
void run_file(const FileSettings& settings, const std::function<void(const std::string&)>& on_turn,
              const std::function<void(const FilePoint&)>& on_point);

}  // namespace stockade::bench
