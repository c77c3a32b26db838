// How many different values a trace brings several devices together, and takes from one: and how few would
// do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// Of a reshard or an einsum whose result is finished, devices that cannot have been told what their blocks
// need together, or one that cannot have told what only it knows; empty where none, and where that is not
// known: where an operand of a product comes in parts, where extremes are taken, or of a send. slices[d] is
// what device d holds of the result.
//
// A row of an operand (one index of what it shares with the result) is K numbers, its terms, or the parts of
// an element: N elements of a block are N sums of them, the other operand known everywhere for nothing. Of L
// numbers that a device lacks they tell min(L, N).
//   together  one device after another is asked what it needs, and then gives away what it holds: what all
//             were brought tells each the sums that those before it did not have. Of a product also with
//             neither operand known (values_told()). Devices that no collective joins are asked apart.
//             Different values are, of all members of a group, the bytes of
//               all-reduce, broadcast  out
//               all-gather             out, and no more than n in
//               others                 n out, of a permute those of each target
//             and no more than `moved`
//   each      of what is only moved every element that one needs and has not takes a value's room, whoever
//             gives away what: nobody sends the sum of two
//   one       what nobody else has, of all that any other needs, it said: no more than `in` of each of its
//             collectives
//   on x=4: f32[8]+x -> f32[8@x] by an all-reduce of 8 bytes: devices 0, 1 and 2 need 2 values each, and 2
//   came to all
//   on x=4: f32[8,8@x] f32[8@x,8] -> f32[8@x,8] by an all-reduce: 16 sums of 6 terms, 16 of 4 and, for of 2
//   terms 2 x 6 columns follow from the others, 4 more
std::string told_too_little(const Case&, const std::vector<Slice>& slices, const Trace&);

// The most different bytes that come to all devices together; nullopt where nobody knows.
std::optional<double> told_to_all(const Mesh&, const Trace&);

}  // namespace plumb
