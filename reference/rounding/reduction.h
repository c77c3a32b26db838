// What a backend promises of its sums, and a case asks of them.
#pragma once

#include "reference/rounding/model.h"
#include "reference/words/op.h"

namespace plumb {

// What a backend promised: each of `parts` ranks adds up to `terms` products (or values) in `acc`, in any
// order; the ranks' sums are sent in `wire` and added in `acc`, in any order; the result is rounded to `out`.
// No terms: a rank rounds nothing, for it holds a value, or one product that is exact until it is rounded to
// `out`.
struct Reduction {
  DType acc = DType::f32, wire = DType::f32, out = DType::f32;
  std::int64_t terms = 0;
  std::int64_t parts = 1;
  Engine engine = Engine::ieee;
  DType stored = DType::f64;  // in which a value may lie between two steps of the reduction
};

// Of a case: terms is the length of the longest sum of products on one rank if nothing is split (so that
// it holds for any split), parts the number of ranks over which a sum is spread, or, where a chain or an
// unfinished operand of a product makes several reductions one after the other, all of theirs. Stored are
// an unfinished result, one on the way, and an operand that is finished before it is multiplied.
Reduction reduction(const Case&);

}  // namespace plumb
