// The borders of manual regions, in which each device is by itself: over all axes of a mesh or over some, one
// region within another.
#pragma once

#include <optional>
#include <vector>

#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// How a value crosses a border: how it lies outside of the region, and for each device its place in the
// region and in the one around it (0 where none is). Devices of one place know the same whole.
struct Crossing {
  Sharding outside;
  Integers inside, around;
};

// Of each value that crosses at a custom call that is a border. Throws Misfit where that is not said.
std::vector<Crossing> crossings(const Module&, const Computation&, const Instruction&);

// Of a division of an array of these extents, of which one part is as large as `held`: that into such parts,
// each of which is all that it is divided into further. A region over some axes has them before the others.
std::optional<Division> outer_tiles(Division, const Integers& dims, const Integers& held);

// How a whole of extents `dims` is cut at a border where devices hold arrays of extents `held` in the region.
// Throws Misfit where it is not, or where devices of one place would hold different tiles.
Division division_at(const Crossing&, const Integers& dims, const Integers& held);

// Who holds a whole together: all devices outside of all regions, in a region those of one place.
struct Holding {
  std::vector<Integers> devices;  // of each whole
  std::vector<std::int32_t> of;   // each device's
};

// Those of a border where a region is left, where device d holds the lane `lanes[d]`. Holding that are made
// of the same lanes are one.
Holding holding_at(const Crossing&, const Division&, const Integers& lanes);

}  // namespace plumb::hlo
