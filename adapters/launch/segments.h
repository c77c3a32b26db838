// Memory that ranks share under a name, which stays where nobody is left to remove it.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace plumb::launch {

// Of one job.
struct Segments {
  time_t since = 0;                               // what was not there before may be its own
  std::set<std::string> files{};                  // what was seen to be, in /dev/shm
  std::chrono::steady_clock::time_point again{};  // when it is worth to look once more
};

// Adds what these processes have open or mapped now.
void look_for_segments(Segments&, const std::vector<pid_t>&);

void remove_segments(Segments&);

}  // namespace plumb::launch
