// What the interpreter computes floats with. It is a template over a type with these members; Reals is the
// plain one, of double.
#pragma once

#include "reference/hlo/module/opcode.h"

namespace plumb::hlo {

// The finalizer of SplitMix64.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30, x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27, x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

enum class Ordering : std::uint8_t { less, equal, greater, unordered };

// Floats as doubles: nothing is rounded to the format that the module names, and a convert between floats is
// the identity. Exact where every value that occurs is.
struct Reals {
  using Number = double;
  using Factor = double;  // what a sum of n products needs of a number on its left, on its right
  bool total = false;     // roots, logarithms and powers are those of the magnitude: none is without a value

  Number constant(double x) { return x; }
  Number integer(std::int64_t x, Type type);  // of an integer type or a predicate
  Number unary(Opcode, Number);
  Number binary(Opcode, Number, Number);
  void binary(Opcode, const Number* a, const Number* b, Number* to, std::int64_t n);  // of each of n
  Factor left(Number x) { return x; }
  Factor right(Number x, std::int64_t) { return x; }
  Number dot(const Factor* a, const Factor* b, std::int64_t n);
  // `total_order` orders -0 below +0 and NaN above all.
  Ordering compare(Number a, Number b, bool total_order);
  // Whether that may as well be another, and what then is chosen; doubts are of what hangs on it otherwise.
  Ordering likely(Number a, Number b, bool total_order) { return compare(a, b, total_order); }
  bool open(Number, Number) { return false; }
  Number either(bool first, Number a, Number b) { return first ? a : b; }
  void doubt() {}
  std::int64_t truncate(Number,
                        Type);  // to an integer type, the nearest where it is out of range; NaN gives 0
  bool finite(Number);
  std::int64_t bits(Type, Number);
  bool same(Number a, Number b);  // whether replicas that hold these agree
  std::uint64_t print(Number);    // those that are the same have the same
  Number any(std::uint64_t);      // the one that these bits draw, between 1/2 and 2 and of either sign
};

}  // namespace plumb::hlo
