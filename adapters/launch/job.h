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
  std::string launcher = "own";  // own, mpiexec, srun, flux, or a command with {program} and {n} or {rank}
  std::string interface;  // the name or address of this machine for ranks elsewhere; empty: a unix socket
  bool check = false;     // whether it could be started, and no more
  std::vector<std::string> program;
};

// What is not among the arguments is taken from PLUMB_LAUNCHER and PLUMB_INTERFACE. Throws
// std::invalid_argument, in the words of a user.
Asked parse(const std::vector<std::string>& arguments);

// Whether each rank is started by itself: by `own`, or by a command with {rank}.
bool one_by_one(const Asked&);

// Throws std::invalid_argument where the command, or the program that `own` starts, is not on this machine.
void look_for_program(const Asked&);

// What --help prints.
std::string help();

// What a command needs to know: what of the environment it has to pass on, a file that says the same, and
// the rank.
struct Passed {
  std::vector<std::string> names;
  std::string file;
  int rank = 0;
};

// The command that starts all ranks, or where they are started one by one this one.
std::vector<std::string> command(const Asked&, const Passed&);

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
// that they left behind. Afterwards this process has no children.
void end(const Job&, std::chrono::milliseconds patience);

// How the first of them ended that did, or "": "rank 2 was killed by signal 9 (Killed)". Of a command:
// "mpiexec exited with code 1".
std::string ended(const Job&);

}  // namespace plumb::launch
