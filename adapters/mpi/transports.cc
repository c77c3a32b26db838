#include "adapters/mpi/transports.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

namespace plumb::mpi {
namespace {

// Where devices of fabrics are listed: InfiniBand, RoCE, EFA and Omni-Path; Slingshot; InfiniPath.
constexpr const char* fabrics[] = {"/sys/class/infiniband", "/sys/class/cxi", "/dev/ipath"};

// By which hwloc looks for no devices, and loads no library that would: some are linked with those of a
// display.
constexpr std::pair<const char*, const char*> without_devices[] = {
    {"HWLOC_COMPONENTS",   "-pci,-linuxio"},
    {"HWLOC_PLUGINS_PATH", ""             }
};

bool is_there(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::exists(path, none) &&
         (!std::filesystem::is_directory(path, none) || !std::filesystem::is_empty(path, none));
}

// The one of memory that ranks share was renamed.
const char* shared_memory(std::string_view version) {
  if (version.starts_with("Open MPI v4.")) return "self,vader";
  if (version.starts_with("Open MPI v5.")) return "self,sm";
  return nullptr;
}

}  // namespace

Surroundings surroundings(const std::string& library) {
  Surroundings all{library, [](const char* name) { return std::getenv(name); }};
  for (const char* one : fabrics) all.fabric |= is_there(one);
  const char* home = std::getenv("HOME");
  all.file = home && is_there(std::filesystem::path(home) / ".openmpi/mca-params.conf");
  return all;
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
  for (const auto& [name, value] : without_devices)
    if (!s.variable(name)) chosen[name] = value;
  return chosen;
}

}  // namespace plumb::mpi
