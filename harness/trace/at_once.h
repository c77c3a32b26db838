// What a product needs where all that moves moves at once.
#pragma once

#include <cstdint>
#include <vector>

#include "adapters/protocol/outcome.h"

namespace plumb {

// Of an einsum whose trace is one collective, for each device the fewest bytes that it brings: terms of its
// slice of the result that no device can multiply of its own blocks are multiplied after it, so that both of
// their factors are there. A trace has no second turn in which what one device multiplied comes to another.
// Empty where there are more collectives, or too many terms apart to try.
std::vector<std::int64_t> fewest_at_once(const Case&, const std::vector<Slice>& slices, const Trace&);

}  // namespace plumb
