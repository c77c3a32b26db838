// How many bytes a trace can have brought.
#pragma once

#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// The most bytes that each device can have learnt in a trace; empty where nobody knows. Of one collective,
// and no more than `moved`, where all that devices received was counted
//   all-gather           (n-1) in                 and no more than out
//   all-to-all           (n-1)/n out              where in is out, else out
//   collective-permute   out                      a target that is not the source
//   others               out                      what was added is no longer than its sum
std::vector<std::int64_t> most_received(const Mesh&, const Trace&);

// The same that each of these sets can have been brought by the others: the members of a group in one set are
// given the blocks that an all-gather brings once, and the one sum or block of an all-reduce or a broadcast.
std::vector<std::int64_t> most_brought(const Mesh&, const std::vector<std::vector<std::int64_t>>& sets,
                                       const Trace&);

// The same of what none of a device's set had at the beginning, one collective after another: nothing comes
// by one whose other members are of the set and were brought nothing yet. Empty also where one ran several
// times.
std::vector<std::int64_t> most_from_others(const Mesh&, const std::vector<std::vector<std::int64_t>>& sets,
                                           const Trace&);

// The first of these sets of devices that was brought fewer bytes than the fewest that it needs; or all
// together; empty where none, and where nobody knows.
std::string brought_too_little(const Mesh&, const std::vector<std::vector<std::int64_t>>& sets,
                               const std::vector<std::int64_t>& fewest, const Trace&);

// The same of what each device received, or each fibre along the result's unfinished axes.
std::string received_too_little(const Case&, const std::vector<std::int64_t>& fewest, const Trace&);

}  // namespace plumb
