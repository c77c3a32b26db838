// Are the values right?
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

// Every block to compare: each device's own, or the finished sum of each fibre of an unfinished result; and
// how many elements are sums only once they are rounded.
struct ToCompare {
  std::vector<Held> blocks;
  std::int64_t unrounded = 0;
};
ToCompare to_compare(const Wanted&, const Outcome&, const Read&);

// Compares a dense block with its slice of the wanted whole. Zeros are compared by value but for the results
// of quantize, everything else by bits, or, where there is a bound, by it. Returns whether all bits, zeros
// included, are the wanted ones.
bool compare(const Wanted&, const Held&, const Bound*, Differences&);

// `leaked` where a differing element is NaN, or all that differ are -1; else `wrong`; nothing where none
// differs.
std::vector<Fact> value_facts(DType, const Differences&);

// An element as text: its value and its bits.
std::string element_text(DType, std::uint64_t bits);

}  // namespace plumb
