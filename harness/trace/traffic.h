// What a trace cannot have brought: an element, bytes, a result of its kind.
#pragma once

#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// The most bytes that each device can have learnt in a trace; empty where nobody knows. Of one collective,
// and no more than `moved`, where all that devices received was counted
//   all-gather           out - in                 where out is n times in, else out
//   all-to-all           (n-1)/n out              where in is out, else out
//   collective-permute   out                      a target that is not the source
//   others               out                      what was added is no longer than its sum
std::vector<std::int64_t> most_received(const Mesh&, const Trace&);

// The first device, or fibre along the result's unfinished axes, that received fewer bytes than the fewest
// that it needs; or all together; empty where none, and where nobody knows.
std::string received_too_little(const Case&, const std::vector<std::int64_t>& fewest, const Trace&);

// An element of an operand that a device cannot have (needs.h, reachability.h); empty where none, or where
// nobody says which slices devices hold.
std::string out_of_reach(const Case&, const Outcome&);

// A collective whose operand and result cannot be those of its kind over so many devices; empty where all
// can. in and out are those of the devices that have most, so that a block may be padded or cut short:
//   all-reduce in = out      all-gather in <= out <= n in      reduce-scatter out <= in
//   collective-permute out <= in         all-to-all out <= n in, in <= n out         others any
std::string misfit(const Mesh&, const Trace&);

}  // namespace plumb
