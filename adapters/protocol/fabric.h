// What MPI libraries look for when they start, and is not there on most machines: devices by which ranks of
// several machines reach each other.
#pragma once

#include <filesystem>
#include <utility>

namespace plumb {

bool has_fabric();

// Not one that is an empty folder.
bool is_there(const std::filesystem::path&);

// Variables by which hwloc reads no devices of the PCI bus, and loads no library that would: some of these
// are linked with those of a display. Both are a good part of the start of mpiexec and of each rank.
inline constexpr std::pair<const char*, const char*> hwloc_without_devices[] = {
    {"HWLOC_COMPONENTS",   "-pci,-linuxio"},
    {"HWLOC_PLUGINS_PATH", ""             }
};

}  // namespace plumb
