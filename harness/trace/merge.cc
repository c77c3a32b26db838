#include "harness/trace/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "harness/trace/steps.h"

namespace plumb {
namespace {

using Axes = std::vector<AxisId>;
using Stretch = std::span<const Step>;

Axes axes_in(Stretch run) {
  Axes all;
  for (const Step& step : run) all.insert(all.end(), step.axes->begin(), step.axes->end());
  return all;
}

Axes ascending(Axes axes) {
  std::ranges::sort(axes);
  return axes;
}

// The sets of axes for which there was a group, without axes of one device.
std::vector<Axes> known_groups(const Mesh& mesh, const Outcome& outcome) {
  std::vector<Axes> all;
  for (const std::vector<std::string>& names : outcome.groups) {
    Axes& axes = all.emplace_back();
    for (const std::string& name : names)
      for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.axes.size()); ++axis)
        if (mesh.axes[axis].name == name && mesh.axes[axis].size > 1) axes.push_back(axis);
    std::ranges::sort(axes);
  }
  return all;
}

bool adds(const Step& step) { return names_sum(step.op) || names_mean(step.op); }

// Whether one dimension of the spec is split by all these axes, evenly and in the order of the mesh.
bool even_in(const Mesh& mesh, const Spec& spec, const Axes& axes) {
  return std::ranges::any_of(spec.dims, [&](const Dim& dim) {
    return std::ranges::all_of(axes, [&](AxisId a) { return std::ranges::count(dim.axes, a) > 0; }) &&
           std::ranges::is_sorted(dim.axes) && dim.size % axes_size(mesh, dim.axes) == 0;
  });
}

// Whether some step that moves or scatters between other dimensions touches these axes.
bool touched(Stretch steps, const Axes& axes) {
  return std::ranges::any_of(steps, [&](const Step& step) {
    return step.kind != "all-reduce" && (!step.axes || std::ranges::any_of(*step.axes, [&](AxisId a) {
             return std::ranges::count(axes, a) > 0;
           }));
  });
}

// Whether an axis that splits the operand leaves parts in the result: each device adds zeros to its own,
// which takes no collective, and may come between any two.
bool fills_with_zeros(const Case& c) {
  return std::ranges::any_of(c.op.operands[0].dims, [&](const Dim& dim) {
    return std::ranges::any_of(dim.axes,
                               [&](AxisId a) { return std::ranges::count(result(c).unfinished, a) > 0; });
  });
}

// Whether the dimension that a run scatters or gathers is known to be one, evenly split, in order.
bool one_dimension(const Case& c, Stretch all, std::size_t begin, std::size_t end) {
  if (all[begin].kind == "all-gather" && (!is_reshard(c) || fills_with_zeros(c))) return false;
  if (c.op.chain.size() > 1) return false;
  const Axes axes = axes_in(all.subspan(begin, end - begin));
  if (all[begin].kind == "reduce-scatter")
    return std::ranges::is_sorted(axes) && even_in(c.mesh, result(c), axes) &&
           !touched(all.subspan(end), axes);
  return std::ranges::is_sorted(axes, std::greater()) && even_in(c.mesh, c.op.operands[0], axes) &&
         !touched(all.first(begin), axes);
}

// Whether a run does the same at each step, over axes that have a group together.
bool alike(const std::vector<Axes>& groups, Stretch run) {
  const Step& first = run.front();
  if (first.kind != "all-reduce" && first.kind != "reduce-scatter" && first.kind != "all-gather")
    return false;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (!run[i].axes || run[i].times != 1 || run[i].kind != first.kind) return false;
    if (run[i].op != first.op && !(adds(run[i]) && adds(first))) return false;
    if (i > 0 && run[i].in != run[i - 1].out) return false;
  }
  return std::ranges::count(groups, ascending(axes_in(run))) > 0;  // no group has an axis twice
}

std::string run_in_words(const Mesh& mesh, Stretch run) {
  std::string over;
  for (std::size_t i = 0; i < run.size(); ++i) {
    over += i == 0 ? "" : i + 1 == run.size() ? " and " : ", ";
    for (std::size_t a = 0; a < run[i].axes->size(); ++a)
      over += (a > 0 ? "." : "") + mesh.axes[(*run[i].axes)[a]].name;
  }
  return fmt::format("{} {}s over {} in one", run.size(), run.front().kind, over);
}

// The fewest collectives that runs of a device's steps take: best[end] over all ways to cut them.
Collectives counted_with(const Case& c, const std::vector<Axes>& groups, Stretch all) {
  Collectives found;
  std::vector<std::int64_t> best(all.size() + 1, 0);
  std::vector<std::size_t> from(all.size() + 1, 0);
  const auto mergeable = [&](std::size_t begin, std::size_t end) {
    return alike(groups, all.subspan(begin, end - begin)) &&
           (all[begin].kind == "all-reduce" || one_dimension(c, all, begin, end));
  };
  for (std::size_t end = 1; end <= all.size(); ++end) {
    best[end] = best[end - 1] + all[end - 1].times;
    from[end] = end - 1;
    // The axes of a run's steps are apart: no run is longer than the mesh has axes.
    for (std::size_t begin = end - std::min(end, c.mesh.axes.size()); begin + 1 < end; ++begin)
      if (best[begin] + 1 < best[end] && mergeable(begin, end))
        best[end] = best[begin] + 1, from[end] = begin;
  }
  for (const Step& step : all) found.issued += step.times;
  found.merged = best.back();
  for (std::size_t end = all.size(); end > 0; end = from[end])
    if (end - from[end] > 1)
      found.could.push_back(run_in_words(c.mesh, all.subspan(from[end], end - from[end])));
  std::ranges::reverse(found.could);
  return found;
}

}  // namespace

Collectives collectives_of(const Case& c, const Outcome& outcome) {
  const std::vector<Axes> groups = known_groups(c.mesh, outcome);
  Collectives most;
  for (const std::vector<Step>& steps : steps_by_device(c.mesh, outcome.trace)) {
    Collectives own = counted_with(c, groups, steps);
    const std::int64_t spared = own.issued - own.merged, before = most.issued - most.merged;
    if (spared > before || (spared == before && own.issued > most.issued)) most = std::move(own);
  }
  return most;
}

}  // namespace plumb
