// Which products a convolution sums.
#pragma once

#include "reference/hlo/run/maps.h"

namespace plumb::hlo {

// For each element of the result its terms, from `begin` of it to `begin` of the next: an element of the
// input and one of the kernel.
struct Terms {
  Integers begin, input, kernel;
};
Terms convolution_terms(const Instruction&, const Integers& input, const Integers& kernel,
                        const Integers& result);

}  // namespace plumb::hlo
