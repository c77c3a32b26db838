#include "adapters/launch/segments.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "adapters/launch/job.h"

namespace plumb::launch {
namespace {

// Whose they are is not known.
std::set<std::string> young(const Segments& segments, const std::string& folder = "/dev/shm") {
  std::set<std::string> all;
  struct stat about = {};
  for (const std::string& path : entries_of(folder))
    if (!segments.files.contains(path) && ::stat(path.c_str(), &about) == 0 &&
        about.st_ctime >= segments.since)
      all.insert(path);
  return all;
}

// What of /dev/shm a process has open, or mapped.
std::vector<std::string> held_by(pid_t pid) {
  std::vector<std::string> all;
  std::error_code none;
  for (const std::string& file : entries_of(fmt::format("/proc/{}/fd", pid)))
    if (const std::string path = std::filesystem::read_symlink(file, none); path.starts_with("/dev/shm/"))
      all.push_back(path);
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);)
    if (const std::size_t at = line.find("/dev/shm/"); at != line.npos) all.push_back(line.substr(at));
  return all;
}

constexpr std::string_view kinds[] = {"mpich_shm_", "mpich_vci_"};

std::string this_host() {
  utsname here{};
  return ::uname(&here) == 0 ? here.nodename : "";
}

// The HASH of mpich_shm_HASH_NODE, or "".
std::string hash_in(const std::string& name) {
  const auto kind = std::ranges::find_if(kinds, [&](std::string_view k) { return name.starts_with(k); });
  const std::size_t bar = name.find_last_of('_');
  if (kind == std::end(kinds) || bar < kind->size() || bar + 1 == name.size() ||
      name.find_first_not_of("0123456789", bar + 1) != name.npos)
    return "";
  return name.substr(kind->size(), bar - kind->size());
}

int first_random_of(time_t seed) {
  ::srand(static_cast<unsigned>(seed));
  return ::rand();
}

// FNV-1a, of the name that Hydra's mpiexec gives its first job.
std::string hash_of(pid_t mpiexec, int random, const std::string& host) {
  std::uint32_t hash = 2166136261u;
  for (const char c : fmt::format("kvs_{}_0_{}_{}", mpiexec, random, host))
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return fmt::format("{:x}", hash);
}

// Whether one of its processes is the mpiexec whose ranks share what has this name, made at this time. It
// takes its name before it starts them, and nobody waits longer for that than this.
bool is_by_name(const Segments& segments, const std::string& name, time_t made) {
  constexpr time_t longest = 600;
  const std::string hash = hash_in(name), host = this_host();
  const time_t last = hash.empty() ? 0 : std::min(made, segments.since + longest);
  for (time_t second = segments.since; second <= last; ++second) {
    const int random = first_random_of(second);
    for (const pid_t pid : segments.processes)
      if (hash_of(pid, random, host) == hash) return true;
  }
  return false;
}

}  // namespace

std::string hash_of_mpich(pid_t mpiexec, time_t second, const std::string& host) {
  return hash_of(mpiexec, first_random_of(second), host);
}

// To look takes at most a tenth of the time.
void look_for_segments(Segments& segments, const std::vector<pid_t>& processes) {
  constexpr std::chrono::milliseconds shortest{10};
  const auto begun = std::chrono::steady_clock::now();
  segments.processes.insert(processes.begin(), processes.end());
  const std::set<std::string> of_somebody = young(segments);
  for (const pid_t pid : of_somebody.empty() ? std::vector<pid_t>() : processes) {
    for (const std::string& path : held_by(pid))
      if (of_somebody.contains(path)) segments.files.insert(path);
  }
  const auto now = std::chrono::steady_clock::now();
  segments.again = now + std::max<std::chrono::steady_clock::duration>(shortest, 9 * (now - begun));
}

// A few seconds may go by before it takes its name. Where all ranks are on one machine it is node 0.
void name_segments(Segments& segments, const std::string& file) {
  constexpr time_t late = 10;
  std::ofstream out(segments.named = file);
  for (time_t second = segments.since; second <= segments.since + late; ++second)
    for (const pid_t pid : segments.processes)
      for (const std::string_view kind : kinds)
        out << "/dev/shm/" << kind << hash_of_mpich(pid, second, this_host()) << "_0\n";
}

void remove_segments(Segments& segments, const std::string& folder) {
  struct stat about = {};
  for (const std::string& path : young(segments, folder))
    if (::stat(path.c_str(), &about) == 0 && about.st_uid == ::geteuid() &&
        is_by_name(segments, std::filesystem::path(path).filename(), about.st_ctime))
      segments.files.insert(path);
  for (const std::string& path : segments.files) ::unlink(path.c_str());
  if (!segments.named.empty()) ::unlink(segments.named.c_str());
  segments = {};
}

}  // namespace plumb::launch
