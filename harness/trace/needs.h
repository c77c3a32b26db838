// The elements that a block of a result is made of.
#pragma once

#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// Slices of an operand, together all of its elements that the values of a block of result `r` depend on; none
// where it depends on none of them, whatever they are.
//   reshard    the same
//   einsum     the letters that it shares with the result as there, the others whole
//   grouped    the same of each group with rows in the block: its rows, its weights; of no group nothing
//   quantize   of values: all that share a scale with those of the block, of scales those that they scale
//              delayed: for codes the values and the scale, for the scale inverse the scale; for history and
//              scale all values, and of the old history the places that are moved or may be the largest
// An operand with a scheme is needed wherever a scale is shared.
std::vector<Slice> needed(const Op&, std::size_t r, int operand, const Slice& block);

// Whether result `r` is the same whatever the operands hold: rows of no group, a history of one.
bool is_constant(const Case&, std::size_t r);

}  // namespace plumb
