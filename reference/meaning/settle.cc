#include "reference/meaning/settle.h"

#include <algorithm>

#include "reference/exact/exact.h"

namespace plumb {
namespace {

Tensor negated(Tensor t) {
  const int bytes = format(t.dtype).bytes;
  for (std::size_t sign = bytes - 1; sign < t.bytes.size(); sign += bytes) t.bytes[sign] ^= std::byte{0x80};
  return t;
}

bool all_zero(const Tensor& t) {
  for (std::int64_t i = 0; i < elements(t.shape); ++i)
    if (value(t, i) != 0) return false;
  return true;
}

void append(Tensor& parts, const Tensor& part) {
  parts.bytes.insert(parts.bytes.end(), part.bytes.begin(), part.bytes.end());
  ++parts.shape[0];
}

}  // namespace

// What is left over is a multiple of the smallest subnormal, as all parts are, so that it is zero
// exactly when it rounds to zero; and each turn leaves less. A sum that is not finite leaves NaN, which
// no turn makes zero.
Tensor settle(Tensor parts) {
  if (format(parts.dtype).integer) return sum_parts(parts, DType::s32);
  const std::int64_t most = parts.shape[0];
  Tensor rest = parts, few = zeros(parts.dtype, parts.shape);
  few.shape[0] = 0;
  few.bytes.clear();
  while (few.shape[0] < most) {
    const Tensor sum = sum_parts(rest, parts.dtype);
    if (few.shape[0] > 0 && all_zero(sum)) break;
    append(few, sum);
    append(rest, negated(sum));
  }
  if (few.shape[0] == most && most > 1) return parts;
  if (few.shape[0] == 1) few.shape.erase(few.shape.begin());
  return few;
}

Factor factor(const Case& c, const std::vector<Tensor>& operands, int i) {
  if (c.op.operands[i].unfinished.empty()) return {operands[i], {}, i};
  return {operands[i], settle(operands[i]), i};
}

}  // namespace plumb
