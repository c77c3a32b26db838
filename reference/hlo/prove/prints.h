// A number for what all devices hold of a value, by which it is looked for among others.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "reference/hlo/prove/twin.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// Of a tile that is short on some device: its extents, and how far it goes on each; what lies behind is free.
struct Ends {
  Integers tile;
  std::vector<Integers> on;
  auto operator<=>(const Ends&) const = default;
};

// Whether other values are unlikely to be the same: integers and predicates, and what is one number
// throughout, tell nothing.
bool can_differ(const Array<Twin>&);

std::uint64_t print_of(const Array<Twin>& held, std::int64_t devices);
std::uint64_t print_of(const Array<Twin>& held, const Ends&);

// Of a whole of these extents that is laid out so, where a tile is short.
std::optional<Ends> ends_of(const Integers& dims, const Division&);

// What devices would hold of a value that is whole, were it laid out so; in a manual region each knows its
// own whole.
std::uint64_t print_of(const Array<Twin>& whole, const Division&);

}  // namespace plumb::hlo
