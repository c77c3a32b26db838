// The comparisons of which conditions are made.
#pragma once

#include <string>
#include <vector>

#include "harness/sweep/meshes.h"

namespace plumb {

// A comparison and where it holds: a bound on the size of one axis, another comparison of one axis, or a
// relation between axes or of the number of devices.
struct Atom {
  std::string text;         // "dp >= 2"
  std::vector<bool> holds;  // on each mesh
  enum Kind { bound, axis, relation } kind = bound;
};

// Comparisons of an axis with a size, of an axis with what divides it, of two axes, of the number of
// devices; the simpler ones first, and no two that hold on the same meshes.
std::vector<Atom> atoms(const Mesh&, const std::vector<Sizes>& meshes);

}  // namespace plumb
