// What passed, as the library itself told it, beside what the trace says. The trace is made of the plan, and
// this of the calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/nccl/used.h"
#include "adapters/protocol/outcome.h"
#include "adapters/rank/calls.h"
#include "reference/words/mesh.h"

namespace plumb::nccl {

// What one rank gave to a call and got of it, in bytes. An exchange is of sends and receives.
struct Counted {
  enum Kind : std::int64_t { nothing, all_reduce, reduce_scatter, all_gather, exchange, another };
  std::int64_t kind = nothing;
  std::int64_t circle = 0;  // the communicator, as the library numbers it
  std::int64_t in = 0, out = 0;
  std::int64_t brought = 0;         // of `out` what came from others
  std::int64_t to = -1, from = -1;  // the last of an exchange, by their places in the circle
  Added added{};                    // of a sum; 0 where it is not known
};
Counted count(const std::vector<Told>& of_one_call);

// The first call that was otherwise than the trace says, in words: its kind, who was in it together, and what
// all gave, got and were brought. `all`: of each rank, call by call. Empty where it was as said.
std::string untrue(const Mesh&, const Trace&, const std::vector<std::vector<Counted>>& all);

// How often a part was added and rounded in a call, on any rank.
Added added_in(std::size_t call, const std::vector<std::vector<Counted>>& all);

}  // namespace plumb::nccl
