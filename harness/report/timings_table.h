// Times as a table.
#pragma once

#include <string>
#include <vector>

#include "harness/report/timings.h"

namespace plumb {

// Two tables, of lines that fit a screen: how often and how long in microseconds, and who was slow; and how much of what
// a second, beside each limit of the same run, which is called as in Repetition::limits.
std::string timings_table(const std::vector<Timings>&);

}  // namespace plumb
