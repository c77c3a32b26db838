// Whether the scale of an operand can have been known when its codes were multiplied.
#pragma once

#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// Of an einsum whose result is finished, an operand with one scale for all that devices cannot have known;
// empty where none, and where that is not known. slices[d] is what device d holds of the result.
//
// A device that alone has some of the operand tells others its values, or is one that multiplies its codes:
// then all of the operand has reached it before the last collective, or its largest magnitude is another's.
// What devices tell of their values are bytes that come to others; three devices that tell each other at once
// are told no fewer than one of them tells.
//   on x=2: bf16[8,64@x]~fp8 bf16[64@x,8]~fp8 -> f32[8,8] by a broadcast of 4 bytes and a sum of 256: one
//   device does not have the other's largest magnitude, and 512 values are not told in 260 bytes
std::string scaled_too_early(const Case&, const std::vector<Slice>& slices, const Trace&);

}  // namespace plumb
