// Results of a few elements, which are alike by chance.
#pragma once

#include "reference/fill/recipe.h"

namespace plumb {

// Whether a result in which up to kFew bits are drawn tells nothing by these data: all its elements have the
// same bits, or it is one whose bits are all 0. Of a reshard at least a bit of each element is drawn; of a
// product whose terms have one magnitude the sign of each row and of each column, of each cell (Product) to
// which terms are added. False where the sums have more than kFewTerms terms, or an operand as many elements in
// all its parts, where no term is added whatever the data are, and for a quantize, which has several results.
constexpr std::int64_t kFew = 32, kFewTerms = 1 << 14;
bool tells_nothing(const Case&, const Recipe&);

}  // namespace plumb
