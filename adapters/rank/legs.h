// Takes a value through the legs of a plan, as one process sees it.
#pragma once

#include <functional>

#include "adapters/rank/moves.h"

namespace plumb {

// The format in which a value of this layout is kept: its dtype, or the wire type where the sum is
// unfinished, will go on, and the wire is wider.
DType kept_as(const Plan&, const Spec&, bool last);

// One leg of a plan, and the format in which the value is kept at its end.
struct Stage {
  const Plan& plan;
  const Leg& leg;
  DType stored;
};

// How the sends of a round of a leg are carried out: each arrives once, in any order, before it returns, but
// that sums beside the parts are added up in the order of the plan. A process that holds all devices moves
// them; one of several packs, calls its library and unpacks (calls.h).
using Carry = std::function<void(const Link&, const Leg&, const Round&)>;

// Takes the value through one leg. Sums add up in the accumulate type, each part rounded to the wire
// type when it is sent; what is finished is rounded once to `stored` before it is copied.
Blocks walk(const Stage&, Blocks value, const Carry&);

}  // namespace plumb
