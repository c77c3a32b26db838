// What the tool says while a backend has not replied.
#pragma once

#include "harness/run/attempt.h"

namespace plumb {

// On standard error, in the place of a line of progress that is drawn there:
//   plumb: waiting for mpi,np=2, 5 s in run of 84 at most: on x=2: reshard f32[8@x] -> f32[8]
void say_wait(const Wait&);

}  // namespace plumb
