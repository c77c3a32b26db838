#include "adapters/protocol/sight.h"

#include <algorithm>
#include <cassert>

namespace plumb {

Sight best_sight(const std::vector<Ping>& all) {
  assert(!all.empty());
  const Ping& best = *std::ranges::min_element(all, {}, [](const Ping& p) { return p.back - p.sent; });
  const std::int64_t half = (best.back - best.sent) / 2, at = best.sent + half;
  return {at, best.said - at, half + 1};
}

}  // namespace plumb
