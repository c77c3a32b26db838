// The arithmetic of integers and predicates: each wraps to its type. Of predicates some may be undecided.
#pragma once

#include "reference/hlo/module/opcode.h"

namespace plumb::hlo {

// Of a predicate that floats leave undecided this bit is set; the lowest says which is likelier.
constexpr std::int64_t kUndecided = 2;
inline bool is_undecided(std::int64_t predicate) { return (predicate & kUndecided) != 0; }

// f of two predicates: what it is whatever those are that are undecided, else undecided.
template <typename F>
std::int64_t either_way(F f, std::int64_t a, std::int64_t b) {
  const std::int64_t likely = f(a & 1, b & 1);
  for (const std::int64_t x : {a & 1, is_undecided(a) ? ~a & 1 : a & 1})
    for (const std::int64_t y : {b & 1, is_undecided(b) ? ~b & 1 : b & 1})
      if (f(x, y) != likely) return likely | kUndecided;
  return likely;
}

std::int64_t wrap(Type, std::int64_t);

// Division by zero gives -1 and leaves the remainder; shifts by too much give 0, or the sign. Throws Misfit
// where the operation is none of integers.
std::int64_t integer_unary(Opcode, Type, std::int64_t);
std::int64_t integer_binary(Opcode, Type, std::int64_t, std::int64_t);
int integer_compare(Type, std::int64_t, std::int64_t);  // -1, 0, 1

// The bits of a float of a type, and the float of bits. Throws Misfit for formats without a rule here.
std::int64_t bits_of(Type, double);
double float_of(Type, std::int64_t);

}  // namespace plumb::hlo
