#include "reference/hlo/prove/pairs.h"

#include <algorithm>

#include "reference/hlo/run/array.h"
#include "reference/hlo/run/integers.h"

namespace plumb::hlo {

Twin Pairs::constant(double x) {
  if (meanings)
    if (const auto meant = meanings->find(x); meant != meanings->end()) return meant->second;
  return special(key, x);
}

Twin Pairs::integer(std::int64_t x, Type type) {
  if (type == Type::pred && is_undecided(x)) return either(x & 1, constant(1), constant(0));
  const bool wide = row(type).kind == Kind::unsigned_integer;
  const double real = Reals{}.integer(x, type);
  const auto magnitude = static_cast<std::uint64_t>(x);
  return {real,
          std::fabs(real) < 0x1p53 ? 0 : std::fabs(real) * kUnit,
          wide ? residue(static_cast<unsigned __int128>(magnitude)) : residue(x),
          {}};
}

bool Pairs::same(const Twin& a, const Twin& b) { return identity(a) == identity(b); }

// What is drawn of a residue is no function of the real.
std::uint64_t Pairs::print(const Twin& x) {
  if (blurs > 0) doubt();
  return identity(x).value;
}

Twin Pairs::any(std::uint64_t random) {
  return {Reals{}.any(random), 0, residue(static_cast<unsigned __int128>(mixed(random))), {}};
}

bool Pairs::finite(const Twin& x) { return std::isfinite(x.real); }

namespace {

// The integers that a real is rounded to: by itself, and by what it may be off. Where the residue is that of
// the nearest integer, the value is that integer.
struct Rounded {
  double real, low, high;
};

template <typename F>
Rounded rounded(const Pairs& pairs, const Twin& x, F round) {
  const double nearest = std::nearbyint(x.real);
  if (pairs.identity(x) == residue_of(nearest)) return {round(nearest), round(nearest), round(nearest)};
  return {round(x.real), round(x.real - x.error), round(x.real + x.error)};
}

void blur(Pairs& pairs) { std::atomic_ref(pairs.blurs).fetch_add(1, std::memory_order_relaxed); }

template <typename F>
Twin rounded_by(Pairs& pairs, Opcode opcode, const Twin& x, F round) {
  if (!std::isfinite(x.real)) return special(pairs.key, round(x.real));
  const auto [real, low, high] = rounded(pairs, x, round);
  if (low == high) return special(pairs.key, real);
  blur(pairs);
  return {real, high - low, hashed(pairs.key, static_cast<std::uint64_t>(opcode), pairs.identity(x)), {}};
}

// -1, 0 or 1; zero is known by its residue.
int sign_of(const Pairs& pairs, const Twin& x) {
  return pairs.identity(x) == Residue{} ? 0 : x.real < 0 ? -1 : 1;
}

// Whether it may be of the other sign.
bool is_of_either_sign(const Pairs& pairs, const Twin& x) {
  return sign_of(pairs, x) != 0 && !std::isnan(x.real) && !is_apart(x.real, x.error);
}

// The larger of x and -x; a sign that may be either is off by two at most.
Twin magnitude(Pairs& pairs, const Twin& x) {
  if (is_of_either_sign(pairs, x)) return pairs.extreme(Opcode::maximum, x, negated(x));
  return sign_of(pairs, x) >= 0 ? x : negated(x);
}

Twin sign(Pairs& pairs, const Twin& x) {
  if (std::isnan(x.real)) return x;
  const double real = sign_of(pairs, x);
  if (!is_of_either_sign(pairs, x)) return pairs.constant(real);
  blur(pairs);
  return {real, 2, hashed(pairs.key, static_cast<std::uint64_t>(Opcode::sign), pairs.identity(x)), {}};
}

Twin remainder(Pairs& pairs, const Twin& a, const Twin& b) {
  if (!finite_all({a.real, b.real}) || b.real == 0) return special(pairs.key, std::fmod(a.real, b.real));
  const Twin times =
      rounded_by(pairs, Opcode::remainder, quotient(pairs.key, a, b), [](double x) { return std::trunc(x); });
  return pairs.binary(Opcode::subtract, a, product(pairs.key, times, b));
}

}  // namespace

Twin Pairs::unary(Opcode opcode, const Twin& x) {
  const Twin one{1, 0, {1}, {}};
  const auto name = static_cast<std::uint64_t>(opcode);
  switch (opcode) {
    case Opcode::negate:
      return negated(x);
    case Opcode::abs:
      return magnitude(*this, x);
    case Opcode::sign:
      return sign(*this, x);
    case Opcode::ceil:
      return rounded_by(*this, opcode, x, [](double r) { return std::ceil(r); });
    case Opcode::floor:
      return rounded_by(*this, opcode, x, [](double r) { return std::floor(r); });
    case Opcode::round_nearest_afz:
      return rounded_by(*this, opcode, x, [](double r) { return std::round(r); });
    case Opcode::round_nearest_even:
      return rounded_by(*this, opcode, x, [](double r) { return std::nearbyint(r); });
    case Opcode::exponential:
      return exponential(key, x);
    case Opcode::exponential_minus_one:
      return binary(Opcode::subtract, exponential(key, x), one);
    case Opcode::log:
      return logarithm(key, x);
    case Opcode::log_plus_one:
      return logarithm(key, binary(Opcode::add, one, x));
    case Opcode::logistic:
      return quotient(key, one, binary(Opcode::add, one, exponential(key, negated(x))));
    case Opcode::sqrt:
      return square_root(key, x);
    case Opcode::rsqrt:
      return quotient(key, one, square_root(key, x));
    case Opcode::cbrt:
      return function(
          key, x, [](double r) { return std::cbrt(r); }, name);
    case Opcode::cosine:
      return wave(
          key, x, [](double r) { return std::cos(r); }, name);
    case Opcode::erf:
      return function(
          key, x, [](double r) { return std::erf(r); }, name);
    case Opcode::sine:
      return wave(
          key, x, [](double r) { return std::sin(r); }, name);
    case Opcode::tan:
      return quotient(key, unary(Opcode::sine, x), unary(Opcode::cosine, x));
    case Opcode::tanh:
      return function(
          key, x, [](double r) { return std::tanh(r); }, name);
    default:
      throw Misfit("no operation of floats");
  }
}

Twin Pairs::binary(Opcode opcode, const Twin& a, const Twin& b) {
  const bool nan = std::isnan(a.real) || std::isnan(b.real);
  switch (opcode) {
    case Opcode::add:
      return sum(key, a, b, a.real + b.real);
    case Opcode::subtract:
      return sum(key, a, negated(b), a.real - b.real);
    case Opcode::multiply:
      return product(key, a, b);
    case Opcode::divide:
      return quotient(key, a, b);
    case Opcode::maximum:
    case Opcode::minimum:
      return nan ? special(key, a.real + b.real) : extreme(opcode, a, b);
    case Opcode::power:
      return powered(key, a, b);
    case Opcode::remainder:
      return remainder(*this, a, b);
    case Opcode::atan2:
      return arc(key, a, b);
    default:
      throw Misfit("no operation of floats");
  }
}

namespace {

// Numbers that are no exponentials, added up: what most are. False where one is not, or is not finite.
bool added_plainly(const Twin& a, const Twin& b, double sign, Twin& to) {
  if (a.exponent != Residue{} || b.exponent != Residue{}) return false;
  const Residue x = a.coefficient, y = sign < 0 ? Residue{} - b.coefficient : b.coefficient, s = x + y;
  if (x == Residue{} || y == Residue{} || s == Residue{}) return false;
  const double real = a.real + sign * b.real;
  if (!std::isfinite(real)) return false;
  to = {real, a.error + b.error + std::fabs(real) * kUnit, s, {}};
  return true;
}

bool multiplied_plainly(const Twin& a, const Twin& b, Twin& to) {
  const double real = a.real * b.real, x = std::fabs(a.real), y = std::fabs(b.real);
  const Residue c = a.coefficient * b.coefficient;
  if (!std::isfinite(real) || c == Residue{}) return false;
  to = {real, x * b.error + y * a.error + a.error * b.error + std::fabs(real) * kUnit, c,
        a.exponent + b.exponent};
  return true;
}

}  // namespace

void Pairs::binary(Opcode opcode, const Twin* a, const Twin* b, Twin* to, std::int64_t n) {
  if (opcode == Opcode::multiply) {
    for (std::int64_t i = 0; i < n; ++i)
      if (!multiplied_plainly(a[i], b[i], to[i])) to[i] = product(key, a[i], b[i]);
  } else if (opcode == Opcode::divide) {
    std::vector<Residue> inverses(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) inverses[static_cast<std::size_t>(i)] = b[i].coefficient;
    invert(inverses);
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = quotient(key, a[i], b[i], inverses[static_cast<std::size_t>(i)]);
  } else if (opcode == Opcode::add || opcode == Opcode::subtract) {
    const double sign = opcode == Opcode::add ? 1 : -1;
    for (std::int64_t i = 0; i < n; ++i)
      if (!added_plainly(a[i], b[i], sign, to[i])) to[i] = binary(opcode, a[i], b[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i] = binary(opcode, a[i], b[i]);
  }
}

namespace {

// The residue of one product of a sum; that of two exponentials is of one.
std::uint64_t residue_of_both(std::uint64_t key, const Factor& a, const Factor& b) {
  return identity(key, {0, 0, a.number->coefficient * b.number->coefficient, a.exponent + b.exponent}).value;
}

constexpr std::int64_t kTogether = 32;  // products of two residues, of which 64 fit into 128 bits

// Where no factor is an exponential, and the sum is finite and not nothing.
bool dot_plainly(const Factor* a, const Factor* b, std::int64_t n, Twin& to) {
  double real = 0, error = 0;
  std::uint64_t exponents = 0;
  Residue residues;
  for (std::int64_t begin = 0; begin < n && exponents == 0; begin += kTogether) {
    unsigned __int128 sum = 0;
    for (std::int64_t i = begin; i < std::min(n, begin + kTogether); ++i) {
      real += a[i].real * b[i].real;
      error += std::fabs(a[i].real) * b[i].bound + a[i].bound * (std::fabs(b[i].real) + b[i].bound);
      sum += static_cast<unsigned __int128>(a[i].identity.value) * b[i].identity.value;
      exponents |= a[i].exponent.value | b[i].exponent.value;
    }
    residues = residues + residue(sum);
  }
  to = {real, error, residues, {}};
  return exponents == 0 && residues != Residue{} && std::isfinite(real);
}

}  // namespace

Twin Pairs::dot(const Factor* a, const Factor* b, std::int64_t n) {
  if (Twin plain; dot_plainly(a, b, n, plain)) return plain;
  double real = 0, error = 0;
  Residue residues;
  std::int64_t terms = 0, last = 0;
  for (std::int64_t begin = 0; begin < n; begin += kTogether) {
    unsigned __int128 sum = 0;
    for (std::int64_t i = begin; i < std::min(n, begin + kTogether); ++i) {
      real += a[i].real * b[i].real;
      error += std::fabs(a[i].real) * b[i].bound + a[i].bound * (std::fabs(b[i].real) + b[i].bound);
      auto term = static_cast<unsigned __int128>(a[i].identity.value) * b[i].identity.value;
      if (a[i].exponent.value != 0 && b[i].exponent.value != 0) term = residue_of_both(key, a[i], b[i]);
      sum += term;
      if (term != 0) ++terms, last = i;
    }
    residues = residues + residue(sum);
  }
  if (!std::isfinite(real)) return special(key, real);
  if (terms == 1) return product(key, *a[last].number, *b[last].number);  // an exponential stays one
  if (residues == Residue{}) return terms == 0 ? Twin{} : kCancelled;
  return {real, error, residues, {}};
}

Ordering Pairs::likely(const Twin& a, const Twin& b, bool total) {
  const bool nan = std::isnan(a.real) || std::isnan(b.real);
  if (nan) return Reals{}.compare(a.real, b.real, total);
  if (same(a, b)) return Ordering::equal;
  return a.real < b.real ? Ordering::less : Ordering::greater;
}

namespace {

bool may_be_either(const Pairs& pairs, const Twin& a, const Twin& b) {
  return finite_all({a.real, b.real}) && !is_apart(a.real - b.real, a.error + b.error) &&
         pairs.identity(a) != pairs.identity(b);
}

}  // namespace

bool Pairs::open(const Twin& a, const Twin& b) {
  if (!may_be_either(*this, a, b)) return false;
  blur(*this);
  return true;
}

Ordering Pairs::compare(const Twin& a, const Twin& b, bool total) {
  if (may_be_either(*this, a, b)) doubt();
  return likely(a, b, total);
}

// What is not finite has no error that sums keep.
Twin Pairs::either(bool first, const Twin& a, const Twin& b) {
  if (same(a, b)) return a;
  const Twin& likelier = first ? a : b;
  if (!finite_all({a.real, b.real})) {
    doubt();
    return likelier;
  }
  const std::uint64_t n = std::atomic_ref(choices).fetch_add(1, std::memory_order_relaxed);
  const auto name = static_cast<std::uint64_t>(Opcode::select);
  return {likelier.real, std::fabs(a.real - b.real) + a.error + b.error, hashed(key, name, Residue{n}), {}};
}

// The larger of two reals is no farther from the larger of the values than the one or the other is from its
// own, whichever it is.
Twin Pairs::extreme(Opcode opcode, const Twin& a, const Twin& b) {
  if (same(a, b)) return a;
  const bool first = opcode == Opcode::maximum ? a.real > b.real : a.real < b.real;
  const bool known = !finite_all({a.real, b.real}) || is_apart(a.real - b.real, a.error + b.error);
  if (known) return first ? a : b;
  blur(*this);
  const auto name = static_cast<std::uint64_t>(opcode);
  const Residue both = hashed(key, name, identity(a)) + hashed(key, name, identity(b));
  return {first ? a.real : b.real, a.error + b.error, hashed(key, name, both), {}};
}

std::int64_t Pairs::truncate(const Twin& x, Type type) {
  if (!std::isfinite(x.real)) return Reals{}.truncate(x.real, type);
  const auto [real, low, high] = rounded(*this, x, [](double r) { return std::trunc(r); });
  if (low != high) doubt();
  return Reals{}.truncate(real, type);
}

std::int64_t Pairs::bits(Type type, const Twin& x) {
  if (x.error != 0 || is_exponential(x) || (std::isfinite(x.real) && x.coefficient != residue_of(x.real)))
    throw Misfit(
        "unsupported: the bits of a float that is not known exactly; prove the parts of the program that "
        "compute in numbers");
  return bits_of(type, x.real);
}

}  // namespace plumb::hlo
