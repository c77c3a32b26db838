// The clock, in the process of a rank.
#pragma once

#include <functional>

#include "adapters/protocol/serve.h"
#include "adapters/protocol/timing.h"

namespace plumb {

// Warms up, then times each iteration around `once` alone. Results are wiped before the first and the last
// iteration, so that each has made what is proved of it; `first` is called between the first and the second.
// Where a run changes its operands a batch of several works on what the run before left, and what is proved is
// made by one run more behind it, on the operands as they were.
// `id`: of the request. Throws where ranks are to begin at one time and their clocks are several.
Clocked clocked(const Stages&, const Timing&, std::int64_t id, const std::function<void()>& first);

// Nanoseconds of the machine's clock that never goes back; and a number of that clock: of one start of one
// machine, as its namespace of time shows it.
std::int64_t machine_time();
std::int64_t this_clock();

// Times what the process of a rank could do at best: nothing where it cannot say. Of the timing its iterations,
// and where it is no call of a library, its batch.
std::optional<Clocked> clocked_limit(const Stages&, const std::string& what, std::size_t bytes, const Timing&);

}  // namespace plumb
