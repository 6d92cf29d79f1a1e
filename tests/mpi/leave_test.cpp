// How ranks leave a job whose MPI_Finalize may never return: which library that is, and what is said to the launcher.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mpi/finalize.h"

namespace stockade::tests {
namespace {

using mpi::Launcher;
using mpi::may_never_finalise;

std::string mpich(const std::string& version, const std::string& device, const std::string& configured) {
  return "MPICH Version:\t" + version + "\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\nMPICH Device:\t" +
         device + "\nMPICH configure:\t" + configured + "\n";
}

TEST(Leave, knows_the_libraries_that_may_wait_forever) {
  for (const char* version : {"3.3", "3.4.3", "4.0.2", "4.0", "4.1.2", "4.1rc1"}) {
    EXPECT_TRUE(may_never_finalise(mpich(version, "ch4:ucx", "--with-device=ch4:ucx --with-pm=hydra"))) << version;
    EXPECT_FALSE(may_never_finalise(mpich(version, "ch4:ofi", "--with-pm=hydra"))) << version;
    EXPECT_FALSE(may_never_finalise(mpich(version, "ch4:ucx", "--with-pmi=pmi2"))) << version;
  }
  for (const char* version : {"4.2.0", "4.10", "5.0", "10.0"}) {
    EXPECT_FALSE(may_never_finalise(mpich(version, "ch4:ucx", "--with-pm=hydra"))) << version;
  }
  EXPECT_FALSE(may_never_finalise("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"));
  EXPECT_FALSE(may_never_finalise("MPICH Version:\t"));
  EXPECT_FALSE(may_never_finalise(""));
}

TEST(Leave, finds_a_launcher_only_behind_a_socket) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const std::string number = std::to_string(fileno(file));
  for (const char* text : {"", "x", "-1", "1x", "1 ", "1000000", "99999999999999999999", number.c_str()}) {
    EXPECT_FALSE(Launcher(text).there()) << text;
    EXPECT_FALSE(Launcher(text).take_leave()) << text;
    EXPECT_FALSE(Launcher(text).meet([] {})) << text;
  }
  EXPECT_FALSE(Launcher(nullptr).there());
  std::fclose(file);
}

// A launcher that hears one line and answers, bit by bit.
class Conversation {
 public:
  explicit Conversation(const std::vector<std::string>& answer) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0) throw std::runtime_error("no sockets");
    thread_ = std::thread([this, answer] {
      for (char byte = 0; byte != '\n' && read(ends_[1], &byte, 1) == 1;) heard_ += byte;
      for (const std::string& part : answer) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (write(ends_[1], part.data(), part.size()) < 0) return;
      }
      shutdown(ends_[1], SHUT_RDWR);
    });
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation() {
    if (thread_.joinable()) thread_.join();
    close(ends_[0]);
    close(ends_[1]);
  }

  std::string descriptor() const { return std::to_string(ends_[0]); }
  std::string heard() {
    thread_.join();
    return heard_;
  }

 private:
  int ends_[2] = {-1, -1};
  std::string heard_;
  std::thread thread_;
};

TEST(Leave, meets_the_others_and_goes_on_meanwhile) {
  const std::vector<std::vector<std::string>> answers = {{"cmd=barrier_out\n"}, {"cmd=barr", "ier_out rc=0\n"}};
  for (const auto& answer : answers) {
    Conversation conversation(answer);
    int calls = 0;
    EXPECT_TRUE(Launcher(conversation.descriptor().c_str()).meet([&] { ++calls; }));
    EXPECT_GE(calls, 1);
    EXPECT_EQ(conversation.heard(), "cmd=barrier_in\n");
  }
  Conversation conversation({"cmd=finalize_ack\n"});
  EXPECT_TRUE(Launcher(conversation.descriptor().c_str()).take_leave());
  EXPECT_EQ(conversation.heard(), "cmd=finalize\n");
}

TEST(Leave, takes_no_other_answer) {
  const std::vector<std::vector<std::string>> answers = {
      {}, {"cmd=barrier_out"}, {"cmd=barrier_outer\n"}, {"cmd=finalize_ack\n"}, {"\n"}, {std::string(1000, 'x')}};
  for (const auto& answer : answers) {
    Conversation conversation(answer);
    EXPECT_FALSE(Launcher(conversation.descriptor().c_str()).meet([] {}));
  }
}

}  // namespace
}  // namespace stockade::tests
