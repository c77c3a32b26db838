// Which of Open MPI's ways between ranks are needed, where all ranks are on one machine?
#pragma once

#include <functional>
#include <map>
#include <string>

namespace plumb::mpi {

// What decides it: the library's name for itself, this process's variables, and whether the machine has a
// fabric, or the user a file of the library's parameters.
struct Surroundings {
  std::string library;
  std::function<const char*(const char*)> variable;
  bool fabric = false, file = false;
};
Surroundings surroundings(const std::string& library);

// The variables that name them: those that Open MPI comes to by itself, after it has looked for devices that
// are not there for a fifth of a second; and that hwloc need not read the devices of the PCI bus in each
// rank, a quarter of a start's work. None where its mpiexec has started ranks on another machine too, for a
// fabric, for another library or release, and where somebody has chosen already.
std::map<std::string, std::string> transports(const Surroundings&);

// What this process has connected by TCP sends short lines at once. PMIx, by which a rank speaks with
// mpiexec, sends four when it ends, and the system keeps the second until the other end says that it has the
// first, which it does 40 milliseconds later.
void send_at_once();

}  // namespace plumb::mpi
