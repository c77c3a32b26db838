#include "adapters/mpi/transports.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace plumb::mpi {
namespace {

using Variables = std::map<std::string, std::string>;

Surroundings with(const std::string& library, const Variables& variables) {
  return {library, [=](const char* name) {
            const auto at = variables.find(name);
            return at == variables.end() ? nullptr : at->second.c_str();
          }};
}

const Variables here{
    {"OMPI_COMM_WORLD_SIZE",       "8"},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}
};
const std::string four = "Open MPI v4.1.4";

Variables here_and(const std::string& name, const std::string& value) {
  Variables all = here;
  all[name] = value;
  return all;
}

TEST(Transports, OnOneMachineAreThoseOfMemory) {
  EXPECT_EQ(transports(with(four, here)), (Variables{
                                              {"HWLOC_COMPONENTS",   "-pci,-linuxio"},
                                              {"HWLOC_PLUGINS_PATH", ""             },
                                              {"OMPI_MCA_btl",       "self,vader"   },
                                              {"OMPI_MCA_pml",       "ob1"          }
  }));
  EXPECT_EQ(transports(with("Open MPI v5.0.11", here)).at("OMPI_MCA_btl"), "self,sm");
}

TEST(Transports, DevicesOfTheBusAreLookedForWhereSomebodySaysSo) {
  for (const char* name : {"HWLOC_COMPONENTS", "HWLOC_PLUGINS_PATH"})
    EXPECT_FALSE(transports(with(four, here_and(name, "x"))).contains(name));
  EXPECT_TRUE(
      transports(with(four, here_and("HWLOC_COMPONENTS", "-pci,-linuxio"))).contains("HWLOC_COMPONENTS"))
      << "as plumb-launch sets it";
}

TEST(Transports, AreLeftToTheLibraryWhereTheyCouldBeOthers) {
  for (const char* library : {"Open MPI v3.1.3", "Open MPI v6.0.0", "MPICH Version: 5.0.2", ""})
    EXPECT_TRUE(transports(with(library, here)).empty()) << library;
  EXPECT_TRUE(transports(with(four, {})).empty()) << "started by somebody else";
  EXPECT_TRUE(transports(with(four, here_and("OMPI_COMM_WORLD_LOCAL_SIZE", "4"))).empty());
  for (const char* chosen : {"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl", "OMPI_MCA_mca_base_param_files"})
    EXPECT_TRUE(transports(with(four, here_and(chosen, "^ucx"))).empty()) << chosen;
  Surroundings s = with(four, here);
  s.fabric = true;
  EXPECT_TRUE(transports(s).empty());
  s.fabric = false, s.file = true;
  EXPECT_TRUE(transports(s).empty());
}

// Two ends of a connection by TCP on this machine.
struct Connection {
  int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
      near = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int far = -1;
  Connection() {
    sockaddr_in own{};
    own.sin_family = AF_INET, own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    auto* at = reinterpret_cast<sockaddr*>(&own);
    EXPECT_EQ(::bind(listener, at, size) | ::listen(listener, 1) | ::getsockname(listener, at, &size), 0);
    EXPECT_EQ(::connect(near, at, size), 0);
    far = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  }
  ~Connection() {
    for (int end : {listener, near, far}) ::close(end);
  }
};

bool sends_at_once(int socket) {
  int on = 0;
  socklen_t size = sizeof on;
  EXPECT_EQ(::getsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
  return on != 0;
}

TEST(Transports, WhatIsConnectedSendsShortLinesAtOnce) {
  const Connection connection;
  EXPECT_FALSE(sends_at_once(connection.near));
  send_at_once();
  EXPECT_TRUE(sends_at_once(connection.near));
  EXPECT_TRUE(sends_at_once(connection.far));
}

}  // namespace
}  // namespace plumb::mpi
