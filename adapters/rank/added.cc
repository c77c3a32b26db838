#include "adapters/rank/added.h"

#include <bit>

#include "reference/words/dtype.h"
#include "reference/words/text.h"

namespace plumb {

Added one_by_one(std::int64_t n) { return {n - 1, n}; }

Added in_pairs(std::int64_t n) {
  const std::int64_t levels = std::bit_width(static_cast<std::uint64_t>(n - 1));
  return {levels, levels + 1};
}

Added kept_until_finished(std::int64_t n) { return {n - 1, 2}; }

void say_how_added(const Mesh& mesh, Trace& trace,
                   const std::function<Added(const Collective&, std::int64_t)>& how) {
  for (Collective& c : trace) {
    const auto dtype = dtype_named(c.dtype);
    if (c.op != "add" || !dtype || format(*dtype).integer) continue;
    if (c.kind != "all-reduce" && c.kind != "reduce-scatter") continue;
    const std::int64_t n = axes_size(mesh, axes_named(mesh, c.axes));
    if (n < 2) continue;
    const Added added = how(c, n);
    c.additions = added.additions, c.roundings = added.roundings;
  }
}

}  // namespace plumb
