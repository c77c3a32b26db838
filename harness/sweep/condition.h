// Where something happens, in words: the simplest condition on the sizes of axes that says so exactly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/sweep/atoms.h"

namespace plumb {

// The shortest condition that holds on exactly the meshes marked in `here`: one or two comparisons of
// axes with sizes; else up to four bounds on axes; else one or two comparisons of any kind; else up to three
// joined by `or` or four by `and`. Nothing where there is none.
//   fails on 2x2 2x3 3x2 3x3 of 1..3 x 1..3   "dp >= 2 and tp >= 2"
std::optional<std::string> condition(const std::vector<Atom>&, const std::vector<bool>& here);

}  // namespace plumb
