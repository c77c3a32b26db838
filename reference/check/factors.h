// A block of a product as products of matrices. Private to the room.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "reference/words/letters.h"

namespace plumb {

// A part of a block, and the slices of both operands whose products add up to it: one pair, but where rows of
// a group that lie apart are summed; none where zeros are wanted (a tail, an empty group).
struct Factors {
  Slice out;
  std::vector<std::array<Slice, 2>> pairs;
};

// The parts tile the block, each the block but for fewer indices of its first dimension, so that it lies in
// one piece: a grouped product has one for each group and run of rows.
std::vector<Factors> factors_of(const Case&, const Slice& block);

// The letters of a product by the part they play. The letter of the groups plays none: it has one index.
//   mk,kn->mn   rows m, columns n, summed k      bmk,bkn->bmn   a batch b of these
struct Parts {
  Letters words;
  std::string batch, rows, columns, summed;
};
Parts parts_of(const Op&);

}  // namespace plumb
