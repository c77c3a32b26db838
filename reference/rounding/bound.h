// How far a correct result may lie from the exact one, element by element, from the case alone.
#pragma once

#include <string>
#include <vector>

#include "reference/exact/exact.h"
#include "reference/rounding/reduction.h"

namespace plumb {

// What one step of the reduction costs, relatively: a value is rounded to acc when it is added, to the dtype
// in which it is stored, and to the wire when it is sent, but to no format that holds all values of one
// before it.
double step_unit(const Reduction&);
std::vector<DType> step_formats(const Reduction&);  // those to which it is rounded
double step_least(const Reduction&);                // the largest of their smallest normals
double step_largest(const Reduction&);              // the smallest of their largest values

// The exact results and their magnitudes, all f64 of the result's shape, rounded once: value is c;
// magnitude the sum of |a b| over all terms; partial the sum of |c_p| over the ranks, or magnitude where
// the ranks' sums are not known. Where operands may be rounded before they are multiplied, `common` is the
// variance that this gives each element, f64, and classes, one list for each such operand, say of each
// element with which others it may share the error.
struct Exact {
  Tensor value, magnitude, partial;
  Tensor common{};
  std::vector<std::vector<std::int64_t>> classes{};
};
Exact exact_product(const Matrix& a, const Matrix& b);  // [m,k] [k,n] -> [m,n]
Exact exact_sum(const Tensor& parts);                   // [P, n...] -> [n...]

// |t|, to build the magnitudes of any multilinear case: evaluate it at the magnitudes of its operands.
Tensor absolute(Tensor t);

// The bound, term by term; S, T, c one element of magnitude, partial, value. With u half a unit in the last
// place (of 1), eta the smallest normal (subnormals may be flushed), f the engine's factor:
//   local     ((1 + f u_acc)^terms - 1) S + parts terms eta_acc, 0 for no terms
//   reduction ((1 + u_step)^parts - 1) (T + local) + parts eta_step, 0 for one part
//             where an order is said ((1 + u_acc)^(additions + 1) (1 + u_wire)^roundings - 1) in that place:
//             a part is rounded to acc when it is added, and once before. Law: never more than of any order,
//             so that what is said can only be held against who says it
//   reference 2^-52 |c|, for c itself is rounded to f64
// Infinite where the sum may overflow the accumulate or the wire type.
struct BoundTerms {
  double local = 0, reduction = 0, reference = 0;
  double total() const { return local + reduction + reference; }
};
BoundTerms bound(const Reduction&, double magnitude, double partial, double value);

// The formula with its numbers for one element, one line for each term.
std::string bound_derivation(const Reduction&, const Exact&, std::int64_t element);

// A result is right within the bound when it lies in [low, high] = [round(c - E), round(c + E)] as a
// value of `out`, or is NaN where c is, or where `any` says that an overflow on the way may give anything.
struct Interval {
  double low = 0, high = 0;
  bool any = false;
};
Interval interval(const Reduction&, const Exact&, std::int64_t element);
bool inside(const Interval&, double got);

}  // namespace plumb
