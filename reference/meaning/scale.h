// Scales: what a code is multiplied by, or what a value is multiplied by to give its code.
#pragma once

#include <cstdint>

#include "reference/words/tensor.h"

namespace plumb {

// mxfp8: the code of the smallest power of two s with amax <= largest code * s, so that no value is
// clipped (rounding up, as PTX cvt.rp to ue8m0 does; OCP MX 1.0 rounds down and clips). Zero gives 0, which
// is 2^-127, an infinity 0xfe, NaN 0xff.
//   e4m3   amax 448: 2^0   449: 2^1   1.75: 2^-8   1.76: 2^-7
std::uint8_t block_scale(double amax, DType codes);

// fp8: largest code / amax in f32, at most the largest f32; 1 where amax is zero or not finite. Codes are
// scaled by the inverse, 1 / scale in f32. Source: compute_scale_from_amax and CurrentScaleQuantizer of
// Transformer Engine 2.20.2, transformer_engine/jax/quantize/quantizer.py; amax / largest code differs in the
// last bit for 40 of the 128 amax of 8 digits.
double current_scale(double amax, DType codes);

// Delayed: the same of the largest magnitude of the history, which may keep the scale it has.
double next_scale(double amax, double scale, DType codes);

// The element nearest to value * scale, computed in f32, clipped to the finite codes. -0 stays, NaN too.
std::uint64_t code(DType codes, double value, double scale);

}  // namespace plumb
