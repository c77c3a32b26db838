// The fewest bytes that a device must receive for its block of a result.
#pragma once

#include <vector>

#include "reference/words/op.h"

namespace plumb {

// For each device, of any program that knows the shapes and not the values; slices[d] is what device d holds
// of the (first) result. Empty where no lower bound is known: of a product that is left unfinished.
//   reshard   fewest_bytes(); of a result that is still free the elements of its slice that a device does not
//             hold, of a sum all of them
//   product   the larger of what either operand asks for, the other one known everywhere for nothing. Then
//             the block is a linear map of what the device lacks of this operand. A row of it (one index of
//             all letters that it shares with the result) meets, over the K terms that the device lacks
//             there, N elements of the block, by a K x N matrix of values that may be any: its rank is min(K,
//             N), and no fewer values tell the device these elements, be they elements of the operand,
//             partial sums or sums. A grouped product is one of these for each group. A value has the fewest
//             bytes of all that may be sent: elements (codes, where there is a scheme), acc, wire, result.
//   quantize  the larger of a byte for each code whose value it does not hold, and one value or scale for
//             each tile whose scale it is asked for and of which it does not hold all: they may be any
std::vector<std::int64_t> fewest_received(const Case&, const std::vector<Slice>& slices);

int bytes_of_value(const Case&);  // the fewest of a product

}  // namespace plumb
