// The processes of a job: how they are started, and that they are gone when it is over.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/launch/asked.h"

namespace plumb::launch {

// Who was started: the command, or each rank.
struct Job {
  std::vector<pid_t> pids;
  std::string command;  // who starts all ranks, "mpiexec"; empty: each of these is one
  std::string cancel;   // a line of a shell that ends what is not among the descendants of these
};

// Of the environment.
using Variables = std::vector<std::pair<std::string, std::string>>;

// Starts it with these variables beside our own, and the file. Throws std::system_error.
Job start(const Asked&, const Variables&, const std::string& file);

// Waits so long for their end; then SIGTERM to all that were started, a grace, and SIGKILL to them and all
// that they left behind. Afterwards this process has no children. Meanwhile this is called every few
// milliseconds.
void end(
    const Job&, std::chrono::milliseconds patience, const std::function<void()>& meanwhile = [] {});

// The paths in a folder: those of /proc end where their process does.
std::vector<std::string> entries_of(const std::string& folder);

// What this process has started, and what they have, and so on.
std::vector<pid_t> descendants();

// How the first of them ended that did, or "": "rank 2 was killed by signal 9 (Killed)". Of a command:
// "mpiexec exited with code 1". Of ranks that are started one by one that one alone may be asked for.
std::string ended(const Job&, std::optional<std::int64_t> rank = {});

}  // namespace plumb::launch
