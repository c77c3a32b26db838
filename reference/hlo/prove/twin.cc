#include "reference/hlo/prove/twin.h"

#include <limits>

#include "reference/hlo/run/numbers.h"

namespace plumb::hlo {
namespace {

constexpr double kLargestExponent = 600;  // exp is clamped: its reals stay finite, and so do their products
// Its value below this is zero, as in every format by far: what is masked by a large negative number is gone.
constexpr double kVanishing = -0x1p20;
constexpr double kAnything = std::numeric_limits<double>::infinity();  // an error: nothing is known

// Names of functions for hashes, apart from opcodes.
constexpr std::uint64_t kLogarithm = 1001, kInfinity = 1002, kNotANumber = 1003, kArc = 1004;

}  // namespace

Residue power(Residue base, std::uint64_t exponent) {
  Residue result{1};
  for (; exponent > 0; exponent >>= 1, base = base * base)
    if (exponent & 1) result = result * base;
  return result;
}

Residue inverse(Residue x) { return power(x, Residue::p - 2); }

// One inverse, of the product of all; each is then that of a product of the others.
void invert(std::vector<Residue>& all) {
  std::vector<Residue> before;
  Residue product{1};
  for (const Residue x : all) {
    before.push_back(product);
    if (x != Residue{}) product = product * x;
  }
  Residue behind = inverse(product);
  for (std::size_t n = all.size(); n-- > 0;) {
    if (all[n] == Residue{}) continue;
    const Residue x = all[n];
    all[n] = behind * before[n];
    behind = behind * x;
  }
}

Residue residue_of(double x) {
  int exponent = 0;
  const auto units = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  const int shift = ((exponent - 53) % 61 + 61) % 61;  // 2^61 is 1
  return residue(units) * Residue{std::uint64_t{1} << shift};
}

Residue hashed(std::uint64_t key, std::uint64_t what, Residue x) {
  return residue(static_cast<unsigned __int128>(mixed(mixed(key ^ mixed(what)) + x.value)));
}

namespace {

Residue infinity_of(std::uint64_t key, double x) {
  if (std::isnan(x)) return hashed(key, kNotANumber, {});
  const Residue up = hashed(key, kInfinity, {});
  return x > 0 ? up : Residue{} - up;
}

}  // namespace

Twin special(std::uint64_t key, double real) {
  return {real, 0, std::isfinite(real) ? residue_of(real) : infinity_of(key, real), {}};
}

namespace {

// No term of a sum.
bool is_nothing(const Twin& x) { return x.coefficient == Residue{} && x.exponent == Residue{}; }

}  // namespace

Twin sum(std::uint64_t key, const Twin& a, const Twin& b, double real) {
  if (!finite_all({a.real, b.real, real})) return special(key, real);
  const Residue x = identity(key, a), y = identity(key, b);
  if (is_nothing(a)) return b;
  if (is_nothing(b)) return a;
  const Residue s = x + y;
  if (s == Residue{}) return kCancelled;
  return {real, a.error + b.error + std::fabs(real) * kUnit, s, {}};
}

Twin negated(Twin x) {
  if (std::isnan(x.real)) return x;  // what is no number has no sign
  x.real = -x.real, x.coefficient = Residue{} - x.coefficient;
  return x;
}

Twin product(std::uint64_t key, const Twin& a, const Twin& b) {
  const double real = a.real * b.real;
  if (!std::isfinite(real)) return special(key, real);
  const Residue c = a.coefficient * b.coefficient;
  if (c == Residue{}) return {};
  return {
      real,
      std::fabs(a.real) * b.error + std::fabs(b.real) * a.error + a.error * b.error + std::fabs(real) * kUnit,
      c, a.exponent + b.exponent};
}

Twin quotient(std::uint64_t key, const Twin& a, const Twin& b) {
  return quotient(key, a, b, inverse(b.coefficient));
}

Twin quotient(std::uint64_t key, const Twin& a, const Twin& b, Residue inverse) {
  const double real = a.real / b.real;
  if (!finite_all({a.real, b.real, real})) return special(key, real);
  if (a.coefficient == Residue{}) return {};
  const double least = std::fabs(b.real) - b.error;
  const double error =
      least > 0 ? (a.error + std::fabs(real) * b.error) / least + std::fabs(real) * kUnit : kAnything;
  return {real, error, a.coefficient * inverse, a.exponent - b.exponent};
}

namespace {

double total_log(double x) { return std::log(std::fabs(x)); }
double total_sqrt(double x) { return std::sqrt(std::fabs(x)); }
double total_exp(double x) {
  return std::isinf(x) ? std::exp(x) : std::exp(std::clamp(x, -kLargestExponent, kLargestExponent));
}

}  // namespace

Twin exponential(std::uint64_t key, const Twin& x) {
  if (std::isfinite(x.real) && x.real + x.error < kVanishing) return {};
  Twin result = function(key, x, total_exp, kExponential);
  if (!finite_all({x.real, result.real})) return result;
  result.coefficient = Residue{1}, result.exponent = identity(key, x);
  if (x.real + x.error > kLargestExponent) result.error = kAnything;
  if (x.real - x.error < -kLargestExponent) result.error += result.real;
  return result;
}

// log(c E(e)) = e + log(c), log(1) = 0.
Twin logarithm(std::uint64_t key, const Twin& x) {
  Twin result = function(key, x, total_log, kLogarithm);
  if (!finite_all({x.real, result.real})) return result;
  if (!is_apart(x.real, x.error)) result.error = kAnything;
  const Residue c = x.coefficient;
  result.coefficient = x.exponent + (c == Residue{1} ? Residue{} : hashed(key, kLogarithm, c));
  return result.coefficient == Residue{} ? Twin{} : result;
}

Twin square_root(std::uint64_t key, const Twin& x) {
  const auto near = static_cast<double>(static_cast<float>(x.real));
  const auto root = static_cast<double>(static_cast<float>(std::sqrt(std::fabs(near))));
  if (root * root == near && std::isfinite(near) && identity(key, x) == residue_of(near))
    return special(key, root);  // the square of a number that a float holds
  return function(key, x, total_sqrt, static_cast<std::uint64_t>(Opcode::sqrt));
}

namespace {

constexpr std::int64_t kMostFactors = 64;

Twin integer_power(std::uint64_t key, const Twin& x, std::int64_t n) {
  Twin result{1, 0, {1}, {}};
  for (std::int64_t i = 0; i < std::abs(n); ++i) result = product(key, result, x);
  return n < 0 ? quotient(key, {1, 0, {1}, {}}, result) : result;
}

}  // namespace

Twin powered(std::uint64_t key, const Twin& x, const Twin& y) {
  const Residue e = identity(key, y);
  if (std::fabs(y.real) <= kMostFactors && std::trunc(y.real) == y.real && e == residue_of(y.real))
    return integer_power(key, x, static_cast<std::int64_t>(y.real));
  if (e == residue_of(0.5)) return square_root(key, x);
  if (e == residue_of(-0.5)) return quotient(key, {1, 0, {1}, {}}, square_root(key, x));
  return exponential(key, product(key, y, logarithm(key, x)));
}

Twin arc(std::uint64_t key, const Twin& a, const Twin& b) {
  const Residue both = hashed(key, kArc, identity(key, a)) + identity(key, b);
  const double real = std::atan2(a.real, b.real), size = std::hypot(a.real, b.real);
  if (!finite_all({a.real, b.real})) return special(key, real);
  const double off = a.error + b.error;
  const double error = is_apart(size, off) ? off / (size - off) + std::fabs(real) * kFunction : kAnything;
  return {real, error, hashed(key, kArc, both), {}};
}

}  // namespace plumb::hlo
