#pragma once

#include "reference/fill/product.h"

namespace plumb {

// Of the plain and of the perturbed operand: what is not summed, rows and columns of the result.
struct Free {
  std::int64_t plain = 1, perturbed = 1;
};

// The largest budgets for which every sum of the case is exact, with long terms where these show more bits.
// Bits count where enough is drawn that some has them: of an operand only what does not cancel counts.
ProductBudget product_budget(const Case&, int perturbed, const Load&, const Free&);

}  // namespace plumb
