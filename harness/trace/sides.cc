#include "harness/trace/sides.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "harness/trace/steps.h"

namespace plumb {
namespace {

constexpr std::size_t most_divisions = 64;

}  // namespace

std::vector<Sets> divisions(const Mesh& mesh) {
  std::vector<AxisId> axes;
  for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.axes.size()); ++axis)
    if (mesh.axes[axis].size > 1) axes.push_back(axis);
  std::vector<Sets> all;
  for (std::uint64_t kept = std::uint64_t{1} << axes.size(); kept-- > 1 && all.size() < most_divisions;) {
    std::vector<AxisId> within;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (!(kept >> i & 1)) within.push_back(axes[i]);
    all.push_back(fibres(mesh, within));
  }
  return all;
}

std::vector<Sets> cuts(const Mesh& mesh, const Trace& trace) {
  const auto alike = [](const Collective& a, const Collective& b) {
    return a.axes == b.axes && a.groups == b.groups && a.pairs == b.pairs;
  };
  std::vector<Sets> all = divisions(mesh);
  for (auto one = trace.begin(); one != trace.end() && all.size() < most_divisions; ++one) {
    if (std::any_of(trace.begin(), one, [&](const auto& before) { return alike(before, *one); })) continue;
    Trace others;
    std::ranges::copy_if(trace, std::back_inserter(others),
                         [&](const auto& other) { return !alike(other, *one); });
    if (Sets sets = connected(mesh, others); sets.size() > 1 && std::ranges::count(all, sets) == 0)
      all.push_back(std::move(sets));
  }
  return all;
}

}  // namespace plumb
