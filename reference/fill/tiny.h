// Results whose elements are alike by chance: a few, or such as have few values.
#pragma once

#include "reference/fill/recipe.h"

namespace plumb {

// Whether a result tells nothing by these data: all its elements have the same bits, or it is one whose bits
// are all 0. Of a reshard this is asked whatever its size; of a product where no more than kFew bits are
// drawn, which are, where terms have one magnitude, the sign of each row and of each column of each cell
// (Product) to which terms are added, or where an operand has no more than kFew elements, of integers that
// wrap, or of normal data in parts. False where a product has more than kFewTerms terms, or an operand as
// many elements in all its parts, where no term is added whatever the data are, and for a quantize, which has
// several results.
constexpr std::int64_t kFew = 32, kFewTerms = 1 << 20;
bool tells_nothing(const Case&, const Recipe&);

}  // namespace plumb
