// The clocks of ranks held against that of the harness: nothing took longer than the request for it.
#pragma once

#include <map>
#include <vector>

#include "adapters/protocol/timing.h"

namespace plumb {

// By how many nanoseconds the first rank's clock is further after one of another's, less one; give or take the error.
struct Rate {
  double gains = 0, error = 0;
};
using Rates = std::map<std::int64_t, Rate>;  // by the number of the other clock

// Those of ranks that saw the first one's clock before and after.
Rates rates_of(const std::vector<Clocked>&);

// When a request was sent and its reply had come, by the harness's own clock, which has a number as those of ranks; and by
// how much, of one, a clock of another machine may go faster that nobody has compared with it.
struct Wall {
  std::int64_t sent = 0, received = 0, clock = 0;
  double apart = 0;
};
Wall wall_since(std::int64_t sent);

// Throws Malformed where a rank entered what was timed before it was asked for, or left it after its reply, by the harness's
// own clock; by another, where from the first entry to the last leaving by that clock, of whichever ranks have it, more
// time went by than the request took, at whatever rate the two may run.
void check_wall(const std::vector<Clocked>&, const Rates&, const Wall&);

}  // namespace plumb
