// For tests: changes to a trace, each to another that the protocol's page allows.
#pragma once

#include "adapters/protocol/outcome.h"
#include "reference/words/testing/draw_case.h"

namespace plumb {

inline const char* const kKinds[] = {"all-reduce", "all-gather",         "reduce-scatter",
                                     "all-to-all", "collective-permute", "collective-broadcast",
                                     "send"};

inline std::vector<std::string> draw_axes(Random& random, const Mesh& mesh) {
  std::vector<std::string> axes;
  for (const Axis& axis : mesh.axes)
    if (random.one_in(2)) axes.insert(axes.begin() + random.below(std::ssize(axes) + 1), axis.name);
  return axes;
}

// Groups of devices, of which some may be in none.
inline std::vector<std::vector<std::int64_t>> draw_groups(Random& random, const Mesh& mesh) {
  std::vector<std::vector<std::int64_t>> groups;
  if (random.one_in(2)) {
    std::vector<AxisId> axes;
    for (AxisId a = 0; a < static_cast<AxisId>(mesh.axes.size()); ++a)
      if (random.one_in(2)) axes.push_back(a);
    groups = fibres(mesh, axes);
    if (random.one_in(3)) groups.erase(groups.begin() + random.below(std::ssize(groups)));
  } else {
    groups.resize(1 + random.below(devices(mesh)));
    for (std::int64_t d = 0; d < devices(mesh); ++d) {
      auto& group = groups[random.below(std::ssize(groups))];
      if (!random.one_in(8)) group.insert(group.begin() + random.below(std::ssize(group) + 1), d);
    }
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
  }
  return groups;
}

inline std::vector<std::pair<std::int64_t, std::int64_t>> draw_pairs(Random& random, const Mesh& mesh) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  std::vector<std::int64_t> to;
  for (std::int64_t d = 0; d < devices(mesh); ++d) to.insert(to.begin() + random.below(d + 1), d);
  for (std::int64_t d = 0; d < devices(mesh); ++d)
    if (!random.one_in(4)) pairs.emplace_back(d, to[d]);
  if (pairs.empty()) pairs.emplace_back(0, 0);
  return pairs;
}

// Who takes part, said as its kind may say it.
inline void draw_members(Random& random, const Mesh& mesh, Collective& one) {
  one.axes.clear(), one.groups.clear(), one.pairs.clear();
  if (one.kind == "collective-permute" || (one.kind == "send" && random.one_in(2)))
    one.pairs = draw_pairs(random, mesh);
  else if (random.one_in(2))
    one.axes = draw_axes(random, mesh);
  if (one.axes.empty() && one.pairs.empty() && !(one.kind == "send" && random.one_in(2)))
    one.groups = draw_groups(random, mesh);
  if (one.axes.empty() && one.pairs.empty() && one.groups.empty() && one.kind != "send")
    one.axes = {mesh.axes.front().name};
}

inline std::int64_t draw_bytes(Random& random, std::int64_t before, std::int64_t n) {
  const std::int64_t all[] = {
      0,          1,          4,          before / 2,           before / n, before - 4, before + 1,
      before + 4, 2 * before, before * n, before * (n - 1) / n, 1 << 20,    1 << 30};
  return std::max<std::int64_t>(0, random.of(all));
}

inline Collective draw_collective(Random& random, const Case& c) {
  Collective one;
  one.kind = random.of(kKinds);
  draw_members(random, c.mesh, one);
  one.in = draw_bytes(random, largest_block_bytes(c.mesh, c.op.operands[0], c.rule), devices(c.mesh));
  one.out = draw_bytes(random, one.in, devices(c.mesh));
  return one;
}

// Others take part, in as many groups of as many: axes of the same sizes, or devices under other names.
inline void exchange_members(Random& random, const Mesh& mesh, Collective& one) {
  for (std::string& axis : one.axes) {
    const std::int64_t size = std::ranges::find(mesh.axes, axis, &Axis::name)->size;
    const Axis& other = random.of(mesh.axes);
    if (other.size == size && std::ranges::count(one.axes, other.name) == 0) axis = other.name;
  }
  const std::int64_t a = random.below(devices(mesh)), b = random.below(devices(mesh));
  const auto exchanged = [&](std::int64_t d) { return d == a ? b : d == b ? a : d; };
  for (auto& group : one.groups)
    for (std::int64_t& d : group) d = exchanged(d);
  for (auto& [from, to] : one.pairs) to = exchanged(to);
}

inline void change_collective(Random& random, const Case& c, Collective& one) {
  const std::int64_t n = std::max<std::int64_t>(1, devices(c.mesh));
  const char* const ops[] = {"", "add", "sum", "avg", "max", "min", "maximum", "multiply", "or", "other"};
  const char* const dtypes[] = {"",    "f8e4m3", "f8e5m2", "f16",  "bf16", "f32",
                                "f64", "s8",     "s32",    "e8m0", "u4"};
  switch (random.below(14)) {
    case 0:
      one.kind = random.of(kKinds);
      return draw_members(random, c.mesh, one);
    case 1:
    case 2:
      return draw_members(random, c.mesh, one);
    case 3:
      one.op = random.of(ops);
      return;
    case 4:
      one.dtype = random.of(dtypes);
      return;
    case 5:
      one.in = draw_bytes(random, one.in, n);
      return;
    case 6:
      one.out = draw_bytes(random, one.out, n);
      return;
    case 7:
      one.in = draw_bytes(random, one.in, n), one.out = draw_bytes(random, one.in, n);
      return;
    case 8:
      if (random.one_in(2))
        one.moved.reset();
      else
        one.moved = random.one_in(3) ? -1 : draw_bytes(random, one.moved.value_or(one.in), n);
      return;
    case 9:
      one.times = 1 + random.below(4);
      return;
    case 10:
    case 11:
    case 12:
      return exchange_members(random, c.mesh, one);
    default:  // as a compiler prints it
      if (!one.axes.empty()) {
        std::vector<AxisId> axes;
        for (const std::string& axis : one.axes)
          axes.push_back(
              static_cast<AxisId>(std::ranges::find(c.mesh.axes, axis, &Axis::name) - c.mesh.axes.begin()));
        one.axes.clear(), one.groups = fibres(c.mesh, axes);
      }
      one.moved.reset();
  }
}

inline void change_trace(Random& random, const Case& c, Trace& trace) {
  const auto place = [&] { return trace.begin() + random.below(std::ssize(trace)); };
  const std::int64_t what = trace.empty() ? 0 : random.below(12);
  switch (what) {
    case 0:
      trace.insert(trace.begin() + random.below(std::ssize(trace) + 1), draw_collective(random, c));
      return;
    case 1:
      trace.erase(place());
      return;
    case 2: {
      const Collective one = *place();
      trace.insert(place(), one);
      return;
    }
    case 3:
      return std::iter_swap(place(), place());
    case 4:
    case 5:
      for (Collective& one : trace) one.moved.reset();
      return what == 4 ? void() : change_trace(random, c, trace);
    default:
      return change_collective(random, c, *place());
  }
}

}  // namespace plumb
