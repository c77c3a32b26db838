#include "harness/trace/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace plumb {
namespace {

void add(Bits& bits, std::int64_t i) { bits[i / 64] |= std::uint64_t{1} << i % 64; }

// The devices that can have anything of a cell after act t.
Bits holders(const LaidOut& run, std::size_t t, std::size_t cell) {
  const auto n = static_cast<std::int64_t>(run.e.from.size());
  Bits begin((n + 63) / 64), held = begin;
  for (std::int64_t d = 0; d < n; ++d)
    if (contains(run.e.from[d].slice, run.cells.boxes[cell])) add(begin, d);
  for (std::int64_t d = 0; d < n; ++d)
    if (!disjoint(run.of[t + 1][d], begin)) add(held, d);
  return held;
}

// For each device those from which it can have anything after act t.
std::vector<Bits> suppliers(const LaidOut& run, std::size_t t) {
  const auto n = static_cast<std::int64_t>(run.e.from.size());
  std::vector<Bits> all(n, Bits((n + 63) / 64));
  for (std::int64_t from = 0; from < n; ++from)
    for (std::int64_t d = 0; d < n; ++d)
      if (contains(run.to[t + 1][from], d)) add(all[d], from);
  return all;
}

// The first of them; -1 where there is none.
std::int64_t first(const Bits& bits) {
  for (std::size_t word = 0; word < bits.size(); ++word)
    if (bits[word] != 0) return static_cast<std::int64_t>(64 * word) + std::countr_zero(bits[word]);
  return -1;
}

// The elements that nobody else can make for those who need them: of each group, and of each member.
struct Demand {
  std::vector<std::int64_t> of_group, of_member;
};
Demand demand(const LaidOut& run, std::size_t t) {
  const auto n = static_cast<std::int64_t>(run.e.from.size());
  const auto& groups = run.acts[t].groups;
  std::vector<std::int64_t> group_of(n, -1);
  std::vector<Bits> members(groups.size(), Bits((n + 63) / 64));
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::int64_t d : groups[g]) group_of[d] = static_cast<std::int64_t>(g), add(members[g], d);
  const std::vector<Bits> from = suppliers(run, t);
  Demand sum{std::vector<std::int64_t>(groups.size()), std::vector<std::int64_t>(n)};
  for (std::size_t cell = 0; cell < run.cells.boxes.size(); ++cell) {
    const Bits held = holders(run, t, cell);
    std::set<std::int64_t> of, on;
    for (std::int64_t d : run.cells.needers[cell]) {
      const Bits can = in_both(from[d], held);
      const std::int64_t one = first(can), group = one < 0 ? -1 : group_of[one];
      if (group >= 0 && united(members[group], can) == members[group]) of.insert(group);
      if (one >= 0 && can == atom(one, n)) on.insert(one);
    }
    const std::int64_t size = elements(run.cells.boxes[cell]);
    for (std::int64_t g : of) sum.of_group[g] += size;
    for (std::int64_t d : on) sum.of_member[d] += size;
  }
  return sum;
}

}  // namespace

Ends ends(const Spec& from, const Spec& to) {
  Ends of;
  if (from.reduction != to.reduction) return of;
  const auto newly_averaged = [&](AxisId axis) {
    return contains(to.averaged, axis) && !contains(from.averaged, axis);
  };
  std::ranges::remove_copy_if(to.unfinished, std::back_inserter(of.together), newly_averaged);
  for (AxisId axis : of.together)
    if (from.reduction == Reduce::sum && contains(from.unfinished, axis) && !contains(from.averaged, axis))
      of.stays.push_back(axis);
  return of;
}

Execution execution(const Case& c, const Spec& from, const Spec& to) {
  Execution e{c, {}, parts(c.mesh, from), to, ends(from, to), from.reduction != Reduce::sum};
  for (std::int64_t d = 0; d < devices(c.mesh); ++d)
    e.from.push_back({block(c.mesh, from, c.rule, d), atom(part(c.mesh, from, d), e.atoms)});
  return e;
}

std::string sums_too_few(const LaidOut& run) {
  if (!run.e.to.unfinished.empty()) return "";
  const std::int64_t value = std::min(format(run.e.c.wire).bytes, format(run.e.to.dtype).bytes);
  for (std::size_t t = 0; t < run.acts.size(); ++t) {
    const Act& act = run.acts[t];
    if (!act.sums()) continue;
    const Demand need = demand(run, t);
    const std::int64_t most = (act.scatters() ? act.one->out : act.one->in) / value;
    for (std::size_t g = 0; g < act.groups.size(); ++g) {
      const auto n = static_cast<__int128>(act.scatters() ? act.groups[g].size() : 1);
      if (need.of_group[g] > n * most)
        return fmt::format("its {} gives the group of device {} at most {} of the {} elements that are due",
                           act.one->kind, act.groups[g].front(), static_cast<std::int64_t>(n * most),
                           need.of_group[g]);
      for (std::int64_t d : act.groups[g])
        if (act.scatters() && need.of_member[d] > most)
          return fmt::format("its reduce-scatter gives device {} at most {} of the {} elements that are due",
                             d, most, need.of_member[d]);
    }
  }
  return "";
}

}  // namespace plumb
