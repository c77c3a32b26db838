#include "adapters/launch/segments.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

namespace plumb::launch {

std::vector<std::string> segments_of(const std::vector<pid_t>& ranks, time_t since) {
  std::set<std::string> mapped;
  for (pid_t pid : ranks) {
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    for (std::string line; std::getline(maps, line);)
      if (const std::size_t at = line.find("/dev/shm/"); at != line.npos) mapped.insert(line.substr(at));
  }
  std::vector<std::string> young;
  struct stat about = {};
  for (const std::string& path : mapped)
    if (::stat(path.c_str(), &about) == 0 && about.st_ctime >= since) young.push_back(path);
  return young;
}

}  // namespace plumb::launch
