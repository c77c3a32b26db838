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

// A backend may say anything: more bytes than there can be are not known.
constexpr std::int64_t most_bytes = std::int64_t{1} << 62;
std::int64_t known(__int128 sum) { return sum < most_bytes ? static_cast<std::int64_t>(sum) : -1; }

}  // namespace

std::int64_t moved(const Mesh& mesh, const Collective& step) {
  if (step.moved) return *step.moved;  // of all times
  const auto priced = [&](std::int64_t n) { return price(step.kind, n, step.in, step.out); };
  __int128 sum = 0;
  if (!step.pairs.empty() || step.kind == "collective-permute") {
    for (const auto& [from, to] : step.pairs) sum += from == to ? 0 : step.out;
    return known(sum * step.times);
  }
  const auto of_group = [&](__int128 devices_in_all, std::int64_t n) {
    const std::int64_t each = priced(n);
    sum = each < 0 || sum < 0 ? -1 : sum + devices_in_all * each;
  };
  if (!step.axes.empty()) of_group(devices(mesh), axes_size(mesh, axes_named(mesh, step.axes)));
  for (const std::vector<std::int64_t>& group : step.groups) of_group(std::ssize(group), std::ssize(group));
  if (step.axes.empty() && step.groups.empty() && priced(2) < 0) return -1;
  return sum < 0 ? -1 : known(sum * step.times);
}

Cost cost(const Case& c, const Outcome& outcome) {
  Cost cost;
  cost.moved = 0;
  for (const Collective& step : outcome.trace) {
    const std::int64_t bytes = moved(c.mesh, step);
    cost.moved = bytes < 0 || cost.moved < 0 ? -1 : known(__int128{cost.moved} + bytes);
  }
  if (const std::vector<std::int64_t> fewest = fewest_bytes(c); !fewest.empty()) {
    cost.bound = std::accumulate(fewest.begin(), fewest.end(), std::int64_t{0});
  }
  cost.best_known = best_known(c).bytes;
  return cost;
}

std::optional<Fact> waste_fact(const Case& c, const Cost& cost, double most) {
  const bool bounded = is_reshard(c) && !result(c).free;
  const std::int64_t least = bounded ? cost.bound : cost.best_known;
  if (most < 0 || cost.moved < 0 || least < 0) return std::nullopt;
  if (static_cast<double>(cost.moved) <= most * static_cast<double>(least)) return std::nullopt;
  std::string text =
      fmt::format("moved {} bytes, {} {}", cost.moved, bounded ? "the fewest are" : "best known are", least);
  if (least > 0)
    text += fmt::format(": {:.2f} times, the limit is {}", double(cost.moved) / double(least), most);
  return Fact{Status::wasteful, text, {}, {}};
}

}  // namespace plumb
