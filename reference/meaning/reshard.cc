#include "reference/meaning/meaning.h"

namespace plumb {

// A new layout changes no value; a sum that was unfinished is finished.
Tensor reshard(const Case& c, const std::vector<Tensor>& operands) {
  const bool finished = c.op.operands[0].unfinished.empty();
  return finished ? operands[0] : finish(c.mesh, c.op.operands[0], operands[0], result(c).dtype);
}

}  // namespace plumb
