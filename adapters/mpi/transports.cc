#include "adapters/mpi/transports.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "adapters/protocol/fabric.h"

namespace plumb::mpi {
namespace {

// The one of memory that ranks share was renamed.
const char* shared_memory(std::string_view version) {
  if (version.starts_with("Open MPI v4.")) return "self,vader";
  if (version.starts_with("Open MPI v5.")) return "self,sm";
  return nullptr;
}

}  // namespace

Surroundings surroundings(const std::string& library) {
  Surroundings all{library, [](const char* name) { return std::getenv(name); }, has_fabric()};
  const char* home = std::getenv("HOME");
  all.file = home && is_there(std::filesystem::path(home) / ".openmpi/mca-params.conf");
  return all;
}

void send_at_once() {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir("/proc/self/fd"), ::closedir);
  while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
    const int file = std::atoi(entry->d_name), on = 1;  // of . and .. 0, which is no socket
    sockaddr_storage other{};
    socklen_t size = sizeof other;
    if (::getpeername(file, reinterpret_cast<sockaddr*>(&other), &size) != 0) continue;
    if (other.ss_family == AF_INET || other.ss_family == AF_INET6)
      ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
}

std::map<std::string, std::string> transports(const Surroundings& s) {
  const char* memory = shared_memory(s.library);
  const char *all = s.variable("OMPI_COMM_WORLD_SIZE"), *here = s.variable("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (!memory || s.fabric || s.file || !all || !here || std::string_view(all) != here) return {};
  for (const char* chosen : {"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl", "OMPI_MCA_mca_base_param_files"})
    if (s.variable(chosen)) return {};
  std::map<std::string, std::string> chosen{
      {"OMPI_MCA_btl", memory},
      {"OMPI_MCA_pml", "ob1" }
  };
  for (const auto& [name, value] : hwloc_without_devices)  // plumb-launch may have set them
    if (const char* set = s.variable(name); !set || std::string_view(set) == value) chosen[name] = value;
  return chosen;
}

}  // namespace plumb::mpi
