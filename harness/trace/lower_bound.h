// The fewest bytes that a device must receive for its block of a result.
#pragma once

#include <vector>

#include "reference/words/op.h"

namespace plumb {

// For each device, of any program that knows the shapes and not the values; slices[d] is what device d holds
// of the (first) result. Empty where no lower bound is known: of a product that is left unfinished.
//   reshard   fewest_bytes(); of a result that is still free the elements of its slice that a device does not
//             hold, of a sum all of them
//   product   the larger of what the rows of either operand ask for: values_told(), of a grouped product for
//             each group. A value has the fewest bytes of all that may be sent: elements (codes, where there
//             is a scheme), acc, wire, result.
//   quantize  the larger of a byte for each code whose value it does not hold, and one value or scale for
//             each tile whose scale it is asked for and of which it does not hold all: they may be any
std::vector<std::int64_t> fewest_received(const Case&, const std::vector<Slice>& slices);

int bytes_of_value(const Case&);  // the fewest of a product

// Rows of a product: so many, of each of which a factor of so many terms is lacking and so many elements are
// due.
struct AlikeRows {
  __int128 count = 1, lacks = 0, due = 0;
};

// In how many directions the elements due can change when what is lacking of both operands does, at least: no
// fewer values tell them, be they elements of the operands, partial sums or sums. Of the other operand the
// factors of so many terms are lacking, for all that is due.
//
// What can not change is a matrix M of the elements due for which sum M dC = 0, dC = dA B + A dB. Of a row
// that lacks L terms it is orthogonal to L rows of B, which leaves due - L dimensions, or none; for all rows
// together to the columns of A of R terms, which takes the dimensions of as many rows as R. So R rows are
// told all that is due, those that would be told the fewest of it; the others the fewer of lacks and due.
__int128 values_told(std::vector<AlikeRows>, __int128 lacks_of_other);

}  // namespace plumb
