#include <cassert>

#include "reference/meaning/meaning.h"

namespace plumb {

Tensor evaluate(const Case& c, const std::vector<Tensor>& operands) {
  assert(operands.size() == c.op.operands.size());
  if (std::holds_alternative<Einsum>(c.op.kind)) return einsum(c, operands);
  if (std::holds_alternative<Grouped>(c.op.kind)) return grouped(c, operands);
  return reshard(c, operands);
}

}  // namespace plumb
