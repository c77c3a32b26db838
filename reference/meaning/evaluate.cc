#include <cassert>

#include "reference/meaning/meaning.h"
#include "reference/meaning/quantize.h"

namespace plumb {

Plain plain(const Case& c, const std::vector<Tensor>& operands) {
  Plain p{c, operands};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Spec& spec = p.c.op.operands[i];
    if (spec.scheme == Scheme::none) continue;
    const Tiles cut = *tiles(c.op, static_cast<int>(i));
    p.operands[i] = dequantized(quantized(operands[i], spec.scheme, cut), cut);
    spec.dtype = p.operands[i].dtype;
    spec.scheme = Scheme::none;
  }
  return p;
}

std::vector<Tensor> evaluate_all(const Case& c, const std::vector<Tensor>& operands) {
  if (is_quantize(c)) return quantize(c, operands);
  return {evaluate(c, operands)};
}

Tensor evaluate(const Case& c, const std::vector<Tensor>& operands) {
  assert(operands.size() == c.op.operands.size() && !is_quantize(c));
  if (quantizes(c.op)) {
    const Plain p = plain(c, operands);
    return evaluate(p.c, p.operands);
  }
  if (std::holds_alternative<Einsum>(c.op.kind)) return einsum(c, operands);
  if (std::holds_alternative<Grouped>(c.op.kind)) return grouped(c, operands);
  return reshard(c, operands);
}

}  // namespace plumb
