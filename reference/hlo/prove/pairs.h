// The interpreter's floats as pairs.
#pragma once

#include <atomic>
#include <map>

#include "reference/hlo/prove/twin.h"
#include "reference/hlo/run/numbers.h"

namespace plumb::hlo {

// A number as a factor of a sum of products. What the sum is off at most is, over all terms, the sum of
// |left| right.bound + left.bound (|right| + right.bound), where the bound on the right has the roundings.
struct Factor {
  double real = 0, bound = 0;
  Residue identity, exponent;
  const Twin* number = nullptr;
};

// Numbers for the interpreter. `key` is that of the hashes: two runs that are compared share it.
struct Pairs {
  using Number = Twin;
  using Factor = hlo::Factor;
  std::uint64_t key = 0;
  // Decisions that rest on reals no further apart than their errors, between values that are not the same.
  std::int64_t doubts = 0;
  void doubt() { std::atomic_ref(doubts).fetch_add(1, std::memory_order_relaxed); }
  // What constants of the module stand for; null where each is itself.
  const std::map<double, Twin>* meanings = nullptr;
  // Minima, maxima, comparisons, signs and roundings that may be either of two. The reals of what is chosen
  // hold, as far as they may be off; its residue no other value has: of a maximum it is of a function of
  // both, and what two comparisons choose is never known as the same.
  std::int64_t blurs = 0;
  std::uint64_t choices = 0;

  Number constant(double x);  // exactly: a dyadic rational, or what it stands for
  Number integer(std::int64_t x, Type type);
  Number unary(Opcode, const Number&);
  Number binary(Opcode, const Number&, const Number&);
  void binary(Opcode, const Number* a, const Number* b, Number* to, std::int64_t n);  // of each of n
  Factor left(const Number& x) { return {x.real, x.error, identity(x), x.exponent, &x}; }
  // A product is rounded once, and a sum for each of the others: by half a unit of what all magnitudes add up
  // to.
  Factor right(const Number& x, std::int64_t n) {
    const double rounded = static_cast<double>(n) * kUnit * std::fabs(x.real);
    return {x.real, x.error + rounded, identity(x), x.exponent, &x};
  }
  Number dot(const Factor* a, const Factor* b, std::int64_t n);
  Ordering compare(const Number& a, const Number& b, bool total);
  Ordering likely(const Number& a, const Number& b, bool total);
  bool open(const Number& a, const Number& b);
  Number either(bool first, const Number& a, const Number& b);
  Number extreme(Opcode, const Number& a, const Number& b);  // minimum, maximum
  std::int64_t truncate(const Number&, Type);
  bool finite(const Number&);
  std::int64_t bits(Type, const Number&);
  bool same(const Number& a, const Number& b);
  std::uint64_t print(const Number&);
  Number any(std::uint64_t);

  // One residue for one value, whatever way it came about.
  Residue identity(const Number& x) const { return hlo::identity(key, x); }
};

}  // namespace plumb::hlo
