#include "harness/record/environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "adapters/protocol/json.h"
#include "harness/record/revision.h"

namespace plumb {
namespace {

// What stands behind the first `key` of a file of "key : value" or key="value" lines.
std::string value_in(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of("\t :=\"", key.size());
    if (begin == line.npos) return {};
    return line.substr(begin, line.find_last_not_of("\" ") - begin + 1);
  }
  return {};
}

}  // namespace

std::string scheduling() {
  const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  sched_param real_time{};
  ::sched_getparam(0, &real_time);
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  switch (policy) {
    case SCHED_OTHER:
      return fmt::format("SCHED_OTHER, nice {}", nice);
    case SCHED_BATCH:
      return fmt::format("SCHED_BATCH, nice {}", nice);
    case SCHED_IDLE:
      return "SCHED_IDLE";
    case SCHED_FIFO:
      return fmt::format("SCHED_FIFO, priority {}", real_time.sched_priority);
    case SCHED_RR:
      return fmt::format("SCHED_RR, priority {}", real_time.sched_priority);
    default:
      return "";
  }
}

Machine machine() {
  Machine m;
  m.scheduling = scheduling();
  m.cpu = value_in("/proc/cpuinfo", "model name");
  m.os = value_in("/etc/os-release", "PRETTY_NAME");
  cpu_set_t set;
  CPU_ZERO(&set);
  m.cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                        : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  m.memory_bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  return m;
}

std::string version() { return PLUMB_VERSION; }
std::string revision() { return PLUMB_REVISION; }

nlohmann::json environment() {
  const Machine m = machine();
  nlohmann::json j = {
      {"plumbline",  version()           },
      {"compiler",   PLUMB_COMPILER      },
      {"cpu",        m.cpu               },
      {"cores",      m.cores             },
      {"memory_gib", m.memory_bytes >> 30},
      {"os",         m.os                }
  };
  if (!revision().empty()) j["revision"] = revision();
  return j;
}

}  // namespace plumb
