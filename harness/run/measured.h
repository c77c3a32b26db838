// One case under the clock.
#pragma once

#include "harness/run/ask.h"
#include "harness/run/attempt.h"

namespace plumb {

// How long a repetition is. `each`: the nanoseconds that an iteration takes, where somebody knows; 0 where
// nobody does.
struct Pace {
  Timing timing;  // as many iterations as it says; 0: until the median is settled, or the seconds are spent
  double seconds = 0;
  double each = 0;
  bool each_rank = false;  // keep when each rank entered and left every iteration
};

// The record of one repetition: requests until it is over, of each of which the first result and the last
// were judged. A case that is no pass has no times, nor one that its clock does not see. Throws DoesNotFit.
Record measure(const Case&, Subject&, const Pace&);

constexpr std::int64_t most_samples = 10'000;  // of a repetition: its record is a line

// Times a case once, so that its ranks can be asked more of it. Throws DoesNotFit.
struct Introduction {
  std::string failed;  // why it cannot be timed, or is not right
  std::vector<std::string> notes;
};
Introduction make_known(const Case&, Subject&);

// The first of both results that is no pass, else the last.
Record judged_under_the_clock(const TimedAttempts&, const Declared&);

// Why a case has no times, from the record of a verdict: "wrong: 3 elements ..."; of a pass its last note.
std::string not_timed(const Record&);

// As one iteration took, from the first that was timed to the last, waits between them included.
double nanoseconds_each(const Samples&);

}  // namespace plumb
