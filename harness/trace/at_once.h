// What a side of the mesh needs of the others: of a product also where all that it is brought comes at once.
#pragma once

#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"

namespace plumb {

// Of an einsum, the first fibre of devices that was brought less than it needs; empty where none, and where
// that is not known. Take the mesh along some of its axes, each fibre along the others as one device that has
// whatever any of it has: what joins these fibres brings each of them what fewest_received() has of a device.
// Where one collective alone joins them, once, no second turn brings one of them what another multiplied:
// terms of its blocks that none can multiply of its own are multiplied after it, so that both of their
// factors are there. Each device of a fibre is brought as well what its own block needs of the other fibres,
// by those that have any of it then. All sets of axes are tried, as far as they are few.
//   on x=2,y=2: f32[8@x,8@y] f32[8@y,8@x] -> f32[8,8] by a gather over x and a sum over y: along x, either
//   half of the devices lacks half of both operands
//   on x=2,y=2: f32[4@y,8] f32[8@x.y,4] -> f32[4@y,4] by a gather over y and a scattered sum over x: along
//   x, either half is due 16 sums and is brought 8
//   on x=2,y=2: f32[8,8@x.y] f32[8@x,8] -> f32[8@x,8] by a gather over y and a scatter over x into half a
//   block: the other half would have to be gathered after it
std::string brought_too_little(const Case&, const std::vector<Slice>& slices, const Trace&);

// The same of a reshard, however many collectives join the fibres: of each element that a fibre needs and
// cannot make of what it holds, it receives a value. Where one collective, or several among the same members,
// alone join what all others join, these are sides too.
//   on x=2,y=2: f32[64@y] -> f32[64] by a gather of 4 bytes over y and one of 128 over x
std::string brought_too_little(const Case& reshard, const Trace&);

}  // namespace plumb
