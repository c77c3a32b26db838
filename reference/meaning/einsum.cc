#include "reference/meaning/meaning.h"
#include "reference/meaning/product.h"
#include "reference/meaning/settle.h"

namespace plumb {

// out is the sum over the letters that it lacks of lhs times rhs.
Tensor einsum(const Case& c, const std::vector<Tensor>& operands) {
  const auto& [lhs, rhs, out] = std::get<Einsum>(c.op.kind);
  const Factor a = factor(c, operands, 0), b = factor(c, operands, 1);
  return product({a.values(), a.letters(lhs)}, {b.values(), b.letters(rhs)}, {out, c.acc, result(c).dtype});
}

}  // namespace plumb
