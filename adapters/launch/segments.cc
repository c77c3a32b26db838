#include "adapters/launch/segments.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "adapters/launch/job.h"

namespace plumb::launch {
namespace {

// Whose they are is not known.
std::set<std::string> young(const Segments& segments) {
  std::set<std::string> all;
  struct stat about = {};
  for (const std::string& path : entries_of("/dev/shm"))
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

}  // namespace

// To look takes at most a tenth of the time.
void look_for_segments(Segments& segments, const std::vector<pid_t>& processes) {
  constexpr std::chrono::milliseconds shortest{10};
  const auto begun = std::chrono::steady_clock::now();
  const std::set<std::string> of_somebody = young(segments);
  for (const pid_t pid : of_somebody.empty() ? std::vector<pid_t>() : processes) {
    for (const std::string& path : held_by(pid))
      if (of_somebody.contains(path)) segments.files.insert(path);
  }
  const auto now = std::chrono::steady_clock::now();
  segments.again = now + std::max<std::chrono::steady_clock::duration>(shortest, 9 * (now - begun));
}

void remove_segments(Segments& segments) {
  for (const std::string& path : segments.files) ::unlink(path.c_str());
  segments = {};
}

}  // namespace plumb::launch
