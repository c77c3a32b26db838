// Memory that ranks share under a name, which stays where nobody is left to remove it.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <string>
#include <vector>

namespace plumb::launch {

// The files in /dev/shm that these processes have mapped, and that were not there at this time: theirs.
std::vector<std::string> segments_of(const std::vector<pid_t>& ranks, time_t since);

}  // namespace plumb::launch
