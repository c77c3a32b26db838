// The arithmetic of integers and predicates: each wraps to its type.
#pragma once

#include "reference/hlo/module/opcode.h"

namespace plumb::hlo {

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
