// What a module is run on: drawn arguments, the same for both sides.
#pragma once

#include <functional>

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// For each parameter the least and the greatest number that is drawn, where it holds integers: below the
// smallest extent that it indexes, through whatever reshapes, arithmetic, calls and loops it gets there.
struct Bounds {
  std::int64_t low = 0, high = 0;
  bool indexes = false;
};
std::vector<Bounds> bounds_of(const Module&);

// The arguments of a draw. Some element of an array of integers is the least, and one the greatest. A float's
// real is of either sign and between 1/2 and 2, in every second draw an eighth of that, so that what
// saturates in one draw does not in the next; its residue is any. Of each argument, by its number, what
// `kept` makes of it, before the next is drawn; itself where that is none.
using Keeping = std::function<Value<Twin>(std::size_t, const Value<Twin>&)>;
std::vector<Value<Twin>> drawn(const Module&, const std::vector<Bounds>&, std::uint64_t seed,
                               const Keeping& kept = {});

}  // namespace plumb::hlo
