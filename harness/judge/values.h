// Are the values right? Private to the judge.
#pragma once

#include "harness/judge/bound.h"

namespace plumb {

// The elements that differ from what is wanted, collected device by device.
struct Differences {
  Place place;
  std::int64_t poisoned = 0;   // of place.elements: NaN where a number is wanted, or poison
  std::int64_t rounded = 0;    // elements that differ, within the bound
  std::int64_t unbounded = 0;  // of them, where the bound is infinite and no statistics see the number
  std::vector<std::int64_t> devices;
};

// Compares a dense block with its slice of the wanted whole. Zeros are compared by value but for the results
// of quantize, everything else by bits, or, where there is a bound, by it. Returns whether all bits, zeros
// included, are the wanted ones.
bool compare(const Wanted&, const Held&, const Bound*, Differences&);

// How many elements the parts of a fibre of an unfinished sum make only once their sum is rounded.
std::int64_t unrounded(const Wanted&, const std::vector<Held>& parts);

// The finished block of a fibre of an unfinished result: what its parts make, rounded once.
Held finished(const Case&, std::vector<Held> parts);

// `leaked` where a differing element is NaN, or all that differ are -1; else `wrong`; nothing where none
// differs.
std::vector<Fact> value_facts(DType, const Differences&);

// Whether two devices are due the same.
bool has_replicas(const Case&, const Outcome&);

// `diverged`: devices that agree on every axis that splits or is left unfinished must hold the same
// bits.
std::vector<Fact> replica_facts(const Case&, const Outcome&, const Read&);

}  // namespace plumb
