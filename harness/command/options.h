// The options of backends, and which of them cases are without.
#pragma once

#include <string>

#include "harness/report/tally.h"

namespace plumb {

// Those of every backend with their values, a line each.
std::string options_of_backends();

// Of what was unsupported, the cases that another value of an option takes, a line for each suite, backend
// and value;
// "" where there are none. A program of several ranks takes as many devices as np says.
//   released on jax@0.10.2: 3200 of 8464 cases want style=explicit (an unfinished sum needs explicit axes)
std::string wanted_options(const Tally&);

}  // namespace plumb
