// One array that changes its layout: what stays, counted in elements.
#pragma once

#include <vector>

#include "reference/words/spec.h"

namespace plumb {

// From one spec to another of the same shape.
struct Move {
  const Mesh& mesh;
  const Spec& from;
  const Spec& to;
  Rule rule;
};

// For each device the fewest elements it must receive; fewest_bytes says which.
std::vector<std::int64_t> fewest_elements(const Move&);

// Bytes received over all devices in the cheapest plan; best_known says which. Values on the way to a sum
// have the bytes of `wire`, all others those of the target. Not linear in the devices: dimensions that
// share no axis are counted apart.
std::int64_t cheapest_bytes(const Move&, DType wire);

// Bytes of a value that a device must receive: what is to be added may come as a part.
inline std::int64_t least_bytes(const Move& m, DType wire) {
  const std::int64_t whole = format(m.to.dtype).bytes, added = format(wire).bytes;
  return parts(m.mesh, m.from) > 1 && added < whole ? added : whole;
}

// What one device needs, and how much of it lies in its fibre along the target's unfinished axes
// already: as finished values, or in all its parts.
struct Need {
  std::int64_t needs = 0, holds = 0;
  bool counted = true;  // whether this is the first device of its fibre
};
Need need(const Move&, std::int64_t device);

// Elements of the target's piece of one dimension that the source's pieces cover, the device's
// coordinates along `along` taken all.
std::int64_t overlap(const Move&, std::size_t dim, const std::vector<std::int64_t>& at,
                     const std::vector<AxisId>& along);

}  // namespace plumb
