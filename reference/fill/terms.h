// The elements of a product's operands, along runs of one dimension.
#pragma once

#include <cmath>
#include <vector>

#include "reference/fill/recipe.h"
#include "reference/fill/term_at.h"

namespace plumb {

TermsAt terms_of(const Recipe&, const Product&, int operand, std::int64_t part);

// One part of one operand, ready to be computed.
struct Terms {
  Terms(const Recipe&, const Product&, const Portion&);

  TermsAt at;
  std::vector<Matching> known{};  // by block, of the cell where it was needed last
};

// Runs of `count` elements along a free dimension, along a contracted one inside one block, and of rows
// that belong to no group, where `spot.term` is the row and the values are noise that nothing may use.
void along_free(Terms&, Spot, std::int64_t count, double* out);
void along_contracted(Terms&, Spot, std::int64_t count, double* out);
void along_tail(const Terms&, const Spot&, std::int64_t count, double* out);

}  // namespace plumb
