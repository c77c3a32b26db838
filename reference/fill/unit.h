// What formats can count to, and the unit in which the data of a case are counted.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "reference/words/op.h"

namespace plumb {

// The most units an element counts to: every integer up to it, in absolute value, is exact.
//   f8e5m2 8, f8e4m3 16, bf16 256, f16 2048, f32 2^24, f64 2^53; s8 127, s32 2^31 - 1
std::int64_t capacity(DType);
std::int64_t capacity(std::initializer_list<DType>);  // the least of them

// Every value that is summed is a multiple of factor * 2^exponent, and that of the number of parts that
// are averaged times that of the parts of the result, and of those of a constraint on the way that are not
// the operands' own: an even split rounds nothing. A power of two more keeps all values normal numbers
// and, of a product, all its terms together in the range of every format, where both can be.
// Powers of two cost a floating-point format no digits: they stand in the exponent. Where the formats of the
// case have no room, `exists` is false.
struct Unit {
  std::int64_t factor = 1;
  int exponent = 0;
  bool exists = true;
};
Unit unit(const Case&);

// The most units that the terms of a product may have together: what the accumulator counts to, and no format
// of its sums overflows.
std::int64_t most_terms(const Case&);

// Whether a product is left in parts, on its way or at its end, along an axis along which no operand is a
// sum: then the program says which terms are whose.
bool parted_freely(const Case&);

// Whether every sum of the case is taken modulo the words of its result, so that any integers are exact.
bool wraps(const Case&);

// How many copies of a value are added up where a chain averages what is whole: their sum has to fit, too.
std::int64_t copies(const Case&);

}  // namespace plumb
