// What a process returns of a case.
#pragma once

#include "adapters/rank/execute.h"

namespace plumb {

// The blocks of all devices, with their slices, the layouts as claims, the trace and what was received. A
// process copies those of its own devices to the arena; where the others' lie there it knows: all
// processes take the same places in the same order. Without an arena it says where they lie.
Outcome hand_over(const Holder&, const Ready&, Arena*);

// Where an algorithm was asked for and no all-reduce came, which alone has one, a note says so.
void note_unused(const std::string& algorithm, Outcome&);

}  // namespace plumb
