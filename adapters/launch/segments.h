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
  std::set<pid_t> processes{};                    // that were seen, or started
  std::string named{};                            // where what they may be is written down
  std::chrono::steady_clock::time_point again{};  // when it is worth to look once more
};

// Adds what these processes have open or mapped now.
void look_for_segments(Segments&, const std::vector<pid_t>&);

// The HASH of mpich_shm_HASH_NODE and mpich_vci_HASH_NODE, which ranks of MPICH share that Hydra's mpiexec
// started: this process, in this second, on a host of this name. By it nobody needs to have seen them.
std::string hash_of_mpich(pid_t, time_t, const std::string& host);

// Writes down, in a file, what ranks may share whom these processes start, if they are such mpiexecs: whoever
// comes after a launcher that was killed removes it.
void name_segments(Segments&, const std::string& file);

// What was seen, and what has such a name, in a folder; and that file.
void remove_segments(Segments&, const std::string& folder = "/dev/shm");

}  // namespace plumb::launch
