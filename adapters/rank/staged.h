// A case that was made ready, for a clock.
#pragma once

#include "adapters/rank/execute.h"

namespace plumb {

// The stages of it but for what a process gives and whom it meets: of the limits those that need nobody else,
// a copy within its memory, the plain products, and what is packed, which spoils results. What it refers to outlives them.
Stages staged(const Plan&, Ready&, const Holder&, const Write&);

}  // namespace plumb
