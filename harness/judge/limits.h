// Limits that a user or a row of a suite sets: past them a right result is wasteful.
#pragma once

#include <optional>

#include "harness/judge/verdict.h"
#include "harness/trace/cost.h"
#include "harness/trace/merge.h"

namespace plumb {

// What a verdict hangs on beside the case and the backend.
struct Limits {
  double max_waste = -1;  // negative: none
  int reruns = 0;
  double timeout = 0;  // 0: the defaults
  double max_collectives = -1;
};

// `wasteful` past a limit: bytes moved more than `most` times the bound of a reshard, or the best
// known of a product or a free result. Where the bound is 0 any byte is past it. A negative limit is none.
std::optional<Fact> waste_fact(const Case&, const Cost&, double most);

// `wasteful` where more than `most` times the merged are issued. A negative limit is none.
std::optional<Fact> count_fact(const Collectives&, double most);

// `mistrusted`, of what would pass: a limit is asked for that cannot be judged, because the trace does not
// say what moved (nor, then, how often) or no yardstick is known.
std::optional<Fact> unjudged_fact(const Case&, const Cost&, const Limits&);

}  // namespace plumb
