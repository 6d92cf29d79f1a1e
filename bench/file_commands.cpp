// What a command costs beside its bytes: one tiny file, and many small ones.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "aes.h"
#include "file_questions.h"
#include "runner.h"

namespace stockade::bench {
namespace {

constexpr size_t tiny_bytes = 100, small_bytes = 4096;

FileContender process(const FileSettings& settings, const std::string& name, uint32_t threads, uint64_t bytes,
                      const ProcessCall& call, const std::function<void()>& clear) {
  FileContender contender;
  contender.line.contender = name;
  contender.line.threads = threads;
  contender.line.bytes = bytes;
  contender.turn = [&settings, call, clear] {
    clear();
    return run_process(call, settings.stop);
  };
  return contender;
}

// The folder of the small files. Names are short, because all of them stand on one command line.
class SmallFiles {
 public:
  SmallFiles(const FileSettings& settings, uint64_t count) : folder(settings.folder + "/many"), count_(count) {
    if (mkdir(folder.c_str(), 0700) != 0) throw std::runtime_error("cannot make '" + folder + "'");
    std::vector<uint8_t> content(small_bytes);
    for (uint64_t i = 0; i < count; ++i) {
      fill(content.data(), content.size(), i);
      write_file(folder + "/" + name(i), content.data(), content.size());
    }
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (uint64_t i = 0; i < count_; ++i) all.push_back(name(i));
    return all;
  }
  // The first of them, as a pattern for the shell: `count` is a power of ten.
  std::string pattern(uint64_t count) const {
    std::string digits(5, '?');
    for (uint64_t rest = 100000 / count, i = 0; rest > 1; rest /= 10) digits[i++] = '0';
    return digits;
  }
  // Removes what has been made of them, and returns how many that were.
  uint64_t clear() const {
    uint64_t removed = 0;
    for (uint64_t i = 0; i < count_; ++i) {
      for (const char* suffix : {".stk", ".enc"}) removed += unlink((folder + "/" + name(i) + suffix).c_str()) == 0;
    }
    return removed;
  }

  const std::string folder;

 private:
  static std::string name(uint64_t i) {
    const std::string digits = std::to_string(i);
    return std::string(5 - digits.size(), '0') + digits;
  }
  uint64_t count_;
};

// A shell that starts one command for each of some files; scaled up to all of them.
FileContender loop(const FileSettings& settings, const SmallFiles& files, const std::string& name, uint64_t count,
                   uint64_t sampled, const std::string& command, std::vector<std::string> words) {
  words.insert(words.begin(),
               {"/bin/sh", "-c", "for f in " + files.pattern(sampled) + "; do " + command + " || exit 1; done", "sh"});
  FileContender contender =
      process(settings, name, 1, count * small_bytes, {words, files.folder}, [&files] { files.clear(); });
  contender.scale = static_cast<double>(count) / static_cast<double>(sampled);
  contender.line.sampled = sampled;
  return contender;
}

}  // namespace

void ask_start(const FileSettings& settings, const OnTurn& on_turn, const OnPoint& on_point) {
  const std::string in = settings.folder + "/tiny", out = settings.folder + "/tiny.out";
  std::vector<uint8_t> content(tiny_bytes);
  fill(content.data(), content.size(), 1);
  write_file(in, content.data(), content.size());
  const auto clear = [out] { unlink(out.c_str()); };
  FilePoint point;
  point.question = "start";
  point.name = "100 bytes";
  point.detail = "from start to exit; sh: a process that does nothing";
  point.yardsticks = {{"openssl", false}};
  std::vector<FileContender> contenders;
  contenders.push_back(process(settings, "sh", 1, 0, {{"/bin/sh", "-c", ":"}}, clear));
  contenders.push_back(process(settings, "stockade", settings.threads, 0,
                               {{settings.program, "encrypt", "-k", key_file(settings), "-o", out, in}}, clear));
  const std::string openssl = find_program("openssl");
  contenders.push_back(openssl.empty() ? left_out("openssl", not_installed)
                                       : process(settings, "openssl", 1, 0, {openssl_words(openssl, in, out)}, clear));
  const std::optional<AgeKey> age = age_key(settings);
  contenders.push_back(
      age ? process(settings, "age", 1, 0, {{age->program, "-r", age->recipient, "-o", out, in}}, clear)
          : left_out("age", not_installed));
  FileSettings many_turns = settings;
  many_turns.rounds = settings.quick ? 20 : 200;
  take_turns(point, contenders, many_turns, on_turn);
  on_point(point);
}

void ask_many(const FileSettings& settings, const OnTurn& on_turn, const OnPoint& on_point) {
  const uint64_t count = settings.quick ? 1000 : 10'000, sampled = settings.quick ? 100 : 1000;
  on_turn("small files to work on");
  const SmallFiles files(settings, count);
  FilePoint point;
  point.question = "many";
  point.name = std::to_string(count) + " files of 4 KiB";
  point.detail =
      "loop: a shell starts a command for each of " + std::to_string(sampled) + " files; its time is scaled up to all";
  point.files = count;
  point.yardsticks = {{"stockade, loop", false}};
  const auto clear = [&files] { files.clear(); };
  const auto command = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words{settings.program, "encrypt", "-q", "-k", key_file(settings)};
    words.insert(words.end(), options.begin(), options.end());
    const auto names = files.names();
    words.insert(words.end(), names.begin(), names.end());
    return ProcessCall{words, files.folder};
  };
  std::vector<FileContender> contenders;
  contenders.push_back(loop(settings, files, "stockade, loop", count, sampled, R"("$1" encrypt -k "$2" $f)",
                            {settings.program, key_file(settings)}));
  contenders.push_back(process(settings, "stockade, one command", 1, count * small_bytes, command({"-T", "1"}), clear));
  if (settings.threads > 1) {
    contenders.push_back(
        process(settings, "stockade, one command", settings.threads, count * small_bytes, command({}), clear));
  }
  const std::string openssl = find_program("openssl");
  contenders.push_back(openssl.empty() ? left_out("openssl, loop", not_installed)
                                       : loop(settings, files, "openssl, loop", count, sampled,
                                              R"("$@" -in $f -out $f.enc)", openssl_words(openssl, {}, {})));
  run_process(command({}), settings.stop);
  if (files.clear() != count) throw Mismatch("one command did not encrypt all of the files");
  take_turns(point, contenders, settings, on_turn);
  on_point(point);
}

}  // namespace stockade::bench
