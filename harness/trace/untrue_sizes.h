// Which sizes no operand or result of a collective has, of a case of these arrays.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

std::vector<const Spec*> arrays(const Case&);  // the operands, and every layout of the chain

// The most elements that an array has when its dimensions are cut over n devices, each into equal pieces: of
// one over m that is a multiple of m. Of 5 x 19 over 4 the most of 8 x 19, 5 x 20 and 6 x 20.
double most_padded(std::span<const Dim>, std::int64_t n);

// The first of these; empty where none is so.
// - an operand or result larger than all arrays of the case together, cut to equal pieces over the devices
//   in any way, in values of the widest format of the case or f32, or, where it has what each device has of
//   them, replicas too, than that of each device (a gather's result, an all-to-all, a send); more moved in
//   one run than that from each device to each
// - where a reshard adds up nothing, an all-to-all or all-gather that nobody counted whose blocks are
//   more uneven than they can be: as many pieces of one array differ, and differ from their even share, by at
//   most ceil(d/n) n / d over its dimensions d, n being all devices
// - where every dimension divides by the number of devices, an all-gather that nobody counted whose result is
//   its operand, or one of more than a device has, where nothing was done before (values may move
//   in the type that it says, or 8 and 16 bits as f32)
std::string untrue_sizes(const Case&, const Trace&);

}  // namespace plumb
