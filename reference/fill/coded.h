// Data of a product with operands that are quantized: integers in a unit after they were quantized, something
// else before.
//
// Small values are, quantized, integers of magnitude 1 to 7, given with a fraction that quantizing takes
// away. A tile gets its scale from one large value, which lies on a line: an index along the last contracted
// dimension, even for the left operand, odd for the right one. Against a line of one operand the other has
// magnitude 1, so that no two large values meet. Of mxfp8 each tile has its large value; of fp8 a tile is
// more than a line, and one element of it is large. A tile that has no line, of one term and the other
// parity, is of values up to 7 units, with less of a fraction; of fp8 one of them is 7 units: its scale is a
// power of two too.
//   fine     unit = the smallest code: a scale from any part of a tile without its large value keeps more of
//            the fractions, and a scale that is too small clips the large value
//   coarse   where fine sums do not fit the accumulator, and for e5m2: the large value is 1 to 7 times
//            2^6 units, so that of mxfp8 a scale too fine goes unseen (it changes no product), one too small does not
//   level    where coarse ones do not fit either: 1 to 7 times 2 units, so that no term is lost beside another
//            where the bound judges
// The units are such that no sum exceeds what the formats of the case hold, nor, of 8 bits, falls far below.
// Tiles differ in their scales by a factor of two where the sums have room for it, groups in any case.
#pragma once

#include <cstddef>
#include <vector>

#include "reference/fill/members.h"
#include "reference/fill/run.h"
#include "reference/words/op.h"
#include "reference/words/tiles.h"

namespace plumb {

struct Recipe;

struct Coded {
  struct Operand {
    Scheme scheme = Scheme::none;
    std::vector<std::int64_t> shape;
    Tiles tiles;                        // one for each group where there is no scheme
    std::vector<MembersDrawn> members;  // of the tiles, by dimension
    int along = -1;                     // the last contracted dimension, -1 where there is none
    std::vector<std::int64_t> line;  // by index along it: where the line of its stretch of a tile is, or -1
    std::vector<char> has_line;      // by tile along it
    std::vector<char> opposite;      // by index along it: whether the other operand's line is there
    std::int64_t parts = 1;
    int unit = 0;  // its exponent
  } operand[2];
  int large = 15;      // the largest value is 7 * 2^large units
  bool varies = true;  // tiles of mxfp8 differ in their scales
  bool grouped = false;
  // Of one element of the result, in units: the largest sum of |a b|.
  __int128 terms = 0;
  bool split = false;  // the sum is spread over devices
  bool kept = false;   // values are written as they are after they were quantized
};
Coded coded(const Case&);

// In which parts of its sums are stored: the narrowest of the wire and of what is left unfinished.
DType carried(const Case&);

void write_run(const Recipe&, const Coded&, const Run&, std::byte* out);  // recipe.h

}  // namespace plumb
