// Boxes cut into equal shares, and what a finished plan is reported as.
#pragma once

#include <vector>

#include "adapters/plan/grid.h"
#include "adapters/plan/plan.h"

namespace plumb {

// At most n non-empty boxes that tile `box`, as equal as cutting along the dimensions, major first,
// makes them: [4,6] in 8 is four times two boxes of [1,3].
std::vector<std::vector<Range>> shares(const std::vector<Range>& box, std::int64_t n);

// Elements that each device holds at first, and will hold.
using Amounts = std::vector<std::int64_t>;

// Names the copies of a round by what they do, and appends the collective to the leg; `held` are the
// elements that each device contributes.
//   permute     every device sends to one other at most, and receives from one at most all it then holds
//   all-gather  every device receives what all of its fibre hold
//   all-to-all  every fibre as a whole ends with as much as it began with
//   send        anything else
void report_copies(const Grid&, Leg&, Round&, const Amounts& held);

// The blocks' sizes in a layout.
Amounts amounts(const Mesh&, const Spec&, Rule);

}  // namespace plumb
