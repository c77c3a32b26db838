// Which values share a scale.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

constexpr std::int64_t kBlockSize = 32;  // values of one scale of mxfp8

// What a scheme makes of values. A value is about its code times its scale.
inline bool in_blocks(Scheme s) { return s == Scheme::mxfp8 || s == Scheme::mxfp8e5; }
inline DType codes_of(Scheme s) {
  return s == Scheme::fp8e5 || s == Scheme::mxfp8e5 ? DType::f8e5m2 : DType::f8e4m3;
}
inline DType scales_of(Scheme s) { return in_blocks(s) ? DType::e8m0 : DType::f32; }

// An array cut into tiles, each with one scale: for each dimension the tile of every index along it, and how
// many tiles there are; the tiles of the array are all combinations, row-major. -1: a row of no group, which
// no tile holds: it is quantized to zeros.
//   fp8 bf16[64,96] -> f32[]                      one for all
//   fp8 bf16[64,96] sizes=40,24 -> f32[2]         one for each group of rows
//   fp8 bf16[4,64,32] -> f32[4]                   one for each index of the first dimension
//   mxfp8 bf16[64,96] -> e8m0[64,3]               32 along the last dimension
//   mxfp8 bf16[64,96] -> e8m0[2,96]               32 along the first
//   mxfp8 bf16[64,96] sizes=40,24 -> e8m0[3,96]   the same, beginning anew with each group: 32 + 8 rows, 24
struct Tiles {
  std::vector<std::vector<std::int64_t>> along;
  std::vector<std::int64_t> count;
};
std::int64_t size(const Tiles&);  // of all tiles

// The tiles that the shape of the scales says; nothing where it says none. `x` is the shape of the values.
using Shape = std::vector<std::int64_t>;
std::optional<Tiles> tiles(const Quantize&, const Shape& x, const Shape& scales);

// Of the op quantize.
Tiles tiles(const Op&);

// Of an operand of a product with a scheme: fp8 one for all, or one for each group; mxfp8 32 along the
// contracted dimension of the whole array, the last one where there are several, beginning anew with each
// group where its rows are contracted. Nothing where mxfp8 finds no dimension contracted.
std::optional<Tiles> tiles(const Op&, int operand);

// The dimension along which the blocks of mxfp8 run in an operand of a product, or -1.
int block_dim(const Op&, int operand);

}  // namespace plumb
