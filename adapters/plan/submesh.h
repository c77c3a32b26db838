// A plan over a submesh, carried out in every slice.
#pragma once

#include "adapters/plan/plan.h"

namespace plumb {

// The plan of slice_case(c) as a plan over the whole mesh of c: each send once in every slice.
Plan in_every_slice(Plan one, const Case& c);

}  // namespace plumb
