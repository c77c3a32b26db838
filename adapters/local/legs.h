// Carries out the legs of a plan.
#pragma once

#include "adapters/local/ranks.h"
#include "adapters/plan/plan.h"

namespace plumb {

// Bytes that ranks received from other ranks.
struct Counter {
  std::int64_t received = 0;
};

// The format in which a value of this layout is kept: its dtype, or the wire type where the sum is
// unfinished, will go on, and the wire is wider.
DType kept_as(const Plan&, const Spec&, bool last);

// One leg of a plan, and the format in which the value is kept at its end.
struct Stretch {
  const Plan& plan;
  const Leg& leg;
  DType stored;
  Counter& counter;
};

// Takes the value through one leg. Sums add up in the accumulate type, each part rounded to the wire
// type when it is sent; what is finished is rounded once to `stored` before it is copied.
Ranks walk(const Stretch&, Ranks value);

}  // namespace plumb
