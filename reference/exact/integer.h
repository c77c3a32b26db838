// Products of integer matrices.
#pragma once

#include "reference/exact/exact.h"

namespace plumb {

// c = a b for integer operands, wrapping modulo 2^8 or 2^32 as the integer type `acc` says.
void multiply_integers(const Matrix& a, const Matrix& b, DType acc, const MutableMatrix& c);

}  // namespace plumb
