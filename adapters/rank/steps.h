// A round of a plan made ready for one of several processes: pack, a call of a library, unpack.
#pragma once

#include "adapters/rank/calls.h"
#include "adapters/rank/execute.h"

namespace plumb {

// Packs all that leaves before anything is changed, calls, unpacks in the order of the plan; what lies as the
// call wants it is neither packed nor unpacked. Laws: whatever the number of processes, what is moved or
// exchanged makes the same bits of a block; so does what a library adds up where no sum is rounded.
Carry through(const Calls&, const Holder&);

// The same of magnitudes, of which every process knows those of its one device.
Largest largest_through(const Calls&, const Holder&);

}  // namespace plumb
