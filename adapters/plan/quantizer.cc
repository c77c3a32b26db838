#include "adapters/plan/quantizer.h"

namespace plumb {

std::optional<Quantizer> quantizer(const Case& c, int operand) {
  const Spec& x = c.op.operands[operand];
  const auto* op = std::get_if<Quantize>(&c.op.kind);
  if (op ? operand > 0 : x.scheme == Scheme::none) return std::nullopt;
  Quantizer q;
  q.scheme = op ? op->scheme : x.scheme;
  q.tiles = op ? tiles(c.op) : *tiles(c.op, operand);
  for (const Dim& dim : x.dims) q.axes.insert(q.axes.end(), dim.axes.begin(), dim.axes.end());
  return q;
}

Case in_codes(const Case& c) {
  Case coded = c;
  for (Spec& spec : coded.op.operands) {
    if (spec.scheme != Scheme::none) spec.dtype = codes_of(spec.scheme);
    spec.scheme = Scheme::none;
  }
  if (const auto* op = std::get_if<Quantize>(&c.op.kind)) {
    coded.op.kind = Reshard{};
    coded.op.operands = {c.op.operands[0]};
    coded.op.operands[0].dtype = codes_of(op->scheme);
    coded.op.chain = {c.op.chain[0]};
  }
  return coded;
}

}  // namespace plumb
