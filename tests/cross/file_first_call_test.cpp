// The first call about Stockade files in a process, in which the library sets up libcrypto and reads the environment: while
// memory is short, while libcrypto refuses, and with an environment that asks for what there is not. A status, no
// exception, and no lasting harm. The program starts itself for each, for what was set up once is kept.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "cross/child_process.h"
#include "cross/failing_calls.h"
#include "cross/failing_memory.h"
#include "stockade/stockade.h"

namespace stockade::tests {
namespace {

constexpr uint8_t key[32] = {1, 2, 3};

// --- what a process may do first -----------------------------------------------------------------------------------

// An empty file for `key`, made in another process.
uint8_t sealed[4096];
uint64_t sealed_length = 0;

template <typename Call>
stockade_status with_format(const Call& call) {
  stockade_keyring* ring = nullptr;
  stockade_status status = stockade_keyring_create(&ring);
  if (status == STOCKADE_OK) status = stockade_keyring_add_key(ring, key, sizeof key);
  if (status == STOCKADE_OK) {
    stockade_format format = {};
    format.struct_size = sizeof format;
    format.keyring = ring;
    status = call(&format);
  }
  stockade_keyring_free(ring);
  return status;
}

stockade_status name_key() {
  char id[12];
  return stockade_key_id(key, sizeof key, id);
}

stockade_status make_file() {
  return with_format([](const stockade_format* format) {
    stockade_file* file = nullptr;
    const stockade_status status = stockade_file_create(&file, STOCKADE_ENCRYPT, format, nullptr);
    stockade_file_free(file);
    return status;
  });
}

stockade_status open_file() {
  return with_format([](const stockade_format* format) {
    stockade_file* file = nullptr;
    stockade_status status = stockade_file_create(&file, STOCKADE_DECRYPT, format, nullptr);
    uint8_t out[sizeof sealed];
    uint64_t length;
    if (status == STOCKADE_OK) status = stockade_file_update(file, sealed, sealed_length, out, sizeof out, &length);
    if (status == STOCKADE_OK) status = stockade_file_final(file, out, sizeof out, &length);
    stockade_file_free(file);
    return status;
  });
}

int read_sealed(void*, uint64_t offset, void* buffer, uint64_t length) {
  if (offset > sealed_length || length > sealed_length - offset) return -1;
  std::memcpy(buffer, sealed + offset, length);
  return 0;
}

stockade_status make_reader() {
  return with_format([](const stockade_format* format) {
    stockade_reader* reader = nullptr;
    const stockade_status status =
        stockade_reader_create(&reader, read_sealed, nullptr, sealed_length, format, nullptr, nullptr);
    stockade_reader_free(reader);
    return status;
  });
}

template <typename Function>
stockade_status run_job(const Function& function) {
  return with_format([&](const stockade_format* format) {
    stockade_file_job job = {};
    job.struct_size = sizeof job;
    int ends[2];
    if (pipe(ends) != 0) return STOCKADE_ERROR_IO;
    // It fits into the pipe.
    const bool written = write(ends[1], sealed, sealed_length) == static_cast<ssize_t>(sealed_length);
    close(ends[1]);
    const stockade_status status = written ? function(ends[0], format, &job) : STOCKADE_ERROR_IO;
    close(ends[0]);
    return status == job.fault.status ? status : STOCKADE_ERROR_ARGUMENT;
  });
}

stockade_status verify_job() {
  return run_job([](int in, const stockade_format* format, stockade_file_job* job) {
    return stockade_file_verify_fd(in, format, job, nullptr);
  });
}

template <typename Function>
stockade_status run_into_a_pipe(const Function& function) {
  int ends[2];
  if (pipe(ends) != 0) return STOCKADE_ERROR_IO;
  const stockade_status status = function(ends[1]);
  close(ends[0]);
  close(ends[1]);
  return status;
}

stockade_status encrypt_job() {
  return run_into_a_pipe([](int out) {
    return run_job([out](int in, const stockade_format* format, stockade_file_job* job) {
      return stockade_file_encrypt_fd(in, out, format, job, nullptr);
    });
  });
}

stockade_status decrypt_job() {
  return run_into_a_pipe([](int out) {
    return run_job([out](int in, const stockade_format* format, stockade_file_job* job) {
      return stockade_file_decrypt_fd(in, out, format, job, nullptr);
    });
  });
}

stockade_status run_items() {
  return stockade_for_each(
      2, [](void*, uint64_t) { return 0; }, nullptr, nullptr);
}

using Call = stockade_status (*)();
struct NamedCall {
  const char* name;
  Call call;
};
constexpr NamedCall calls[] = {{"stockade_key_id", name_key},
                               {"stockade_file_create, to make one", make_file},
                               {"stockade_file_create, to open one", open_file},
                               {"stockade_reader_create", make_reader},
                               {"stockade_file_encrypt_fd", encrypt_job},
                               {"stockade_file_decrypt_fd", decrypt_job},
                               {"stockade_file_verify_fd", verify_job},
                               {"stockade_for_each", run_items}};
// What the calls have in common that look at the engine and the rows that the environment asks for.
bool uses_engine(const NamedCall& call) { return call.call != name_key; }
bool uses_rows(const NamedCall& call) { return uses_engine(call) && call.call != run_items; }

// The status of a call, or -1 for an exception, which a C caller could not survive.
int outcome(Call call) {
  try {
    return call();
  } catch (...) {
    return -1;
  }
}

// --- in a process of its own ---------------------------------------------------------------------------------------

// Makes the first call of libcrypto fail and all behind it, then the first two succeed, ...; or the allocations.
template <typename Shortage>
int try_short(const NamedCall& subject, const Shortage& shortage) {
  int failures = 0;
  for (uint64_t successes = 0; successes < 20000; ++successes) {
    const auto [status, refused] = shortage(subject.call, successes);
    const bool said = status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_LIBRARY;
    failures += said;
    if (refused == 0) break;
    if (!said && status != STOCKADE_OK) {
      std::printf("%d after %llu successes, ", status, static_cast<unsigned long long>(successes));
      return 1;
    }
  }
  std::printf("%d failures", failures);
  return outcome(subject.call) == STOCKADE_OK ? 0 : 1;
}

struct Attempt {
  int status;
  uint64_t refused;
};
Attempt short_of_memory(Call call, uint64_t successes) {
  const FailingMemory memory(successes);
  const int status = outcome(call);
  return {status, memory.refused()};
}
Attempt refused_by_libcrypto(Call call, uint64_t successes) {
  const FailingCalls failing(Failing::library, successes);
  const int status = outcome(call);
  return {status, failing.refused()};
}

int answer(const NamedCall& subject) {
  std::printf("%s", stockade_status_name(subject.call()));
  return 0;
}

// What this program does when it is started by itself: a mode, a call, an armored file.
int play(const std::string& mode, const char* name, const char* armored) {
  const stockade_status status =
      stockade_armor_decode(armored, std::strlen(armored), 1, sealed, sizeof sealed, &sealed_length, nullptr);
  if (status != STOCKADE_OK) return 2;
  for (const NamedCall& each : calls) {
    if (std::strcmp(each.name, name) != 0) continue;
    if (mode == "memory") return try_short(each, short_of_memory);
    if (mode == "libcrypto") return try_short(each, refused_by_libcrypto);
    return answer(each);
  }
  return 2;
}

// --- and what is expected of it ------------------------------------------------------------------------------------

class FirstFile : public testing::Test {
 protected:
  FirstFile() {
    stockade_keyring* ring = nullptr;
    EXPECT_EQ(stockade_keyring_create(&ring), STOCKADE_OK);
    EXPECT_EQ(stockade_keyring_add_key(ring, key, sizeof key), STOCKADE_OK);
    stockade_format format = {};
    format.struct_size = sizeof format;
    format.keyring = ring;
    format.armor = 1;
    stockade_file* file = nullptr;
    EXPECT_EQ(stockade_file_create(&file, STOCKADE_ENCRYPT, &format, nullptr), STOCKADE_OK);
    armored_.resize(stockade_file_bound(file, 0));
    uint64_t length = 0;
    EXPECT_EQ(stockade_file_final(file, armored_.data(), armored_.size(), &length), STOCKADE_OK);
    armored_.resize(length);
    stockade_file_free(file);
    stockade_keyring_free(ring);
  }
  std::string ask(const char* mode, const NamedCall& call, const std::map<std::string, std::string>& variables = {}) {
    const Finished child = run_program({"/proc/self/exe", mode, call.name, armored_}, variables);
    EXPECT_EQ(child.exit_status, 0) << call.name << ": " << child.output;
    return child.output;
  }
  // The number that a child prints.
  int count_failures(const char* mode, const NamedCall& call) { return std::atoi(ask(mode, call).c_str()); }

