// What a trace cannot have done. Private to the judge and examine().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "harness/judge/verdict.h"
#include "reference/words/op.h"

namespace plumb {

// The most bytes that each device can have learnt in a trace; empty where nobody knows. Of one collective,
// and no more than `moved`, where all that devices received was counted
//   all-gather           out - in                 where out is n times in, else out
//   all-to-all           (n-1)/n out              where in is out, else out
//   collective-permute   out                      a target that is not the source
//   others               out                      what was added is no longer than its sum
std::vector<std::int64_t> most_received(const Mesh&, const Trace&);

// The first device, or fibre along the target's unfinished axes, that received fewer bytes than the reshard
// `c` needs there; empty where none.
std::string received_too_little(const Case& c, const Trace&);

// A collective whose operand and result cannot be those of its kind over so many devices; empty where all
// can. in and out are those of the devices that have most, so that a block may be padded or cut short:
//   all-reduce in = out      all-gather in <= out <= n in      reduce-scatter out <= in
//   collective-permute out <= in         all-to-all out <= n in, in <= n out         others any
std::string misfit(const Mesh&, const Trace&);

// `mistrusted`, of right values: by its trace the backend cannot have made this result, for some device was
// brought nothing of an element that its block is made of (needs.h, reachability.h), or fewer bytes than its
// block needs, or a collective is impossible, or one that this result cannot have (untrue.h). Of a result
// that is still free by the slices that its blocks say.
std::optional<Fact> contradiction(const Case&, const Outcome&, const Verdict& = {});

}  // namespace plumb
