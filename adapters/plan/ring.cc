// Along one axis for a sum, along the axes of one dimension for a gather: as rings, or at once.
#include <algorithm>

#include "adapters/plan/intersections.h"
#include "adapters/plan/plan.h"
#include "adapters/plan/report.h"

namespace plumb {
namespace {

// The members of a ring in order, and the cell that each begins with; -1 where it has none.
struct Circle {
  std::vector<std::uint32_t> members;
  std::vector<std::int64_t> cells;
};

// One for each fibre along the axes, without cells.
std::vector<Circle> circles_along(const Mesh& mesh, const std::vector<AxisId>& axes) {
  std::vector<Circle> circles;
  for (const auto& fibre : fibres(mesh, axes)) {
    Circle& circle = circles.emplace_back();
    circle.members.assign(fibre.begin(), fibre.end());
    circle.cells.assign(fibre.size(), -1);
  }
  return circles;
}

// Hop h sends to every member's right neighbour the cell that began at the member h places to its left
// and `shift` further. Hops are rounds: each uses what the one before brought.
void hops(const std::vector<Circle>& circles, std::int64_t shift, const Round& like, Leg& leg) {
  const auto n = static_cast<std::int64_t>(circles[0].members.size());
  for (std::int64_t h = 0; h + 1 < n; ++h) {
    Round round = like;
    for (const Circle& circle : circles)
      for (std::int64_t i = 0; i < n; ++i)
        if (const std::int64_t cell = circle.cells[(i - h + shift + n) % n]; cell >= 0)
          round.sends.push_back(
              {circle.members[i], circle.members[(i + 1) % n], static_cast<std::uint32_t>(cell)});
    leg.rounds.push_back(std::move(round));
  }
}

// Every member is sent the parts of its sum, or sends what it begins the gather with, to or by all others.
void all_to_others(const std::vector<Circle>& circles, std::int64_t shift, const Round& like, Leg& leg) {
  Round round = like;
  for (const Circle& circle : circles) {
    const std::size_t n = circle.members.size();
    for (std::size_t i = 0; i < n; ++i)
      if (const std::int64_t cell = circle.cells[(i + (like.add ? 1 : shift)) % n]; cell >= 0)
        for (std::size_t j = 1; j < n; ++j) {
          const std::uint32_t one = circle.members[i], other = circle.members[(i + j) % n];
          round.sends.push_back(
              {like.add ? other : one, like.add ? one : other, static_cast<std::uint32_t>(cell)});
        }
  }
  leg.rounds.push_back(std::move(round));
}

// Every member is sent every part, its own too, by all in the order of the circle.
Round all_parts(const std::vector<Circle>& circles) {
  Round round{.add = true, .from = Side::before, .to = Side::after, .issued = 0, .sends = {}};
  for (const Circle& circle : circles)
    for (std::uint32_t to : circle.members)
      for (std::uint32_t from : circle.members)
        if (circle.cells[0] >= 0)
          round.sends.push_back({from, to, static_cast<std::uint32_t>(circle.cells[0])});
  return round;
}

// How pieces are made, and whether a collective goes at once.
struct Manner {
  Rule rule;
  bool at_once;
};

// Every member copies the cell it begins the gather with into its own new block.
Round keep(const std::vector<Circle>& circles, std::int64_t shift) {
  Round round;
  for (const Circle& circle : circles) {
    const std::size_t n = circle.members.size();
    for (std::size_t i = 0; i < n; ++i)
      if (const std::int64_t cell = circle.cells[(i + shift) % n]; cell >= 0)
        round.sends.push_back({circle.members[i], circle.members[i], static_cast<std::uint32_t>(cell)});
  }
  return round;
}

std::int64_t moved(const Leg& leg, int issued) {
  std::int64_t sum = 0;
  for (const Round& round : leg.rounds)
    if (round.issued == issued)
      for (const Send& send : round.sends)
        if (send.from != send.to) sum += elements(leg.cells, send.cell);
  return sum;
}

// What every member begins with, and how it is reported.
struct Gather {
  std::int64_t shift;
  Issued issued;
  bool at_once;
};

void gather(const std::vector<Circle>& circles, const Gather& what, Leg& leg) {
  const int index = static_cast<int>(leg.issued.size());
  Round round{.add = false, .from = Side::after, .to = Side::after, .issued = index, .sends = {}};
  leg.rounds.push_back(keep(circles, what.shift));
  if (what.at_once) {
    round.from = Side::before;
    all_to_others(circles, what.shift, round, leg);
  } else {
    hops(circles, what.shift, round, leg);
  }
  leg.issued.push_back(what.issued);
  leg.issued.back().kind = "all-gather";
  leg.issued.back().moved = moved(leg, index);
}

std::int64_t most(const Amounts& amounts) { return *std::max_element(amounts.begin(), amounts.end()); }

Leg leg_of(const Spec& from, const Spec& to) {
  Leg leg;
  leg.from = from;
  leg.to = to;
  leg.cells.rank = static_cast<int>(from.dims.size());
  return leg;
}

// Whether the second cut is the first and, within its pieces, more.
bool cut_further(const Mesh& mesh, const Dim& some, const Dim& more) {
  return some.axes == more.axes || some.axes.empty() ||
         (more.size % axes_size(mesh, more.axes) == 0 && some.axes.size() < more.axes.size() &&
          std::equal(some.axes.begin(), some.axes.end(), more.axes.begin()));
}

// The unfinished axis along which the target cuts a dimension next.
std::optional<AxisId> cut_next(const Mesh& mesh, const Spec& at, const Spec& to, std::size_t dim) {
  Dim next = at.dims[dim];
  const std::vector<AxisId>& all = to.dims[dim].axes;
  if (next.axes.size() >= all.size()) return {};
  next.axes.push_back(all[next.axes.size()]);
  const bool lies_within =
      cut_further(mesh, at.dims[dim], to.dims[dim]) && cut_further(mesh, next, to.dims[dim]);
  if (!contains(set_of(at.unfinished), next.axes.back()) || !lies_within) return {};
  return next.axes.back();
}

void finish(Spec& spec, AxisId axis) {
  std::erase(spec.unfinished, axis);
  std::erase(spec.averaged, axis);
  if (spec.unfinished.empty()) spec.reduction = Reduce::sum;
}

// An axis and the dimension that it is to cut.
struct Cut {
  AxisId axis;
  std::size_t dim;
};

// Sums over one unfinished axis, of which every member keeps its piece of the dimension.
Leg reduce_scatter(const Mesh& mesh, const Spec& from, const Cut& cut, const Manner& manner) {
  const Rule rule = manner.rule;
  Spec to = from;
  finish(to, cut.axis);
  to.dims[cut.dim].axes.push_back(cut.axis);
  Leg leg = leg_of(from, to);
  std::vector<Circle> circles = circles_along(mesh, {cut.axis});
  const std::int64_t n = mesh.axes[cut.axis].size;
  for (Circle& circle : circles)
    for (std::int64_t i = 0; i < n; ++i)
      if (const Slice own = block(mesh, to, rule, circle.members[i]); elements(own) > 0)
        circle.cells[(i + 1) % n] = append(leg.cells, own);
  leg.issued.push_back({.kind = "reduce-scatter",
                        .axes = {cut.axis},
                        .pairs = {},
                        .sums = true,
                        .in = most(amounts(mesh, from, rule)),
                        .out = most(amounts(mesh, to, rule))});
  (manner.at_once ? all_to_others : hops)(
      circles, 0, {.add = true, .from = Side::before, .to = Side::before, .issued = 0, .sends = {}}, leg);
  leg.issued[0].moved = moved(leg, 0);
  leg.rounds.push_back(keep(circles, 1));
  return leg;
}

// Sums over one unfinished axis: after the reduce-scatter member i owns cell i + 1.
Leg all_reduce(const Mesh& mesh, const Spec& from, AxisId axis, Rule rule) {
  Spec to = from;
  finish(to, axis);
  Leg leg = leg_of(from, to);
  std::vector<Circle> circles = circles_along(mesh, {axis});
  const std::int64_t n = mesh.axes[axis].size;
  std::int64_t share_size = 0;
  for (Circle& circle : circles) {
    const Slice whole = block(mesh, from, rule, circle.members[0]);
    if (elements(whole) > 0)
      for (std::int64_t i = 0; const auto& share : cut_evenly(whole, n)) {
        circle.cells[i++] = append(leg.cells, share);
        share_size = std::max(share_size, elements(share));
      }
  }
  const std::int64_t block_size = most(amounts(mesh, from, rule));
  Issued issued{.kind = "reduce-scatter",
                .axes = {axis},
                .pairs = {},
                .sums = true,
                .in = block_size,
                .out = share_size,
                .moved = 0};
  hops(circles, 0, {.add = true, .from = Side::before, .to = Side::before, .issued = 0, .sends = {}}, leg);
  issued.moved = moved(leg, 0);
  leg.issued.push_back(issued);
  issued.sums = false;
  std::swap(issued.in, issued.out);
  gather(circles, {1, issued, false}, leg);
  return leg;
}

// The same, every member adding up all parts for itself.
Leg all_reduce_at_once(const Mesh& mesh, const Spec& from, AxisId axis, Rule rule) {
  Spec to = from;
  finish(to, axis);
  Leg leg = leg_of(from, to);
  std::vector<Circle> circles = circles_along(mesh, {axis});
  for (Circle& circle : circles)
    if (const Slice whole = block(mesh, from, rule, circle.members[0]); elements(whole) > 0)
      circle.cells[0] = append(leg.cells, whole);
  const std::int64_t each = most(amounts(mesh, from, rule));
  leg.rounds.push_back(all_parts(circles));
  leg.issued.push_back(
      {.kind = "all-reduce", .axes = {axis}, .pairs = {}, .sums = true, .in = each, .out = each});
  leg.issued[0].moved = moved(leg, 0);
  Round kept;
  for (const Circle& circle : circles)
    for (std::uint32_t member : circle.members)
      if (circle.cells[0] >= 0)
        kept.sends.push_back({member, member, static_cast<std::uint32_t>(circle.cells[0])});
  leg.rounds.push_back(std::move(kept));
  return leg;
}

// Joins the pieces of one dimension along the last of its axes, or, where these are not cut out of those of
// the axes before it, along all.
Leg all_gather(const Mesh& mesh, const Spec& from, std::size_t dim, const Manner& manner) {
  const Rule rule = manner.rule;
  Spec to = from;
  const std::vector<AxisId>& all = from.dims[dim].axes;
  const bool even = rule == Rule::nested || from.dims[dim].size % axes_size(mesh, all) == 0;
  const std::vector<AxisId> joined(even ? all.end() - 1 : all.begin(), all.end());
  to.dims[dim].axes.resize(all.size() - joined.size());
  Leg leg = leg_of(from, to);
  std::vector<Circle> circles = circles_along(mesh, joined);
  for (Circle& circle : circles)
    for (std::size_t i = 0; i < circle.members.size(); ++i)
      if (const Slice own = block(mesh, from, rule, circle.members[i]); elements(own) > 0)
        circle.cells[i] = append(leg.cells, own);
  Issued issued;
  issued.axes = joined;
  issued.in = most(amounts(mesh, from, rule)), issued.out = most(amounts(mesh, to, rule));
  gather(circles, {0, issued, manner.at_once}, leg);
  return leg;
}

// The two layouts of a reshard.
struct Reshard {
  const Spec &from, &to;
};

std::vector<Leg> along_axes(const Mesh& mesh, const Reshard& reshard, const Manner& manner) {
  const auto& [from, to] = reshard;
  std::vector<Leg> legs;
  Spec at = from;
  const auto go = [&](Leg leg) {
    at = leg.to;
    legs.push_back(std::move(leg));
  };
  for (std::size_t d = 0; d < from.dims.size(); ++d)
    while (const auto axis = cut_next(mesh, at, to, d)) go(reduce_scatter(mesh, at, {*axis, d}, manner));
  for (AxisId axis : from.unfinished)
    if (contains(set_of(at.unfinished) & ~set_of(to.unfinished), axis)) {
      const bool at_once =
          manner.at_once && mesh.axes[axis].size > 1;  // one device sends nothing that a wire rounds
      go((at_once ? all_reduce_at_once : all_reduce)(mesh, at, axis, manner.rule));
    }
  for (std::size_t d = 0; d < from.dims.size(); ++d)
    while (!cut_further(mesh, at.dims[d], to.dims[d])) go(all_gather(mesh, at, d, manner));
  go(direct(mesh, at, to, manner.rule));
  return legs;
}

}  // namespace

std::vector<Leg> ring(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  return along_axes(mesh, {from, to}, {rule, false});
}

std::vector<Leg> calls(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  return along_axes(mesh, {from, to}, {rule, true});
}

}  // namespace plumb
