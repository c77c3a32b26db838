// Where a value is left that nobody asked for in a layout.
#pragma once

#include "adapters/plan/plan.h"

namespace plumb {

// The layout in which a value that lies as `from` is left: where it is if it is finished; else, of all
// its axes that split nothing splitting one dimension, minor, and of none doing so, what moves the
// fewest elements, the first of these that does.
Spec free_layout(const Mesh&, const Spec& from, Rule);

}  // namespace plumb
