// The elements of a product's operands, along runs of one dimension.
#pragma once

#include <cmath>
#include <vector>

#include "reference/fill/product.h"
#include "reference/fill/recipe.h"

namespace plumb {

// Where a run of terms begins: the cell, the free index, the block, its volume, the place of the term in
// it, and by how much that grows along the run.
struct Spot {
  std::int64_t cell = 0, free = 0, block = 0, volume = 1, term = 0, step = 0;
};

// One part of one operand, ready to be computed.
struct Terms {
  Terms(const Recipe&, const Product&, const Portion&);

  const Product& product;
  std::int64_t part;
  bool perturbed;
  double unit;
  std::uint64_t values, parts, chosen, blocks, matchings, tail;  // keys
  // Of the magnitudes of rows of no group: the parts of one add up to what its dtype counts to.
  std::int64_t tail_most;
  std::vector<Matching> known;  // by block, of the cell where it was needed last
};

// Runs of `count` elements along a free dimension, along a contracted one inside one block, and of rows
// that belong to no group, where `spot.term` is the row and the values are noise that nothing may use.
void along_free(Terms&, const Spot&, std::int64_t count, double* out);
void along_contracted(Terms&, const Spot&, std::int64_t count, double* out);
void along_tail(const Terms&, const Spot&, std::int64_t count, double* out);

}  // namespace plumb
