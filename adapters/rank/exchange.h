// What one of several processes does with a round: pack, a call, unpack.
#pragma once

#include <functional>
#include <vector>

#include "adapters/rank/moves.h"

namespace plumb {

// What goes to another process and comes from it: the sends in the order of the plan, which both know, and
// their cells one after another. All processes hold as many devices.
struct Parcel {
  std::int64_t process = 0;
  std::vector<Send> sent, received;
  std::vector<std::byte> out, in;  // `in` has its size before the call
};

// The sends of a round by the other process that they leave for or come from, ascending; and those that stay.
struct Exchange {
  std::vector<Send> stays;
  std::vector<Parcel> parcels;
};
Exchange exchange(const Link&, const Round&);

// Brings the `out` of every parcel to its process, and fills every `in`: an all-to-all with counts, or a send
// and a receive for each. Every process calls it once for every round, one without parcels too.
using Call = std::function<void(std::vector<Parcel>&)>;

// Packs all that leaves before anything is changed, calls, moves what stays, unpacks. Law: whatever the
// number of processes, the blocks of a device have the same bits.
void carry(const Link&, const Round&, const Call&);

}  // namespace plumb
