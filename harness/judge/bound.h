// Where bits need not be equal: how far from the exact result a correct one may lie.
#pragma once

#include <optional>

#include "harness/judge/blocks.h"
#include "harness/judge/verdict.h"
#include "reference/rounding/bound.h"
#include "reference/rounding/statistics.h"

namespace plumb {

struct Bound {
  Reduction reduction;
  Exact exact;
  bool split_unknown = false;  // a send may have added up what the case does not
  Tensor partials;  // what each device along the summed axes adds, [P, n...], f64; may have no element
};

// Nothing where bits must be equal: nothing is summed, or the certificate stands. It does not where the
// data round, where it holds for this split and the trace shows another, where the backend promises
// less than the accumulate and wire types of the case (then the result's dtype is taken for both), or where
// it adds up products by an engine that truncates. Where the trace says how parts were added, the bound is
// that order's.
std::optional<Bound> bound_of(const Wanted&, const Outcome&, const Declared&);

// Whether the element may be `bits` although another value is wanted; and whether it may be anything, for its
// sum may overflow on the way.
bool within(const Bound&, std::int64_t element, DType, std::uint64_t bits);
bool allows_anything(const Bound&, std::int64_t element);

// The pooled statistics of all elements of a whole result, and the `wrong` facts that they make; nothing but
// of data that round: where the sums of the case are exact no errors are drawn. And that whole result from
// its blocks.
Statistics pooled_statistics(const Wanted&, const Bound&, const Tensor& got);
std::vector<Fact> pooled_facts(const Wanted&, const Bound&, const Tensor& got);
Tensor pooled(const Wanted&, const std::vector<Held>&);

}  // namespace plumb
