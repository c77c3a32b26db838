// `mpi` with one fault, for harness/run/ranks_faults_test.cc: `plumb-mpi --fault NAME`.
#pragma once

#include <string>

#include "adapters/mpi/library.h"
#include "adapters/protocol/outcome.h"

namespace plumb::mpi {

// The calls of a library that has it; those that are honest where it is none of these. Throws
// std::invalid_argument where there is no such fault.
Calls broken(const std::string& fault, const World&, Calls honest);

// The same of a trace.
void break_trace(const std::string& fault, Trace&);

}  // namespace plumb::mpi
