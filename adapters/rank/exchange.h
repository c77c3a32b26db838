// What goes to which process in a round, and in what order.
#pragma once

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

// The sends of a round by the other process that they leave for or come from, ascending; and all that arrive
// at this one, from itself too, in the order of the plan.
struct Exchange {
  std::vector<Send> arrives;
  std::vector<Parcel> parcels;
};
Exchange exchange(const Link&, const Round&);

}  // namespace plumb
