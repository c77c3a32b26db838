// What passed through MPI, counted by a layer beneath the calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "adapters/rank/round_call.h"

namespace plumb::mpi {

// What was called otherwise than the trace says, since this was asked last, as a layer beneath counted it:
// nothing where it is true. Each rank asks of its own calls, of which it is known what every device is to
// give and get (Ready::amounts): where none of them finds another, the trace says the bytes of all.
std::string untrue(const Mesh&, const Trace&, const std::vector<std::vector<Amount>>&, int rank);

// Who takes part with a rank in a collective that names axes, itself among them; nobody where it is no device
// of the mesh.
std::vector<std::int64_t> fibre_of(const Mesh&, const Collective&, std::int64_t rank);

// Whether what passes is counted: it is, but while a clock runs.
void count_calls(bool);

}  // namespace plumb::mpi
