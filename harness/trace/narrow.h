// Which types can hold the values that a collective brings or adds up.
#pragma once

#include <string>

#include "adapters/protocol/outcome.h"

namespace plumb {

int integer_bits(const Collective&);  // of s8, u32, pred, as XLA calls them; 0 of other types

// A collective of a dtype that does not hold the values that the case has: a float narrower than all arrays
// and the wire, or a sum of a float that holds those of none; empty where all can.
std::string too_narrow(const Case&, const Trace&);

// The trace without reductions of integers that hold no value of the floats that are due: what they count is
// an end of its own, and brings nobody a value.
Trace without_counters(const Case&, Trace);

// The trace without moves in integers of fewer bits than every array and the wire, in f4e2m1fn, or in pred,
// which has one: masks and counts. s8 and u8 may be the bytes of any values. And the first of them, in
// words; empty where there is none.
Trace without_idle_moves(const Case&, Trace);
std::string idle_move(const Case&, const Trace&);

}  // namespace plumb
