// What was asked for on the command line.
#pragma once

#include <string>
#include <vector>

namespace plumb::launch {

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

// The words of a command, between blanks.
std::vector<std::string> words_of(const std::string& text);

// What --help prints.
std::string help();

}  // namespace plumb::launch
