#include "reference/hlo/run/integers.h"

#include <bit>
#include <cmath>
#include <limits>

#include "reference/hlo/run/array.h"

namespace plumb::hlo {
namespace {

bool is_unsigned(Type type) { return row(type).kind != Kind::signed_integer; }

std::uint64_t u(std::int64_t x) { return static_cast<std::uint64_t>(x); }
std::int64_t s(std::uint64_t x) { return static_cast<std::int64_t>(x); }

std::int64_t power(Type type, std::int64_t base, std::int64_t exponent) {
  if (!is_unsigned(type) && exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  std::uint64_t result = 1, square = u(base);
  for (std::uint64_t e = u(exponent); e > 0; e >>= 1, square *= square)
    if (e & 1) result *= square;
  return s(result);
}

std::int64_t divide(Type type, std::int64_t a, std::int64_t b) {
  if (b == 0) return -1;
  if (is_unsigned(type)) return s(u(a) / u(b));
  return b == -1 ? s(0 - u(a)) : a / b;
}

std::int64_t remainder(Type type, std::int64_t a, std::int64_t b) {
  if (b == 0) return a;
  if (is_unsigned(type)) return s(u(a) % u(b));
  return b == -1 ? 0 : a % b;
}

// By an amount that is read without its sign.
std::int64_t shift(Opcode opcode, Type type, std::int64_t a, std::int64_t by) {
  const auto bits = u(row(type).bits), mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t amount = u(by) & mask;
  if (opcode == Opcode::shift_right_arithmetic) {
    const std::int64_t sign = is_unsigned(type) && bits < 64 && (u(a) >> (bits - 1)) ? s(u(a) | ~mask) : a;
    return sign >> (amount >= bits ? 63 : amount);
  }
  if (amount >= bits) return 0;
  return opcode == Opcode::shift_left ? s(u(a) << amount) : s((u(a) & mask) >> amount);
}

}  // namespace

std::int64_t wrap(Type type, std::int64_t x) {
  const int above = 64 - row(type).bits;
  return is_unsigned(type) ? s(u(x) << above >> above) : s(u(x) << above) >> above;
}

std::int64_t integer_unary(Opcode opcode, Type type, std::int64_t x) {
  if (type == Type::pred && x > 1) return integer_unary(opcode, type, x & 1) | kUndecided;
  const auto bits = [&] { return u(x) & (~std::uint64_t{0} >> (64 - row(type).bits)); };
  switch (opcode) {
    case Opcode::abs:
      return wrap(type, !is_unsigned(type) && x < 0 ? s(0 - u(x)) : x);
    case Opcode::negate:
      return wrap(type, s(0 - u(x)));
    case Opcode::not_:
      return wrap(type, ~x);
    case Opcode::sign:
      return is_unsigned(type) ? x != 0 : (x > 0) - (x < 0);
    case Opcode::popcnt:
      return std::popcount(bits());
    case Opcode::count_leading_zeros:
      return std::countl_zero(bits()) - (64 - row(type).bits);
    default:
      throw Misfit("no operation of integers");
  }
}

std::int64_t integer_binary(Opcode opcode, Type type, std::int64_t a, std::int64_t b) {
  const bool predicate = type == Type::pred;
  if (predicate && (a | b) > 1)
    return either_way([&](std::int64_t x, std::int64_t y) { return integer_binary(opcode, type, x, y); }, a,
                      b);
  switch (opcode) {
    case Opcode::add:
      return predicate ? a | b : wrap(type, s(u(a) + u(b)));
    case Opcode::subtract:
      return wrap(type, s(u(a) - u(b)));
    case Opcode::multiply:
      return wrap(type, s(u(a) * u(b)));
    case Opcode::divide:
      return wrap(type, divide(type, a, b));
    case Opcode::remainder:
      return wrap(type, remainder(type, a, b));
    case Opcode::power:
      return wrap(type, power(type, a, b));
    case Opcode::maximum:
      return integer_compare(type, a, b) >= 0 ? a : b;
    case Opcode::minimum:
      return integer_compare(type, a, b) <= 0 ? a : b;
    case Opcode::and_:
      return a & b;
    case Opcode::or_:
      return a | b;
    case Opcode::xor_:
      return a ^ b;
    case Opcode::shift_left:
    case Opcode::shift_right_arithmetic:
    case Opcode::shift_right_logical:
      return wrap(type, shift(opcode, type, a, b));
    default:
      throw Misfit("no operation of integers");
  }
}

int integer_compare(Type type, std::int64_t a, std::int64_t b) {
  if (is_unsigned(type)) return (u(a) > u(b)) - (u(a) < u(b));
  return (a > b) - (a < b);
}

namespace {

// The layout of an IEEE format narrower than double.
struct Format {
  int exponent_bits, digits;
};

Format format_of(Type type) {
  switch (type) {
    case Type::f32:
      return {8, 24};
    case Type::f16:
      return {5, 11};
    case Type::bf16:
      return {8, 8};
    default:
      throw Misfit("the bits of this format have no rule here");
  }
}

}  // namespace

std::int64_t bits_of(Type type, double x) {
  if (type == Type::f64) return std::bit_cast<std::int64_t>(x);
  const auto [exponent_bits, digits] = format_of(type);
  const std::int64_t sign = std::signbit(x) ? std::int64_t{1} << (exponent_bits + digits - 1) : 0;
  const std::int64_t top = ((std::int64_t{1} << exponent_bits) - 1) << (digits - 1);
  if (std::isnan(x)) return top | std::int64_t{1} << (digits - 2);
  if (std::isinf(x)) return sign | top;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(x), 1 - bias);  // subnormal and zero below
  const auto units =
      static_cast<std::int64_t>(std::nearbyint(std::ldexp(std::fabs(x), digits - 1 - exponent)));
  const std::int64_t bits = (static_cast<std::int64_t>(exponent + bias - 1) << (digits - 1)) + units;
  return sign | std::min(bits, top);
}

double float_of(Type type, std::int64_t bits) {
  if (type == Type::f64) return std::bit_cast<double>(bits);
  const auto [exponent_bits, digits] = format_of(type);
  const std::int64_t significand = bits & ((std::int64_t{1} << (digits - 1)) - 1);
  const std::int64_t exponent = bits >> (digits - 1) & ((std::int64_t{1} << exponent_bits) - 1);
  const bool negative = bits >> (exponent_bits + digits - 1) & 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double x =
      exponent == (std::int64_t{1} << exponent_bits) - 1
          ? (significand ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())
      : exponent == 0 ? std::ldexp(static_cast<double>(significand), 2 - bias - digits)
                      : std::ldexp(static_cast<double>(significand + (std::int64_t{1} << (digits - 1))),
                                   static_cast<int>(exponent) - bias - digits + 1);
  return negative ? -x : x;
}

}  // namespace plumb::hlo
