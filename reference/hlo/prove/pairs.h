// Floats as pairs: a real, which decides comparisons, and a residue, which says whether two values are the
// same.
#pragma once

#include <map>
#include <vector>

#include "reference/exact/field.h"
#include "reference/hlo/run/numbers.h"

namespace plumb::hlo {

// The value is coefficient · E(exponent), where E is an exponential of the field: E(a) E(b) = E(a + b), E(0)
// = 1. So exp(a) exp(b), exp(a + b) and their logarithms are known as the same. Where such a value meets a
// sum, E(exponent) becomes a hash.
struct Twin {
  double real = 0;
  double error = 0;  // bounds how far the real is from the value that exact arithmetic gives
  Residue coefficient, exponent;
};

// Numbers for the interpreter. `key` is that of the hashes: two runs that are compared share it.
struct Pairs {
  using Number = Twin;
  std::uint64_t key = 0;
  // Decisions that rest on reals no further apart than their errors, between values that are not the same.
  std::int64_t doubts = 0;
  // What constants of the module stand for; null where each is itself.
  const std::map<double, Twin>* meanings = nullptr;

  Number constant(double x);  // exactly: a dyadic rational, or what it stands for
  Number integer(std::int64_t x, Type type);
  Number unary(Opcode, const Number&);
  Number binary(Opcode, const Number&, const Number&);
  void binary(Opcode, const Number* a, const Number* b, Number* to, std::int64_t n);  // of each of n
  Number dot(const Number* a, const Number* b, std::int64_t n);
  Ordering compare(const Number& a, const Number& b, bool total);
  std::int64_t truncate(const Number&, Type);
  bool finite(const Number&);
  std::int64_t bits(Type, const Number&);
  bool same(const Number& a, const Number& b);

  // One residue for one value, whatever way it came about.
  Residue identity(const Number&) const;
};

Residue inverse(Residue);            // of zero: zero
void invert(std::vector<Residue>&);  // each of them
Residue power(Residue base, std::uint64_t exponent);
Residue residue_of(double);  // of a finite number, exactly
Residue hashed(std::uint64_t key, std::uint64_t what, Residue);

}  // namespace plumb::hlo
