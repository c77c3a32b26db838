// What a case takes of the machine, in memory and in time, and what is too much.
#pragma once

#include <optional>
#include <stdexcept>

#include "reference/words/op.h"

namespace plumb {

// What there is for one case. 0 cores: its time is not asked about.
struct Room {
  std::int64_t bytes = 0;
  double cores = 0;
};

// What is done with it: so many reruns, whose blocks are kept; or in place, where of each array the devices'
// shares are held and no whole, by ranks that may have machines of their own.
struct Usage {
  int reruns = 0;
  bool in_place = false;
};

// Seconds in which so many cores are sure to do the work of a case, all of its devices on them: 10^9
// operations of its products and 10^8 bytes of its arrays for each core and second. jax@0.10.2 does some 2 x
// 10^10 operations with bf16.
double seconds_of_work(const Case&, double cores);

// Whether its arrays fit, whole.
bool fits(const Case&, const Room&);

// What is too large here: what() says how much it takes, and a smaller line.
struct DoesNotFit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws where its arrays do not fit, or its work takes more than an hour: that of a case in place is not
// asked about.
void refuse_what_does_not_fit(const Case&, const Room&, const Usage& = {});

// The same layouts on smaller sizes, halved until it fits and its work takes less than a minute: what divided
// a size divides its half, and what did not does not. Nothing where halving does not come to that.
std::optional<Case> smaller(const Case&, const Room&, const Usage& = {});

}  // namespace plumb
