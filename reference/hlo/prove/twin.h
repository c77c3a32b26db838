// Floats as pairs: a real, which decides comparisons, and a residue, which says whether two values are the
// same. Their algebra.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "reference/exact/field.h"

namespace plumb::hlo {

// The value is coefficient · E(exponent), where E is an exponential of the field: E(a) E(b) = E(a + b), E(0)
// = 1. So exp(a) exp(b), exp(a + b) and their logarithms are known as the same. In a sum of several, in
// whatever order and of whatever parts, E(exponent) becomes a hash; a sum that came to nothing is still one
// of several.
struct Twin {
  double real = 0;
  // Bounds how far the real is from the value that exact arithmetic gives; infinite or NaN where it may be
  // anything.
  double error = 0;
  Residue coefficient, exponent;
};

Residue inverse(Residue);            // of zero: zero
void invert(std::vector<Residue>&);  // each of them
Residue power(Residue base, std::uint64_t exponent);
Residue residue_of(double);  // of a finite number, exactly
Residue hashed(std::uint64_t key, std::uint64_t what, Residue);

constexpr double kUnit = 0x1p-53;  // an operation of double errs by so much of its result
// Whether a difference is larger than what it may be off.
inline bool is_apart(double difference, double error) { return std::fabs(difference) > error; }

// Functions of the C library err by a few units; this many are allowed for.
constexpr double kFunction = 8 * kUnit;

inline bool finite_all(std::initializer_list<double> reals) {
  return std::ranges::all_of(reals, [](double x) { return std::isfinite(x); });
}

constexpr std::uint64_t kExponential = 1000;  // the name of E, apart from opcodes
inline Residue identity(std::uint64_t key, const Twin& x) {
  return x.exponent == Residue{} ? x.coefficient : x.coefficient * hashed(key, kExponential, x.exponent);
}

constexpr Twin kCancelled{0, 0, {}, {1}};  // zero, as a sum of several
inline bool is_exponential(const Twin& x) { return x.exponent != Residue{} && x.coefficient != Residue{}; }

// What is not finite is one value; what came finite out of infinities is what its real says.
Twin special(std::uint64_t key, double real);

Twin sum(std::uint64_t key, const Twin&, const Twin&, double real);
Twin negated(Twin);
Twin product(std::uint64_t key, const Twin&, const Twin&);
Twin quotient(std::uint64_t key, const Twin&, const Twin&);
Twin quotient(std::uint64_t key, const Twin& a, const Twin& b, Residue inverse);  // that of b's coefficient
Twin exponential(std::uint64_t key, const Twin&);
Twin logarithm(std::uint64_t key, const Twin&);
Twin square_root(std::uint64_t key, const Twin&);
Twin powered(std::uint64_t key, const Twin&, const Twin&);
Twin arc(std::uint64_t key, const Twin&, const Twin&);  // atan2

// A function of the reals with a residue of its own; its error from how far it moves over the operand's.
template <typename F>
Twin function(std::uint64_t key, const Twin& x, F f, std::uint64_t name) {
  const double real = f(x.real);
  if (!std::isfinite(x.real) || !std::isfinite(real)) return special(key, real);
  const double moved =
      x.error == 0 ? 0
                   : std::max(std::fabs(f(x.real + x.error) - real), std::fabs(f(x.real - x.error) - real));
  return {real, 2 * moved + std::fabs(real) * kFunction, hashed(key, name, identity(key, x)), {}};
}

// Of a sine or cosine: over more than a part of its length it may be anything from -1 to 1.
template <typename F>
Twin wave(std::uint64_t key, const Twin& x, F f, std::uint64_t name) {
  Twin result = function(key, x, f, name);
  if (std::isfinite(x.real) && !(x.error < 1)) result.error = 2;
  return result;
}

}  // namespace plumb::hlo
