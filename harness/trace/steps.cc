#include "harness/trace/steps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "adapters/protocol/vocabulary.h"

namespace plumb {
namespace {

// The axes along which a group extends, where it is the whole fibre along them.
std::optional<std::vector<AxisId>> fibre_axes(const Mesh& mesh, const std::vector<std::int64_t>& group) {
  std::vector<AxisId> axes;
  for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.axes.size()); ++axis)
    if (std::ranges::any_of(group, [&](std::int64_t d) {
          return coordinate(mesh, {axis}, d) != coordinate(mesh, {axis}, group[0]);
        }))
      axes.push_back(axis);
  if (axes_size(mesh, axes) != std::ssize(group)) return std::nullopt;
  return axes;
}

}  // namespace

bool reduces(const Collective& one) { return one.kind == "all-reduce" || one.kind == "reduce-scatter"; }

bool names_sum(const std::string& op) { return reduces_by(op) == ReducesBy::sum; }

bool names_bits(const std::string& op) { return reduces_by(op) == ReducesBy::bits; }

bool combines(const Collective& one) { return reduces(one) && !names_bits(one.op); }

bool names_mean(const std::string& op) { return reduces_by(op) == ReducesBy::mean; }

std::optional<Reduce> extreme_named(const std::string& op) {
  const auto by = reduces_by(op);
  if (by == ReducesBy::largest) return Reduce::max;
  if (by == ReducesBy::smallest) return Reduce::min;
  return std::nullopt;
}

bool names_nobody(const Collective& one) {
  return one.axes.empty() && one.groups.empty() && one.pairs.empty();
}

std::vector<AxisId> axes_of(const Mesh& mesh, const Collective& one) { return axes_named(mesh, one.axes); }

std::optional<std::vector<AxisId>> fibre_axes(const Mesh& mesh, const Collective& one) {
  if (!one.axes.empty()) return axes_of(mesh, one);
  std::optional<std::vector<AxisId>> axes;
  std::size_t members = 0;
  for (const std::vector<std::int64_t>& group : one.groups) {
    const auto own = fibre_axes(mesh, group);
    if (!own || (axes && *own != *axes)) return std::nullopt;
    axes = own, members += group.size();
  }
  if (static_cast<std::int64_t>(members) != devices(mesh)) return std::nullopt;
  return axes;
}

Trace named_by_axes(const Mesh& mesh, Trace trace) {
  for (Collective& one : trace) {
    const auto ascends = [](const std::vector<std::int64_t>& group) { return std::ranges::is_sorted(group); };
    const auto axes = fibre_axes(mesh, one);
    const bool in_any_order = one.kind == "all-reduce";
    if (!axes || axes->empty() || (!in_any_order && !std::ranges::all_of(one.groups, ascends))) continue;
    one.axes = axis_names(mesh, *axes);
    one.groups.clear();
  }
  return trace;
}

bool in_a_loop(const Collective& one) { return one.times > 1 || (one.moved && *one.moved < 0); }

Trace written_out(const Mesh& mesh, std::span<const Collective> trace) {
  Trace all;
  for (std::size_t i = 0, end = 0; i < trace.size(); i = end) {
    const Collective& one = trace[i];
    while (end < trace.size() && in_a_loop(trace[end])) ++end;
    if (end == i) {
      all.push_back(trace[end++]);
      continue;
    }
    const std::span<const Collective> loops{&one, end - i};
    const bool steps = std::ranges::all_of(loops, [&](const Collective& other) {
      return other.kind == "collective-permute" && !other.pairs.empty() && !other.moved &&
             other.pairs == one.pairs && other.in == one.in && other.out == one.out &&
             other.dtype == one.dtype && other.times <= devices(mesh);
    });
    for (Collective loop : loops) {
      const std::int64_t times = steps ? std::exchange(loop.times, 1) : 1;
      all.insert(all.end(), times, loop);
    }
  }
  return all;
}

std::vector<std::vector<std::int64_t>> groups_of(const Mesh& mesh, const Collective& one) {
  return one.axes.empty() ? one.groups : fibres(mesh, axes_of(mesh, one));
}

std::vector<std::vector<std::int64_t>> connected(const Mesh& mesh, std::span<const Collective> trace) {
  std::vector<std::int64_t> root(devices(mesh));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](std::int64_t d) {
    while (root[d] != d) d = root[d] = root[root[d]];
    return d;
  };
  for (const Collective& one : trace) {
    for (const std::vector<std::int64_t>& group : groups_of(mesh, one))
      for (std::int64_t d : group) root[find(d)] = find(group.front());
    for (const auto& [from, to] : one.pairs) root[find(to)] = find(from);
    for (std::int64_t d = 0; names_nobody(one) && d < devices(mesh); ++d) root[find(d)] = find(0);
  }
  std::vector<std::vector<std::int64_t>> all(root.size());
  for (std::int64_t d = 0; d < std::ssize(root); ++d) all[find(d)].push_back(d);
  std::erase_if(all, [](const auto& group) { return group.empty(); });
  return all;
}

std::vector<std::vector<Step>> steps_by_device(const Mesh& mesh, const Trace& trace) {
  std::vector<std::vector<Step>> steps(devices(mesh));
  for (const Collective& one : trace) {
    const Step step{one.kind, one.op, {}, one.in, one.out, one.times};
    std::vector<bool> touched(steps.size());
    for (const auto& [from, to] : one.pairs)
      if (from != to) touched[from] = touched[to] = true;
    for (std::size_t device = 0; device < steps.size(); ++device)
      if (touched[device]) steps[device].push_back(step);
    for (const std::vector<std::int64_t>& group : groups_of(mesh, one)) {
      if (group.size() < 2) continue;
      const auto axes = fibre_axes(mesh, group);
      for (std::int64_t device : group) steps[device].push_back(step), steps[device].back().axes = axes;
    }
  }
  return steps;
}

}  // namespace plumb
