// What a trace says that cannot have made this result, whoever took part.
#pragma once

#include <string>

#include "adapters/protocol/outcome.h"

namespace plumb {

// The first of these; empty where none is so. A dtype that no line has says nothing.
// - a size that no array of the case has (untrue_sizes.h)
// - integers reduced, and nothing else that moves, where floats of others are added up (or compared, of more
//   bits); a dtype that does not hold the integers that it adds up; a mean, a product or bits joined by logic
//   where none is due
// - a maximum or minimum taken along an axis along which a sum is due and nothing adds up, of what is
//   quantized where nothing else moves; where either extreme is due both may be taken, of the negated
// - where extremes are due, a sum and nothing else
// - bits joined by logic where values are added up or compared, but for as many as a gather has: of a product,
//   as the operands of which the device has not all
// - a float narrower than all arrays and the wire, where the values are the exact ones
// - sums and nothing else that moves, of fewer values than a block has that are not made of what the device
//   holds of the operands, and than there are of the operands of which it has not all: these a sum may bring,
//   among zeros
// - of an einsum one sum and nothing else that moves, of fewer values than the factors, where the parts of
//   both operands meet
std::string untrue(const Case&, const Trace&, bool exact_values);

// A collective whose operand and result cannot be those of its kind over so many devices; empty where all
// can. in and out are those of the devices that have most, so that a block may be padded or cut short:
//   all-reduce in = out      all-gather in <= out <= n in      reduce-scatter out <= in
//   collective-permute out <= in         all-to-all out <= n in, in <= n out
//   collective-broadcast in = out        send any
// Nor can n parts be added up if none is added more than so often to another: n <= 2^additions.
std::string misfit(const Mesh&, const Trace&);

}  // namespace plumb
