// Results of a few elements, which are alike by chance.
#pragma once

#include "reference/fill/recipe.h"

namespace plumb {

// Whether a result of up to kFew elements, those to which no term is added not counted, tells nothing by
// these data: all its elements have the same bits, or it is one whose bits are all 0. False where the sums
// have more than kFewTerms terms, where no term is added whatever the data are, and for a quantize, which has
// several results.
constexpr std::int64_t kFew = 16, kFewTerms = 1 << 14;
bool tells_nothing(const Case&, const Recipe&);

}  // namespace plumb
