// Largest magnitudes and values that tell in which way they were quantized. In f32, M being the largest code,
// the reference takes M / amax for the scale of values, its inverse for that of codes, and value * scale;
// each other way rounds elsewhere, and for most data to the same bits.
#pragma once

#include <vector>

#include "reference/words/dtype.h"

namespace plumb {

// A largest magnitude of 8 significant digits, in [1, 2), for which neither amax / M nor amax * (1 / M) is
// the scale of codes. Its values, multiples of the same binade, lie beside a tie of two codes and have more
// digits than a code:
//   quotient   value / (scale of codes) gives another code than value * scale
//   narrow     value * scale gives another once it is rounded to bf16
// The values are less than 2^-8; of f16 not less than 2^-19. No list is empty.
struct ScaleWitness {
  double amax = 1;
  std::vector<double> quotient, narrow;
};
const std::vector<ScaleWitness>& scale_witnesses(DType values, DType codes);

// Whether M / amax is none of 1 / (amax / M), M * (1 / amax) and 1 / (amax * (1 / M)), in f32: of the next
// scale of delayed scaling. Of 8 digits few are: 235 and 249.
bool is_next_scale_witness(double amax, DType codes);
const std::vector<double>& next_scale_witnesses(DType codes);  // those of 8 digits, in [1, 2)

}  // namespace plumb
