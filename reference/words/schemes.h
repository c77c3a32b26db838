// Where a scheme may stand, and what quantize takes and gives. Each throws BadInput at the offending
// character.
#pragma once

#include <vector>

#include "reference/words/scan.h"

namespace plumb {

void check_quantize(const Op&, const std::vector<Placed>&, const Scan&);
void check_schemes(const Op&, const std::vector<Placed>&, const Scan&);

}  // namespace plumb
