// Values as codes and scales, tile by tile.
#pragma once

#include <vector>

#include "reference/words/op.h"
#include "reference/words/tensor.h"
#include "reference/words/tiles.h"

namespace plumb {

// The tile of every element of an array of this shape, -1 where it has none.
std::vector<std::int64_t> tile_of_each(const Tiles&, const std::vector<std::int64_t>& shape);

// The largest magnitude in each tile: 0 where it is empty, NaN where one is NaN.
std::vector<double> largest_magnitudes(const Tensor& x, const Tiles&);

// The codes of x, and the dense scales of its tiles (scales_of(scheme)): x is about code times scale.
struct Quantized {
  Tensor codes;
  Tensor scales;
};
Quantized quantized(const Tensor& x, Scheme, const Tiles&);

// Code times scale, exactly: f64, or f32 for blocks, whose scales are powers of two, where it holds every
// code with the largest of them (not above 0.875 * 2^128).
Tensor dequantized(const Quantized&, const Tiles&);

// The op: codes, scales, and what delayed scaling gives besides.
std::vector<Tensor> quantize(const Case&, const std::vector<Tensor>& operands);

}  // namespace plumb
