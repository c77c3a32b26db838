// Which command starts ranks, by each launcher.
#pragma once

#include <string>
#include <vector>

#include "adapters/launch/asked.h"

namespace plumb::launch {

// What a command needs to know: what of the environment it has to pass on, a file that says the same, and
// the rank.
struct Passed {
  std::vector<std::string> names;
  std::string file;
  int rank = 0;
};

// The command that starts all ranks, or where they are started one by one this one.
std::vector<std::string> command(const Asked&, const Passed&);

// Whether Open MPI's mpiexec starts them.
bool by_open_mpi(const Asked&);

// A line of a shell that ends what is not among the descendants of whoever was started, or "".
std::string cancel_line(const Asked&, const Passed&);

// The program that is started, and starts the others.
std::string first_program(const Asked&);

// Throws std::invalid_argument where the command, or the program that `own` starts, is not on this machine.
void look_for_program(const Asked&);

// The same where Slurm does not answer to srun.
void look_for_slurm(const Asked&);

}  // namespace plumb::launch