  std::string armored_;
};

TEST_F(FirstFile, survives_a_libcrypto_that_refuses) {
  // A context, its provider, seven digests, a MAC, a KDF and a cipher come before everything else.
  for (const NamedCall& call : calls) {
    if (call.call == run_items) continue;
    EXPECT_GE(count_failures("libcrypto", call), 12) << call.name;
  }
}

TEST_F(FirstFile, survives_a_lack_of_memory) {
  ASSERT_TRUE(libcrypto_counts());
  for (const NamedCall& call : calls) {
    const int failures = count_failures("memory", call);
    EXPECT_EQ(failures != 0, call.call != run_items) << call.name;
  }
}

TEST_F(FirstFile, refuses_a_bad_environment) {
  const std::map<std::string, std::string> environments[] = {
      {{"STOCKADE_FORCE", "engine:none"}}, {{"STOCKADE_FORCE", "gcm:none"}}, {{"STOCKADE_FORCE", "nonsense"}},
      {{"STOCKADE_THREADS", "many"}},      {{"STOCKADE_THREADS", "0"}},      {{"STOCKADE_THREADS", "5000"}},
      {{"STOCKADE_MASK", "nonsense"}},
  };
  for (const NamedCall& call : calls) {
    EXPECT_EQ(ask("answer", call), "STOCKADE_OK") << call.name;
    for (const auto& variables : environments) {
      const auto& [name, value] = *variables.begin();
      const char* const status = name == "STOCKADE_THREADS" ? "STOCKADE_ERROR_ARGUMENT" : "STOCKADE_ERROR_UNKNOWN_NAME";
      EXPECT_EQ(ask("answer", call, variables), uses_engine(call) ? status : "STOCKADE_OK")
          << call.name << " with " << name << "=" << value;
    }
  }
}

#if defined(__x86_64__)
TEST_F(FirstFile, refuses_a_row_that_the_processor_lacks) {
  for (const NamedCall& call : calls) {
    const std::string answer =
        ask("answer", call, {{"STOCKADE_FORCE", "gcm:vaes512"}, {"STOCKADE_MASK", "vaes,avx512"}});
    EXPECT_EQ(answer, uses_rows(call) ? "STOCKADE_ERROR_UNAVAILABLE" : "STOCKADE_OK") << call.name;
  }
}
#endif

}  // namespace
}  // namespace stockade::tests

// Not that of the other programs, which begins with a call of the library.
int main(int argc, char** argv) {
  using namespace stockade::tests;  // NOLINT(google-build-using-namespace): what this program is about
  if (argc == 4 && argv[1][0] != '-') {
    const int status = play(argv[1], argv[2], argv[3]);
    std::fflush(nullptr);
    // Without what comes at the end of a process: libcrypto loses some memory where it is refused some, and checkers of
    // leaks would have it that this is a failure.
    _exit(status);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
