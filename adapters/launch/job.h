// The processes of a job: how they are started, and that they are gone when it is over.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace plumb::launch {

// What was asked for on the command line.
struct Asked {
  int ranks = 0;
  std::string launcher = "own";  // own, mpiexec, srun, flux, or a command with {n} and {program}
  std::string interface;  // the name or address of this machine for ranks elsewhere; empty: a unix socket
  std::vector<std::string> program;
};

// Throws std::invalid_argument, in the words of a user.
Asked parse(const std::vector<std::string>& arguments);

// The command that starts all ranks; of `own` that of one. `environment` is what it has to pass on.
std::vector<std::string> command(const Asked&, const std::vector<std::string>& environment);

// Who was started: the command, or each rank of `own`.
struct Job {
  std::vector<pid_t> pids;
};

// Starts it with these variables beside our own. Throws std::system_error.
Job start(const Asked&, const std::vector<std::pair<std::string, std::string>>& environment);

// Waits so long for their end; then SIGTERM to all that were started, a grace, and SIGKILL to them and all
// that they left behind. Afterwards this process has no children.
void end(const Job&, std::chrono::milliseconds patience);

// How the first of them ended that did, or "": "rank 2 was killed by signal 9 (Killed)". Of a command:
// "mpiexec exited with code 1".
std::string ended(const Asked&, const Job&);

}  // namespace plumb::launch
