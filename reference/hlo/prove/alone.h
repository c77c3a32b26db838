// Reductions that a part of what is reduced decides alone: of a maximum, whether a result would be another
// without the largest. A device that is not told what the others hold keeps the largest of its own: where
// that decides alike on all of them nobody sees it, nor where it shows in what the others do not hold.
#pragma once

#include <map>
#include <set>

#include "reference/hlo/prove/bounds.h"
#include "reference/hlo/prove/lack.h"
#include "reference/hlo/prove/subject.h"

namespace plumb::hlo {

// Of BEFORE the reductions by a maximum, a minimum, `or` or `and`, and by a sum that only decides,
// whatever is computed of it on the way, which several devices may make together: the program's own
// all-reduces; of others those that are cut in the module after propagation, where one such as it is there.
using Shared = std::map<const Instruction*, Sharing>;
Shared shared_out(const Subject&, const std::set<const Instruction*>& free_of_parameters);

// Arguments for it: along some dimensions of each array all slices are the same but one.
void draw_alone(const Module&, std::vector<Bounds>&, int tried);

}  // namespace plumb::hlo
