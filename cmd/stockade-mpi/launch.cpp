#include "launch.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>

#include "stockade/stockade_mpi.h"

namespace stockade::cmd {
namespace {

std::optional<uint32_t> number_of(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr) return {};
  const std::string_view text = value;
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

bool is_open_mpi_below_5() {
  constexpr std::string_view name = "Open MPI v";
  const std::string_view library = stockade_mpi_library();
  return library.starts_with(name) && library.size() > name.size() + 1 && library[name.size()] < '5' &&
         library[name.size() + 1] == '.';
}

}  // namespace

uint32_t launched_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const auto rank = number_of(variable)) return *rank;
  }
  return 0;
}

void choose_drivers() {
  const auto all = number_of("OMPI_COMM_WORLD_SIZE"), here = number_of("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (!all || !here) return;
  constexpr const char* choices[] = {"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl", "OMPI_MCA_osc"};
  if (std::any_of(std::begin(choices), std::end(choices), is_set)) return;
  if (all == here) {
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "self,vader,tcp", 0);
  } else if (is_open_mpi_below_5()) {
    setenv("OMPI_MCA_osc", "^rdma", 0);
  }
}

void shorten_end() {
  if (!is_set("OMPI_COMM_WORLD_SIZE")) return;
  // The launcher's connection is among the first that are made.
  constexpr int likely = 64;
  for (int fd = 0; fd < likely; ++fd) {
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0 || peer.sin_family != AF_INET) continue;
    if (peer.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) continue;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
}

}  // namespace stockade::cmd
