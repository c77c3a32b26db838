// What a reshard must move, and what a collective moves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// For each device the fewest bytes it must receive in a reshard: the elements of its target block
// that it does not already hold finished. Of a sum it holds a part of it must receive at least one
// value an element. A target left unfinished over an axis may be made without receiving.
std::vector<std::int64_t> fewest_bytes(const Case&);

// The cheapest plan of a stated family for the whole case, in bytes received over all devices: reduce-
// scatter and all-gather for sums, direct moves for the rest. `family` says so in words. Printed as
// `best known`, never as a bound; equal to the bound where nothing is summed.
struct BestKnown {
  std::int64_t bytes = 0;
  std::string family;
};
BestKnown best_known(const Case&);

// The derivation of fewest_bytes and best_known in lines of text, for `plumb explain`.
std::string derivation(const Case&);

// Bytes that one device of a group of n receives in a collective with `in` bytes of operand and `out`
// bytes of result a device; -1 for an unknown kind. One table prices collectives.
std::int64_t price(std::string_view kind, std::int64_t n, std::int64_t in, std::int64_t out);

}  // namespace plumb
