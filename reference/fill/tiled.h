// Data to be quantized, of which nothing can be forgotten unseen:
//   - every value but the largest of fp8 has more digits than its code: it changes, whatever power of two is
//     its scale
//   - fp8: in every tile each piece of the layout has its own largest magnitude, on an element drawn in it;
//     one of them is the tile's, for which the ways to compute a scale differ in bits (scale_witnesses.h).
//     Where the piece has two elements more, they lie beside ties, and tell in which way the scale was used
//   - mxfp8: every tile has one value, drawn in it, at least twice as large as all others: the scale of any
//     part without it is another. In a quarter of the tiles rounding the scale down would clip it
//   - the others are spread over all exponents of the codes, down to those that become subnormal or zero;
//     one in eight lies half way between two codes
//   - rows of no group are NaN
#pragma once

#include <cstddef>
#include <vector>

#include "reference/fill/members.h"
#include "reference/fill/run.h"
#include "reference/words/op.h"
#include "reference/words/tiles.h"

namespace plumb {

struct Recipe;

struct Tiled {
  Scheme scheme = Scheme::fp8;
  Tiles tiles;
  std::vector<std::int64_t> shape;
  // By dimension and index: how many pieces of the layout hold some of the index's tile, and which of them
  // has it.
  std::vector<std::vector<std::int64_t>> holders, holder;
  std::vector<MembersDrawn> members;  // of a tile; of fp8 the part of it in one piece
  std::int64_t differing = 1;         // pieces with a largest magnitude of their own
};
Tiled tiled(const Case&);

void write_run(const Recipe&, const Tiled&, const Run&, std::byte* out);  // recipe.h

}  // namespace plumb
