// The independent judge of rounding, for tests: MPFR computes and rounds by itself.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/words/dtype.h"

namespace plumb {

// A number wide enough for every sum of doubles or of products of two doubles.
struct Real {
  mpfr_t x;
  Real() { mpfr_init2(x, 4800), mpfr_set_zero(x, 1); }
  explicit Real(double value) : Real() { mpfr_set_d(x, value, MPFR_RNDN); }
  ~Real() { mpfr_clear(x); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
};

inline void add(Real& sum, double value) { mpfr_add_d(sum.x, sum.x, value, MPFR_RNDN); }

inline void add_product(Real& sum, double a, double b) {
  MPFR_DECL_INIT(product, 106);
  MPFR_DECL_INIT(factor, 53);
  mpfr_set_d(factor, b, MPFR_RNDN), mpfr_set_d(product, a, MPFR_RNDN);
  mpfr_mul(product, product, factor, MPFR_RNDN);
  mpfr_add(sum.x, sum.x, product, MPFR_RNDN);
}

// The value nearest to `exact` in an integer format: to even, then wrapped.
inline double nearest_integer(const Format& f, const Real& exact) {
  mpz_t whole;
  mpz_init(whole);
  mpfr_get_z(whole, exact.x, MPFR_RNDN);
  mpz_fdiv_r_2exp(whole, whole, 8 * f.bytes);
  double value = mpz_get_d(whole);
  mpz_clear(whole);
  if (value > f.largest) value -= std::ldexp(1.0, 8 * f.bytes);
  return value;
}

// The value nearest to `exact` in a format, with the format's exponent range and subnormals, and the
// rules of overflow. A NaN gives NaN (0 in integers).
inline double nearest(const Format& f, const Real& exact) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (f.integer) return mpfr_number_p(exact.x) ? nearest_integer(f, exact) : 0;
  if (mpfr_nan_p(exact.x)) return nan;
  const bool negative = mpfr_signbit(exact.x) != 0, bounded = mpfr_number_p(exact.x) != 0;
  if (f.dtype == DType::e8m0 && negative && !mpfr_zero_p(exact.x)) return nan;
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t y;
  mpfr_init2(y, f.digits);
  int way = mpfr_set(y, exact.x, MPFR_RNDN);
  mpfr_set_emin(f.min_exponent - f.digits + 2), mpfr_set_emax(f.max_exponent + 1);
  way = mpfr_check_range(y, way, MPFR_RNDN);
  mpfr_subnormalize(y, way, MPFR_RNDN);
  double value = mpfr_get_d(y, MPFR_RNDN);
  mpfr_clear(y);
  mpfr_set_emin(emin), mpfr_set_emax(emax);
  if (f.dtype == DType::e8m0) value = std::max(value, 0x1p-127);
  const bool saturates = f.bytes == 1 && (bounded || !f.infinity);
  if (saturates && std::fabs(value) > f.largest) value = negative ? -f.largest : f.largest;
  return value;
}

// Whether `bits` are the element that `exact` rounds to; the sign of a zero counts, but a sum that is
// exactly zero may only be +0.
inline bool right(DType dtype, const Real& exact, std::uint64_t bits) {
  const double got = decode(dtype, bits), want = nearest(format(dtype), exact);
  if (std::isnan(want)) return std::isnan(got);
  return got == want && std::signbit(got) == std::signbit(want);
}

}  // namespace plumb
