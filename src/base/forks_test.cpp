#include "base/forks.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/without_throwing.h"

namespace stockade {
namespace {

TEST(ProcessNumber, differs_from_that_of_the_parent_and_of_its_parent) {
  const uint64_t own = process_number();
  EXPECT_EQ(process_number(), own);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const uint64_t of_child = process_number();
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(process_number() != of_child && process_number() != own ? 0 : 1);
    int status = 1;
    waitpid(grandchild, &status, 0);
    _exit(of_child != own && status == 0 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(process_number(), own);
}

// As _Fork() does: no handlers run.
TEST(ProcessNumber, differs_where_the_c_library_did_not_make_the_process) {
  const uint64_t own = process_number();
  const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  ASSERT_GE(child, 0);
  if (child == 0) _exit(process_number() != own ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(static_cast<pid_t>(child), &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(process_number(), own);
}

TEST(WithoutThrowing, gives_a_status_for_whatever_is_thrown) {
  EXPECT_EQ(without_throwing([] { return STOCKADE_ERROR_CHUNK; }), STOCKADE_ERROR_CHUNK);
  EXPECT_EQ(without_throwing([]() -> Status { throw std::bad_alloc(); }), STOCKADE_ERROR_MEMORY);
  EXPECT_EQ(without_throwing([]() -> Status { throw std::bad_array_new_length(); }), STOCKADE_ERROR_MEMORY);
  EXPECT_EQ(without_throwing([]() -> Status { throw std::length_error(""); }), STOCKADE_ERROR_MEMORY);
  EXPECT_EQ(without_throwing([]() -> Status { throw std::system_error(std::error_code()); }), STOCKADE_ERROR_MEMORY);
  EXPECT_EQ(without_throwing([]() -> Status { throw std::runtime_error(""); }), STOCKADE_ERROR_CANCELLED);
  EXPECT_EQ(without_throwing([]() -> Status { throw 1; }), STOCKADE_ERROR_CANCELLED);
}

}  // namespace
}  // namespace stockade
