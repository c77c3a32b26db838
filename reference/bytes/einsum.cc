#include "reference/bytes/family.h"
#include "reference/bytes/move.h"

namespace plumb {

Moved moved_in_einsum(const Case& c, const Words& words, const Split& split) {
  Moved moved;
  for (int i = 0; i < 2; ++i) {
    const Spec needed = layout(c, words, split, i);
    moved.operands[i] = cheapest_bytes({c.mesh, c.op.operands[i], needed, c.rule}, c.wire);
  }
  const Spec made = layout(c, words, split, 2);
  moved.result = cheapest_bytes({c.mesh, made, result(c), c.rule}, c.wire);
  return moved;
}

}  // namespace plumb
