#include "adapters/protocol/operands.h"

#include "reference/check/device/there.h"
#include "reference/fill/fill.h"
#include "reference/fill/recipe.h"
#include "reference/words/tensor.h"

namespace plumb {

Write cutting(const Case& c, const std::vector<Operand>& operands, const DeviceCheck* there) {
  Write here = [specs = c.op.operands, operands](std::size_t i, std::int64_t part, const Slice& slice,
                                                 std::byte* to) {
    const Spec& spec = specs[i];
    cut(shape(spec), slice, operands[i].bytes.data() + part * bytes(spec), to, format(spec.dtype).bytes);
  };
  if (!there) return here;
  return [here, specs = c.op.operands, there](std::size_t i, std::int64_t part, const Slice& slice,
                                              std::byte* to) {
    std::vector<std::byte> dense(elements(slice) * format(specs[i].dtype).bytes);
    here(i, part, slice, dense.data());
    there->memory.put(to, dense.data(), dense.size());
  };
}

Write filling(const Case& c, const DeviceCheck* there) {
  return [data = recipe(c), there](std::size_t i, std::int64_t part, const Slice& slice, std::byte* to) {
    const Portion portion{static_cast<int>(i), part, slice};
    there ? write_there(*there, data, portion, to) : write(data, portion, to);
  };
}

}  // namespace plumb
