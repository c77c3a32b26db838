// What a finished plan is reported as.
#pragma once

#include <vector>

#include "adapters/plan/grid.h"
#include "adapters/plan/plan.h"

namespace plumb {

// Elements that each device holds at first, and will hold.
using Amounts = std::vector<std::int64_t>;

// The blocks' sizes in a layout.
Amounts amounts(const Mesh&, const Spec&, Rule);

// Names the copies of a round by what they do, and appends the collective to the leg; `held` are the
// elements that each device contributes.
//   permute     every device sends to one other at most, and receives from one at most all it then holds
//   all-gather  every device receives what all of its fibre hold
//   all-to-all  every fibre as a whole ends with as much as it began with
//   send        anything else
void report_copies(const Grid&, Leg&, Round&, const Amounts& held);

}  // namespace plumb
