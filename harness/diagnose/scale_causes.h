// Which scales were taken instead?
#pragma once

#include "harness/judge/verdict.h"
#include "harness/judge/wanted.h"

namespace plumb {

// Of a product of fp8 operands that is wrong: tries, for every set of axes that split an operand, the largest
// magnitude of each part along them in the place of that of the whole. Either a part is multiplied with its
// own scale, or each device takes the scale of its own part for what it was given of all parts. Names what
// the answer passes for, within the bound, as products of such scales round; empty where nothing does.
std::vector<Explanation> other_scales(const WantedAll&, const Outcome&, const Read&, const Declared&);

}  // namespace plumb
