// What a reshard must move, and what a collective moves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// For each device the fewest bytes it must receive in a reshard, between the ends of its chain.
//   finished -> finished   the elements of its target block that it does not hold
//   a sum is finished      one value for each element of its target block: of a sum it holds a part at
//                          most, and what the other parts add to must reach it, in the bytes of the dtype
//                          or of the wire, whichever are fewer
//   a target is left unfinished: the devices of a fibre along its unfinished axes make it together; what
//                          must enter the fibre is counted on its first device, the others may receive 0
// Empty for a product and for a free result, of which no bound is known. Linear in the number of devices.
std::vector<std::int64_t> fewest_bytes(const Case&);

// Bytes of a value of a reshard that a device must receive: what is added, also on the way, may come as a
// part.
std::int64_t least_bytes(const Case&);

// The cheapest plan of a stated family for the whole case, in bytes received over all devices. `family`
// says it in words. Printed as `best known`, never as a bound; never below the sum of fewest_bytes, and
// equal to it where nothing is summed. Values on the way to a sum have the bytes of the wire.
//   reshard   an element that is moved is sent straight to each device that lacks it. A sum is added up
//             where it is needed and a part lies, if there is such a device, and sent on from there: for
//             an all-reduce over n devices 2(n-1) values an element, reduce-scatter and all-gather
//   einsum, grouped   each axis splits a dimension of the product that it splits in an operand or the
//             result (or the parts of an unfinished operand), or repeats it; operands are resharded to
//             this split, the result from it
//   a submesh       the cheapest plan of one slice, in every slice: they do not know each other
//   a free result   the work may be split by any of its dimensions. It is left where it was made, or,
//             where it was made as a sum, in the cheapest layout in which each axis of the sum, and each
//             idle one, splits one of its dimensions or none
//   quantize  values are quantized where they lie, codes and scales are moved (quantize.h); operands that
//             are quantized likewise, but for the scales, which are not counted
// -1 bytes are not known: a mesh of very many axes has too many plans.
struct BestKnown {
  std::int64_t bytes = 0;
  std::string family;
};
BestKnown best_known(const Case&);

// The derivation of fewest_bytes and best_known in lines of text, for `plumb explain`.
std::string derivation(const Case&);

// Bytes that one device of a group of n receives in a collective with `in` bytes of operand and `out`
// bytes of result a device, rounded up; -1 for an unknown kind, and from 2^62 on. One table prices
// collectives.
//   all-reduce            2(n-1)/n in     reduce-scatter and all-gather
//   reduce-scatter        (n-1) out
//   all-gather            (n-1)/n out
//   all-to-all            (n-1)/n in
//   collective-permute    in              from another device
//   collective-broadcast  (n-1)/n in      on average: all but one device receive
std::int64_t price(std::string_view kind, std::int64_t n, std::int64_t in, std::int64_t out);

}  // namespace plumb
