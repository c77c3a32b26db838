#include "reference/bytes/family.h"
#include "reference/bytes/move.h"

namespace plumb {

Moved moved_in_einsum(const Case& c, const Words& words, const Split& split) {
  Moved moved;
  for (int i = 0; i < 2; ++i) {
    const Spec needed = layout(c, words, split, i);
    moved.operands[i] =
        cheapest_elements({c.mesh, c.op.operands[i], needed, c.rule}) * format(needed.dtype).bytes;
  }
  const Spec made = layout(c, words, split, 2);
  moved.result = cheapest_elements({c.mesh, made, result(c), c.rule}) * format(made.dtype).bytes;
  return moved;
}

}  // namespace plumb
