// What a reader has to know of times.
#pragma once

#include <string>
#include <vector>

#include "harness/report/timings.h"

namespace plumb {

// A line each: what backends note of how many cases; which ranks share cores, so that a time is also that of
// waiting for one; where one step of the clock is more of a median than is resolved; by which drift of clocks agreed times
// move apart; of which cases half of the iterations or more were late, or repetitions have no times; which backends know no limits.
std::string doubts_in_words(const std::vector<Timings>&);

// Of each case the first repetition beside which its backend failed when limits of it were timed, as a finding.
std::vector<std::string> failed_limits(const std::vector<Timings>&);

// A line for each case that has a lagging() rank.
std::string lags_in_words(const std::vector<Timings>&);

// A line for each clock that is another than the first rank's: how far it is ahead or behind, and its drift;
// where an error is larger, that no more is known.
std::string clocks_in_words(const std::vector<Timings>&);

}  // namespace plumb
