#include "reference/hlo/run/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/hlo/run/array.h"
#include "reference/hlo/run/integers.h"

namespace plumb::hlo {

double Reals::integer(std::int64_t x, Type type) {
  return row(type).kind == Kind::unsigned_integer ? static_cast<double>(static_cast<std::uint64_t>(x))
                                                  : static_cast<double>(x);
}

namespace {

// Where a function of the reals has a value.
double magnitude(Opcode opcode, double x) {
  switch (opcode) {
    case Opcode::log:
    case Opcode::rsqrt:
    case Opcode::sqrt:
      return std::fabs(x);
    case Opcode::log_plus_one:
      return std::fabs(1 + x) - 1;
    default:
      return x;
  }
}

}  // namespace

double Reals::unary(Opcode opcode, double x) {
  if (total) x = magnitude(opcode, x);
  switch (opcode) {
    case Opcode::abs:
      return std::fabs(x);
    case Opcode::cbrt:
      return std::cbrt(x);
    case Opcode::ceil:
      return std::ceil(x);
    case Opcode::cosine:
      return std::cos(x);
    case Opcode::erf:
      return std::erf(x);
    case Opcode::exponential:
      return std::exp(x);
    case Opcode::exponential_minus_one:
      return std::expm1(x);
    case Opcode::floor:
      return std::floor(x);
    case Opcode::log:
      return std::log(x);
    case Opcode::log_plus_one:
      return std::log1p(x);
    case Opcode::logistic:
      return 1 / (1 + std::exp(-x));
    case Opcode::negate:
      return -x;
    case Opcode::round_nearest_afz:
      return std::round(x);
    case Opcode::round_nearest_even:
      return std::nearbyint(x);
    case Opcode::rsqrt:
      return 1 / std::sqrt(x);
    case Opcode::sign:
      return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x);
    case Opcode::sine:
      return std::sin(x);
    case Opcode::sqrt:
      return std::sqrt(x);
    case Opcode::tan:
      return std::tan(x);
    case Opcode::tanh:
      return std::tanh(x);
    default:
      throw Misfit("no operation of floats");
  }
}

double Reals::binary(Opcode opcode, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  switch (opcode) {
    case Opcode::add:
      return a + b;
    case Opcode::subtract:
      return a - b;
    case Opcode::multiply:
      return a * b;
    case Opcode::divide:
      return a / b;
    case Opcode::maximum:
      return nan ? a + b : std::max(a, b);
    case Opcode::minimum:
      return nan ? a + b : std::min(a, b);
    case Opcode::power:
      return std::pow(total && b != std::trunc(b) ? std::fabs(a) : a, b);
    case Opcode::remainder:
      return std::fmod(a, b);
    case Opcode::atan2:
      return std::atan2(a, b);
    default:
      throw Misfit("no operation of floats");
  }
}

void Reals::binary(Opcode opcode, const double* a, const double* b, double* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = binary(opcode, a[i], b[i]);
}

double Reals::dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

Ordering Reals::compare(double a, double b, bool total_order) {
  if (total_order) {
    const auto place = [](double x) { return std::isnan(x) ? (std::signbit(x) ? -2 : 2) : 0; };
    if (place(a) != place(b)) return place(a) < place(b) ? Ordering::less : Ordering::greater;
    if (place(a) != 0) return Ordering::equal;
    if (a == b && std::signbit(a) != std::signbit(b))
      return std::signbit(a) ? Ordering::less : Ordering::greater;
  }
  if (std::isnan(a) || std::isnan(b)) return Ordering::unordered;
  return a < b ? Ordering::less : a > b ? Ordering::greater : Ordering::equal;
}

std::int64_t Reals::truncate(double x, Type type) {
  const TypeRow& facts = row(type);
  if (std::isnan(x)) return 0;
  const bool is_signed = facts.kind == Kind::signed_integer;
  const double above = std::ldexp(1.0, facts.bits - is_signed), below = is_signed ? -above : 0;
  const double whole = std::trunc(x);
  if (whole >= above) {  // the largest of the type
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - facts.bits);
    return static_cast<std::int64_t>(is_signed ? all >> 1 : all);
  }
  if (whole <= below) return is_signed ? wrap(type, std::int64_t{1} << (facts.bits - 1)) : 0;
  return is_signed ? static_cast<std::int64_t>(whole)
                   : static_cast<std::int64_t>(static_cast<std::uint64_t>(whole));
}

bool Reals::finite(double x) { return std::isfinite(x); }

std::int64_t Reals::bits(Type type, double x) { return bits_of(type, x); }

std::uint64_t Reals::print(double x) { return std::bit_cast<std::uint64_t>(x == 0 ? 0 : x); }

double Reals::any(std::uint64_t random) {
  const double size = static_cast<double>(random >> 11) * 0x1p-53 * 1.5 + 0.5;
  return random & 1 ? size : -size;
}

bool Reals::same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace plumb::hlo
