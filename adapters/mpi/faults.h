// `mpi` with one fault: `plumb-mpi --fault NAME`. `plumb liars` plants each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adapters/mpi/library.h"
#include "adapters/protocol/outcome.h"

namespace plumb::mpi {

using Breaks = std::function<void(const World&, Calls&)>;

struct Fault {
  std::string name;
  std::string says;                // what it does, in one phrase
  std::string status;              // the verdict that it must get
  std::string plan;                // on which it shows
  std::string flags;               // of `plumb run`, without which it cannot be seen
  std::vector<std::string> cases;  // on four ranks, in order; it must be seen on one of them
  Breaks calls{};
  std::function<void(Trace&)> trace{};  // before it is compared with what was called
  std::function<void(Trace&)> said{};   // after
};

// Throws std::invalid_argument where there is no such fault.
const Fault& fault_named(const std::string& name);

// One JSON line for each: name, says, status, flags, cases, options.
std::string list_faults();

}  // namespace plumb::mpi
