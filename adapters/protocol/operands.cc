#include "adapters/protocol/operands.h"

#include "reference/fill/fill.h"
#include "reference/fill/recipe.h"
#include "reference/words/tensor.h"

namespace plumb {

Write cutting(const Case& c, const std::vector<Operand>& operands) {
  return
      [specs = c.op.operands, operands](std::size_t i, std::int64_t part, const Slice& slice, std::byte* to) {
        const Spec& spec = specs[i];
        cut(shape(spec), slice, operands[i].bytes.data() + part * bytes(spec), to, format(spec.dtype).bytes);
      };
}

Write filling(const Case& c) {
  return [data = recipe(c)](std::size_t i, std::int64_t part, const Slice& slice, std::byte* to) {
    write(data, {static_cast<int>(i), part, slice}, to);
  };
}

}  // namespace plumb
