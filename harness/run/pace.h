// How long a repetition is: as many iterations as were asked for, or by the rule.
#pragma once

#include <string>

#include "harness/measure/samples.h"

namespace plumb {

// `each`: the nanoseconds that an iteration takes, where somebody knows; 0 where nobody does.
struct Pace {
  Timing timing;  // as many iterations as it says; 0: until the median is settled, or the seconds are spent
  double seconds = 0;
  double each = 0;
  bool each_rank = false;  // keep when each rank entered and left every iteration
};

constexpr std::int64_t most_samples = 10'000;  // of a repetition: its record is a line
constexpr double nanoseconds_of_a_second = 1e9;

// As one iteration took, from the first that was timed to the last, waits between them and those that came
// late included; 0 where all were late.
double nanoseconds_each(const Samples&);

// How many the next request is for. `spent`: nanoseconds of the seconds.
std::int64_t next_iterations(const Pace&, const Samples&, double spent);

// Why no more is asked; empty where more is: so many as were asked for, all of them late, are asked for again
// while the seconds last.
std::string stop(const Pace&, const Samples&, double spent);

// The seconds that a request may take: beside `run` four times what is known of its iterations.
double deadline(double run, const Timing&, double each);

}  // namespace plumb
