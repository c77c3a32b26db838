// How a value lies over devices, as the attribute sharding= says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/hlo/module/order.h"

namespace plumb::hlo {

enum class Spread : std::uint8_t { replicated, manual, unreduced, unknown, maximal, tiled, named, tuple };
enum class Subgroup : std::uint8_t { replicated, manual, unreduced };

// What the axes of a mesh do: those that split each dimension, major to minor, and those of the other kinds.
// An axis that stands nowhere replicates.
struct Axes {
  Mesh mesh;
  std::vector<std::vector<AxisPart>> dims;
  std::vector<AxisPart> replicated, unreduced, manual;
  Spread whole = Spread::named;  // replicated or manual: `{mesh['a'=2], manual}`
  bool operator==(const Axes&) const = default;
};

//   {replicated} {manual} {unreduced} {maximal device=3}
//   {devices=[2,1,4]<=[8] last_tile_dim_replicate}                       tiled
//   {mesh['a'=2,'b'=4], [{'a'}, {}], unreduced={'b'}}                    named
//   {{replicated}, {devices=[8]<=[8]}}                                   tuple
// Of a tiled value `tile` has a number for each dimension, then one for each kind of `last`.
struct Sharding {
  Spread spread = Spread::replicated;
  std::int64_t device = 0;  // of maximal
  Integers tile;
  Order order;
  std::vector<Subgroup> last;
  bool last_by_name = false;  // last_tile_dims={replicated} rather than last_tile_dim_replicate
  Axes axes;
  std::vector<Sharding> parts;
  bool operator==(const Sharding&) const = default;
};

// What one device holds of an array: which tile of each dimension, and which of the parts whose sum it is.
struct Share {
  Integers tile;
  std::int64_t part = 0;
  bool operator==(const Share&) const = default;
};

// What all devices hold. A dimension of size n in k tiles is cut flat: tile i is [i c, min(n, (i + 1) c)),
// where c = ceil(n / k).
struct Division {
  Integers tiles;          // how many, for each dimension
  std::int64_t parts = 1;  // unreduced: the value is the sum of so many
  std::vector<Share> shares;
};

// Of an array of `rank` dimensions over `devices`; nothing where no whole array is meant: manual, unknown, a
// tuple, a mesh of another number of devices.
std::optional<Division> divide(const Sharding&, std::size_t rank, std::int64_t devices);

// The same inside of a manual region, of the whole that each device knows there: axes that are manual cut
// nothing.
std::optional<Division> divide_within(const Sharding&, std::size_t rank, std::int64_t devices);

// For each device its place along the axes that are manual: those of one place know one whole. 0 where no
// axis is.
Integers manual_places(const Sharding&, std::int64_t devices);

std::string print(const Sharding&);

}  // namespace plumb::hlo
