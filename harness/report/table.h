// The tally as text.
#pragma once

#include <string>

#include "harness/report/paint.h"
#include "harness/report/tally.h"

namespace plumb {

// A row for each suite and backend, a column for each status that occurs, a total where there is more
// than one row, and below what was unsupported, by reason.
std::string tally_table(const Tally&, Paint);

// "8464 cases in 5.1 s: 8460 pass, 4 wrong"
std::string summary(const Tally&, double seconds);

// Text in columns: the first `left` of them flush left, the others flush right.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t left);

}  // namespace plumb
