#pragma once

#include "reference/fill/product.h"

namespace plumb {

// The largest budgets for which every sum of the case is exact.
Widths widths(const Case&, int perturbed, const Load&);

}  // namespace plumb
