// What one of several processes does with a round: pack, a call of its library, unpack.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adapters/rank/exchange.h"
#include "adapters/rank/legs.h"

namespace plumb {

// Processes, in the order of a fibre of the mesh, and the place of this one among them.
struct Team {
  std::vector<std::int64_t> ids;
  std::size_t mine = 0;
};

// What the members put in, combined element by element; elements are combine.wire all the way. Every member
// gets its share of them, or, of an all-reduce, all.
struct Combination {
  Combine combine;
  std::vector<std::int64_t> counts;  // elements of each member's share
  std::vector<std::byte> in, out;    // `out` has its size before the call
};

// What each has, one after another, for all.
struct Gathering {
  std::vector<std::int64_t> counts;  // bytes of each
  std::vector<std::byte> in, out;    // as above
};

// A library of collectives. Every process of a group calls it for every round, one without a part in it too.
struct Calls {
  std::function<void(const Team&, Combination&)> reduce_scatter, all_reduce;
  std::function<void(const Team&, Gathering&)> all_gather;
  std::function<void(const Team&, std::vector<Parcel>&)> all_to_all;  // brings each `out` to its process
  std::function<void(std::vector<Parcel>&)> permute;                  // to one at most, from one at most
  // Told before and after a call in what the process waits: "all-gather {} over x", the number its to say.
  std::function<void(const std::string&)> entering{};
  std::function<void()> leaving{};
};

// The call that does what a round says: the one that it is named after, where each member sends all others
// the same cells (all-gather), or is sent the same cells of their parts by all others (reduce-scatter); else
// an exchange. Of processes that hold several devices each: an exchange among all.
struct Formed {
  enum class Kind : std::uint8_t { stays, all_gather, reduce_scatter, all_reduce, all_to_all, permute };
  Kind kind = Kind::stays;
  std::vector<AxisId> axes;  // along which the groups lie
};
Formed formed(const Holder&, const Leg&, const Round&);

// Packs all that leaves before anything is changed, calls, unpacks in the order of the plan. Laws: whatever
// the number of processes, what is moved or exchanged makes the same bits of a block; so does what a library
// adds up where no sum is rounded.
Carry through(const Calls&, const Holder&);

}  // namespace plumb
