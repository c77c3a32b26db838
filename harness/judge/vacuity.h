// Could the checks that a result passed have failed?
#pragma once

#include "harness/judge/values.h"

namespace plumb {

// Whether a result that rounds rightly may be, to the bit, one of `tried` wrong ones by chance: it differs
// from what is wanted in few elements, those that have errors in common not counted beyond these, and its
// errors are no larger than they may be. Of exact data nothing is by chance.
bool by_chance(const Wanted&, const Bound&, const Tensor& got, std::int64_t tried);

// `mistrusted` where a bound judged elements that differ, and it cannot be told from a result that is wrong:
// - of data that are exact, summed as they need not be: the bound would pass zeros
// - of data that round, where statistics judge beside the bound: what came is zeros, or halves, or lacks what
// one
//   device adds
// - where a sum may have overflowed on the way, which allows anything; of data that round, not a number
std::optional<Fact> vacuous(const Wanted&, const Bound&, const Differences&, const Tensor& got);

// `mistrusted` where no check of a case could have failed. It could where a result has elements that differ,
// or one alone that is not zero: misplaced ones, or zeros, would be seen. So it could where a result is the
// same whatever the operands hold (needs.h) and not all of its rows are masked: to write these zeros is all
// there is to do, and the memory was full of ones before. One such result of several is enough: zeros of the
// others may be what these data give. Where no result has an element, none can be wrong.
//   f32[9,4] of no group                    zeros, whatever x and w are       can fail
//   the same, the tail left undefined       every row is masked               cannot
//   a sum of data that cancel to zeros      a program that adds nothing would pass    cannot
//   f8e4m3[65] f32[] f32[1] f32[]           a history of one is 0; the codes differ   can fail
std::optional<Fact> cannot_fail(const Case&, std::span<const Tensor> wholes, const Declared&);

// The same of what is known of each result: whether all its elements have the bits of the first.
struct Glance {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  bool alike = false;
  std::uint64_t first = 0;
};
std::optional<Fact> cannot_fail(const Case&, std::span<const Glance>, const Declared&);

}  // namespace plumb
