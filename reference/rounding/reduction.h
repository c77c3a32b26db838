// What a backend promises of its sums, and a case asks of them.
#pragma once

#include <optional>

#include "reference/rounding/model.h"
#include "reference/words/op.h"

namespace plumb {

// How the ranks' sums are added up, where a backend says it: how often at most one of them, or a sum that has
// it in, is added to another, and how often at most it is rounded to the wire, the first time when it is
// sent.
//   of n, one after the other, each sum rounded       n - 1, n           as any order at worst
//   in pairs, and pairs of pairs                      log2 n, log2 n + 1
//   kept in acc, and rounded once they are finished   n - 1, 2
struct Order {
  std::int64_t additions = 0, roundings = 0;
};

// What a backend promised: each of `parts` ranks adds up to `terms` products (or values) in `acc`, in any
// order; the ranks' sums are sent in `wire` and added in `acc`, in any order; the result is rounded to `out`.
// No terms: a rank rounds nothing, for it holds a value, or one product that is exact until it is rounded to
// `out`.
struct Reduction {
  DType acc = DType::f32, wire = DType::f32, out = DType::f32;
  std::int64_t terms = 0;
  std::int64_t parts = 1;
  Engine engine = Engine::ieee;
  DType stored = DType::f64;     // in which a value may lie between two steps of the reduction
  std::optional<Order> order{};  // of the reduction; none: any
};

// Of a case: terms is the length of the longest sum of products on one rank if nothing is split (so that
// it holds for any split), parts the number of ranks over which a sum is spread, or, where a chain or an
// unfinished operand of a product makes several reductions one after the other, all of theirs. Stored are
// an unfinished result, one on the way, and an operand that is finished before it is multiplied.
Reduction reduction(const Case&);

}  // namespace plumb
