// Times as a table.
#pragma once

#include <string>
#include <vector>

#include "harness/report/timings.h"

namespace plumb {

// A row for each: how often, how long in microseconds, how much of what a second, and who was slow.
std::string timings_table(const std::vector<Timings>&);

}  // namespace plumb
