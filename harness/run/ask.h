// Everything that a backend is asked of a case. Whoever wants an answer asks here.
#pragma once

#include "harness/backend/process.h"
#include "harness/run/examine.h"

namespace plumb {

// Runs a case. Where reruns are wanted, and it gave data, it is run on other data and then again so often, or
// until one differs. The blocks of the last attempt are read from the arena: until the process is asked
// again.
Attempts ask(const Case&, Process&, int reruns);

// What the program said of itself when it last started.
Declared declared(const Process&);

}  // namespace plumb
