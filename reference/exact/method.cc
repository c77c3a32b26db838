#include "reference/exact/method.h"

#include "reference/exact/blas.h"
#include "reference/exact/halves.h"
#include "reference/exact/round_interval.h"
#include "reference/exact/settle.h"

namespace plumb {
namespace {

// Whether one dgemm, and whether three of halves, prove an element.
struct Proofs {
  bool single_dgemm, halves;
};

Proofs proofs_of(const Task& task, std::int64_t i, std::int64_t j) {
  const double ratio = task.left.ratio[i], other = task.right.ratio[j];
  const std::int64_t length = task.left.stride;
  const bool halves = reach(ratio, length) * reach(other, length) < kProved;
  if (ratio * other < 0x1p53) return {true, halves};
  const Sum2 sum = two_bins(task, i, j);
  const double value = sum.hi + sum.lo, e = gamma(task.left.depth) * task.left.norm[i] * task.right.norm[j];
  return {encode(task.c.dtype, value - e) == encode(task.c.dtype, value + e), halves};
}

}  // namespace

Method method_of(const Task& task) {
  if (!dgemm()) return Method::bins;
  if (!task.exact_products) return Method::single_dgemm;
  constexpr int samples = 48;
  int single_dgemm = 0, halves = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const Proofs proofs = proofs_of(task, s * 2654435761 % task.c.rows, s * 40503 % task.c.cols);
    single_dgemm += proofs.single_dgemm, halves += proofs.halves;
  }
  return single_dgemm >= samples / 2 ? Method::single_dgemm
         : halves >= samples / 2     ? Method::halves
                                     : Method::bins;
}

}  // namespace plumb
