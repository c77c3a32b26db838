#include "harness/judge/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reference/bytes/bytes.h"

namespace plumb {
namespace {

std::vector<AxisId> axes_named(const Mesh& mesh, const std::vector<std::string>& names) {
  std::vector<AxisId> axes;
  for (const std::string& name : names)
    axes.push_back(static_cast<AxisId>(std::ranges::find(mesh.axes, name, &Axis::name) - mesh.axes.begin()));
  return axes;
}

}  // namespace

std::int64_t moved(const Mesh& mesh, const Collective& step) {
  if (step.moved) return *step.moved;  // of all times
  const auto priced = [&](std::int64_t n) { return price(step.kind, n, step.in, step.out); };
  std::int64_t sum = 0;
  if (!step.pairs.empty() || step.kind == "collective-permute") {
    for (const auto& [from, to] : step.pairs) sum += from == to ? 0 : step.out;
    return sum * step.times;
  }
  if (priced(2) < 0) return -1;
  if (!step.axes.empty()) {
    sum = devices(mesh) * priced(axes_size(mesh, axes_named(mesh, step.axes)));
  } else {
    for (const std::vector<std::int64_t>& group : step.groups) {
      const std::int64_t n = static_cast<std::int64_t>(group.size());
      sum += n * priced(n);
    }
  }
  return sum * step.times;
}

Cost cost(const Case& c, const Outcome& outcome) {
  Cost cost;
  cost.moved = 0;
  for (const Collective& step : outcome.trace) {
    const std::int64_t bytes = moved(c.mesh, step);
    if (bytes < 0 || cost.moved < 0)
      cost.moved = -1;
    else
      cost.moved += bytes;
  }
  if (is_reshard(c)) {
    const std::vector<std::int64_t> fewest = fewest_bytes(c);
    cost.bound = std::accumulate(fewest.begin(), fewest.end(), std::int64_t{0});
  }
  cost.best_known = best_known(c).bytes;
  return cost;
}

std::optional<Fact> waste_fact(const Case& c, const Cost& cost, double most) {
  const std::int64_t least = is_reshard(c) ? cost.bound : cost.best_known;
  if (most < 0 || cost.moved < 0 || least < 0) return std::nullopt;
  if (static_cast<double>(cost.moved) <= most * static_cast<double>(least)) return std::nullopt;
  std::string text = fmt::format("moved {} bytes, {} {}", cost.moved,
                                 is_reshard(c) ? "the fewest are" : "best known are", least);
  if (least > 0)
    text += fmt::format(": {:.2f} times, the limit is {}", double(cost.moved) / double(least), most);
  return Fact{Status::wasteful, text, {}, {}};
}

}  // namespace plumb
