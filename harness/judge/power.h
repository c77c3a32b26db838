// Could the checks that a result passed have failed? Private to the judge.
#pragma once

#include "harness/judge/values.h"

namespace plumb {

// `mistrusted` where a bound judged elements that differ and would pass a result that is wrong: one of zeros,
// or, where data round and statistics judge beside it, also one of halves, or one that lacks what the device
// that adds least adds; or where a sum may overflow on the way, which allows anything.
std::optional<Fact> powerless(const Wanted&, const Bound&, const Differences&);

}  // namespace plumb
