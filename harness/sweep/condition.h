// Where something happens, in words: the simplest condition on the sizes of axes that says so exactly.
#pragma once

#include <optional>
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

// The shortest condition that holds on exactly the meshes marked in `here`: one or two comparisons of
// axes with sizes; else up to four bounds on axes; else one or two comparisons of any kind; else up to three
// joined by `or` or four by `and`. Nothing where there is none.
//   fails on 2x2 2x3 3x2 3x3 of 1..3 x 1..3   "dp >= 2 and tp >= 2"
std::optional<std::string> condition(const std::vector<Atom>&, const std::vector<bool>& here);

}  // namespace plumb
