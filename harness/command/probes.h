// What is asked of cases under the clock in the place of how long they take. Each prints as it goes, hands on
// what belongs in the record, and returns the exit code.
#pragma once

#include "harness/command/course.h"

namespace plumb {

// Does our clock say what the library's own says of its plain call?
int compare_clocks(const Course&, std::int64_t pairs);

// Which link between two ranks is slow? Every `every`-th round of a tournament.
int compare_links(const Course&, std::int64_t every);

// Does every iteration stay right, for so many seconds? A record of each minute.
int soak_cases(const Course&, double seconds);

}  // namespace plumb
