// The machine and the build that a record was made by: no names of hosts or people, no paths.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace plumb {

struct Machine {
  std::string cpu, os;
  int cores = 0;  // that this process may use
  std::int64_t memory_bytes = 0;
  std::string scheduling{};  // of this process, "SCHED_OTHER, nice 0": who shares its cores waits by it
};
Machine machine();
std::string scheduling();  // Machine::scheduling alone; empty where it has no name

std::string version();   // "0.1.0"
std::string revision();  // of the source tree the tool was built from; empty where not known

// {"plumbline","revision","compiler","cpu","cores","memory_gib","os"}
nlohmann::json environment();

}  // namespace plumb
