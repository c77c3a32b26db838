#include "harness/trace/executed.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

#include "harness/trace/acts.h"
#include "harness/trace/cells.h"
#include "harness/trace/steps.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::int64_t most_work = std::int64_t{1} << 22;
constexpr std::int64_t most_readings = 1024;

// Of each act what is chosen of it: of a broadcast the member that sends, of a permute 1 where no target
// keeps its own; -1 where nothing is.
using Roots = std::vector<std::int64_t>;
using Holding = std::vector<Family>;  // of one cell, by device

struct Run {
  const Execution& e;
  std::vector<Act> acts;
  Cells cells;
  std::vector<std::vector<Bits>> to;                           // ways() of the acts
  std::vector<std::vector<Bits>> of;                           // origins() of the acts
  std::vector<std::vector<std::vector<std::int64_t>>> fibres;  // groups_of_fibres()
  SetTable table{};
  Atoms whole{};

  Family beginning(std::int64_t device, std::size_t cell) {
    const Beginning& b = e.from[device];
    if (!contains(b.slice, cells.boxes[cell])) return {};
    return {table.number(b.atoms)};
  }
  Holding beginning(std::size_t cell) {
    Holding held;
    for (std::int64_t d = 0; d < std::ssize(e.from); ++d) held.push_back(beginning(d, cell));
    return held;
  }
  bool relevant(std::size_t t, std::int64_t device, std::size_t cell) const {
    return std::ranges::any_of(cells.needers[cell],
                               [&](std::int64_t d) { return contains(to[t][device], d); });
  }
};

// The fibres over which the end is unfinished, and of each the groups of which one has to make it.
std::vector<std::vector<std::vector<std::int64_t>>> groups_of_fibres(const Execution& e) {
  std::vector<std::int64_t> fibre_of(e.from.size());
  const auto all = fibres(e.c.mesh, e.to.unfinished);
  for (std::size_t f = 0; f < all.size(); ++f)
    for (std::int64_t d : all[f]) fibre_of[d] = static_cast<std::int64_t>(f);
  std::vector<std::vector<std::vector<std::int64_t>>> groups(all.size());
  for (auto& group : fibres(e.c.mesh, e.ends.together))
    groups[fibre_of[group.front()]].push_back(std::move(group));
  return groups;
}

// The sum of a cell over a group, of which a member that has nothing adds zeros; -1 where there is none.
int sum_over(Run& run, const std::vector<std::int64_t>& group, const Holding& held) {
  std::vector<Family> wider;
  for (std::int64_t d : group) {
    if (held[d].empty()) continue;
    Family& family = wider.emplace_back(held[d]);
    if (family.size() < 2) continue;
    const Family own = family;
    Atoms all(run.whole.size());
    bool apart = true;
    for (int value : own) {
      apart = apart && (run.table.idempotent || disjoint(all, run.table.sets[value]));
      all = united(all, run.table.sets[value]);
    }
    if (apart) run.table.join(family, {run.table.number(all)});
  }
  std::vector<const Family*> members;
  for (const Family& family : wider) members.push_back(&family);
  return run.table.sum(members);
}

// Whether members lie along an axis along which parts stay parts.
bool along_what_stays(const Execution& e, const std::vector<std::int64_t>& group) {
  const auto at = [&](std::int64_t d) { return coordinate(e.c.mesh, e.ends.stays, d); };
  return !e.ends.stays.empty() &&
         std::ranges::any_of(group, [&](std::int64_t d) { return at(d) != at(group.front()); });
}

// What one act makes of a cell: `owner` is the member that a scatter or an exchange leaves it with, of each
// group; -1 is all.
void advance(Run& run, const Act& act, std::int64_t owner, Holding& held) {
  for (const std::vector<std::int64_t>& group : act.groups) {
    if (std::ranges::all_of(group, [&](std::int64_t d) { return held[d].empty(); })) continue;
    if (act.sums()) {
      const bool no_part = !run.e.keeps && !act.scatters() && along_what_stays(run.e, group);
      const int sum = no_part ? -1 : sum_over(run, group, held);
      for (std::int64_t i = 0; i < std::ssize(group); ++i)
        if (const Family made = sum >= 0 && (owner < 0 || owner == i) ? Family{sum} : Family{}; run.e.keeps)
          run.table.join(held[group[i]], made);
        else
          held[group[i]] = made;
      continue;
    }
    Family all;
    for (std::int64_t i = 0; i < std::ssize(group); ++i)
      if (!act.broadcasts() || owner < 0 || i == owner % std::ssize(group))
        run.table.join(all, held[group[i]]);
    for (std::int64_t i = 0; i < std::ssize(group); ++i)
      if (act.broadcasts())
        run.table.join(held[group[i]], all);
      else
        held[group[i]] = act.exchanges() && owner >= 0 && owner != i ? Family{} : all;
  }
  if (act.one->pairs.empty()) return;
  const Holding before = held;
  for (std::size_t i = 0; i < act.one->pairs.size(); ++i)
    if (!act.keeps[i] && !run.e.keeps) held[act.one->pairs[i].second].clear();
  for (const auto& [from, target] : act.one->pairs) run.table.join(held[target], before[from]);
}

// Whether the target of a pair needs anything of what its source has and it has not.
bool brought(const Run& run, std::size_t t, std::pair<std::int64_t, std::int64_t> pair,
             const std::vector<Holding>& held) {
  for (std::size_t cell = 0; cell < held.size(); ++cell) {
    const Family &there = held[cell][pair.first], &own = held[cell][pair.second];
    if (!std::ranges::includes(own, there) && run.relevant(t + 1, pair.second, cell)) return true;
  }
  return false;
}

bool is_made(Run& run, std::size_t cell, const Holding& held) {
  const auto needs = [&](std::int64_t d) { return std::ranges::count(run.cells.needers[cell], d) > 0; };
  const auto makes = [&](const std::vector<std::int64_t>& group) {
    Family all;
    for (std::int64_t d : group) run.table.join(all, held[d]);
    return run.table.makes(all, run.whole);
  };
  return std::ranges::all_of(run.fibres, [&](const auto& groups) {
    return !needs(groups.front().front()) || std::ranges::any_of(groups, makes);
  });
}

// Executes all cells with every scatter leaving its sums on all members: the most that anyone can hold. What
// permutes overwrite is found on the way.
std::vector<Holding> most_held(Run& run, const Roots& roots) {
  std::vector<Holding> held;
  for (std::size_t cell = 0; cell < run.cells.boxes.size(); ++cell) held.push_back(run.beginning(cell));
  for (std::size_t t = 0; t < run.acts.size(); ++t) {
    Act& act = run.acts[t];
    for (std::size_t i = 0; i < act.keeps.size(); ++i)
      act.keeps[i] = act.one->pairs[i].first == act.one->pairs[i].second ||
                     (roots[t] != 1 && brought(run, t, act.one->pairs[i], held));
    for (Holding& of_cell : held) advance(run, act, roots[t], of_cell);
  }
  return held;
}

bool sums_from(const std::vector<Act>& acts, std::size_t t) {
  return std::any_of(acts.begin() + static_cast<std::ptrdiff_t>(t), acts.end(), std::mem_fn(&Act::sums));
}

// Whether a cell is left with one member of a group: by a scatter, or by an exchange before a sum, which
// would add up twice what two have.
bool leaves_to_one(const Run& run, std::size_t t) {
  return run.acts[t].scatters() || (run.acts[t].exchanges() && sums_from(run.acts, t));
}

// Whether some owners of these from act t on make the cell.
bool some_owners_make(Run& run, std::size_t cell, std::size_t t, const Roots& roots, Holding held) {
  for (; t < run.acts.size() && !leaves_to_one(run, t); ++t) advance(run, run.acts[t], roots[t], held);
  if (t == run.acts.size()) return is_made(run, cell, held);
  std::set<std::int64_t> owners;
  for (const auto& group : run.acts[t].groups)
    for (std::int64_t i = 0; i < std::ssize(group); ++i)
      if (run.relevant(t + 1, group[i], cell)) owners.insert(i);
  if (owners.empty()) owners.insert(0);  // nobody needs it: whoever has it
  if (run.acts[t].exchanges()) owners.insert(-1);
  return std::ranges::any_of(owners, [&](std::int64_t owner) {
    Holding next = held;
    advance(run, run.acts[t], owner, next);
    return some_owners_make(run, cell, t + 1, roots, std::move(next));
  });
}

std::string text_of(const Slice& box) {
  std::vector<std::string> ranges;
  for (const Range& r : box) ranges.push_back(fmt::format("{}:{}", r.begin, r.end));
  return fmt::format("[{}]", fmt::join(ranges, ","));
}

std::string unmade(Run& run, const Roots& roots) {
  const std::vector<Holding> held = most_held(run, roots);
  bool by_owners = false;
  for (std::size_t t = 0; t < run.acts.size(); ++t) by_owners |= leaves_to_one(run, t);
  for (std::size_t cell = 0; cell < held.size(); ++cell) {
    const auto& needers = run.cells.needers[cell];
    if (needers.empty()) continue;
    if (by_owners ? some_owners_make(run, cell, 0, roots, run.beginning(cell))
                  : is_made(run, cell, held[cell]))
      continue;
    const auto lacks = std::ranges::find_if(
        needers, [&](std::int64_t d) { return !run.table.makes(held[cell][d], run.whole); });
    const std::int64_t device = lacks == needers.end() ? needers.front() : *lacks;
    return fmt::format("executed, it does not leave {} of the result on device {} ({})",
                       text_of(run.cells.boxes[cell]), device, coordinates_text(run.e.c.mesh, device));
  }
  return "";
}

void add(Bits& bits, std::int64_t i) { bits[i / 64] |= std::uint64_t{1} << i % 64; }
// The devices that can have anything of a cell after act t.
Bits holders(const Run& run, std::size_t t, std::size_t cell) {
  const auto n = static_cast<std::int64_t>(run.e.from.size());
  Bits begin((n + 63) / 64), held = begin;
  for (std::int64_t d = 0; d < n; ++d)
    if (contains(run.e.from[d].slice, run.cells.boxes[cell])) add(begin, d);
  for (std::int64_t d = 0; d < n; ++d)
    if (!disjoint(run.of[t + 1][d], begin)) add(held, d);
  return held;
}

// For each device those from which it can have anything after act t.
std::vector<Bits> suppliers(const Run& run, std::size_t t) {
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
Demand demand(const Run& run, std::size_t t) {
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

// A sum of fewer bytes than those who need it hold of it.
std::string sums_too_few(const Run& run) {
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

// How many readings an act has, of each cell the same; 1 is one that needs no choice.
std::int64_t choices(const std::vector<Act>& acts, std::size_t t) {
  if (!acts[t].broadcasts()) return acts[t].one->kind == "collective-permute" && sums_from(acts, t) ? 2 : 1;
  std::int64_t most = 1;
  for (const auto& group : acts[t].groups) most = std::max<std::int64_t>(most, std::ssize(group));
  return most;
}

// The first choice for each act that has one; none where there are too many to try: of a broadcast everyone
// then has what any member had.
Roots first_choices(const std::vector<Act>& acts) {
  Roots roots(acts.size(), -1);
  std::int64_t readings = 1;
  for (std::size_t t = 0; t < acts.size(); ++t) {
    const std::int64_t n = choices(acts, t);
    if (n == 1 && !acts[t].broadcasts()) continue;
    if (readings > most_readings / n) return Roots(acts.size(), -1);
    readings *= n, roots[t] = 0;
  }
  return roots;
}

// The next choices, the first act's turning fastest; false after the last.
bool next(const std::vector<Act>& acts, Roots& roots) {
  for (std::size_t t = 0; t < acts.size(); ++t) {
    if (roots[t] < 0) continue;
    if (++roots[t] < choices(acts, t)) return true;
    roots[t] = 0;
  }
  return false;
}

// Nothing where there is too much to execute.
std::optional<Run> run_of(const Execution& e, const std::vector<Act>& acts) {
  const auto n = static_cast<std::int64_t>(e.from.size());
  if (n > most_work / n || e.atoms > most_work / n) return std::nullopt;
  std::vector<Slice> begins, ends;
  for (std::int64_t d = 0; d < n; ++d)
    begins.push_back(e.from[d].slice), ends.push_back(block(e.c.mesh, e.to, e.c.rule, d));
  std::optional<Cells> cells = cells_of(begins, ends, most_work);
  if (!cells) return std::nullopt;
  Run run{e, acts, std::move(*cells), ways(e.c.mesh, acts), origins(e.c.mesh, acts), groups_of_fibres(e)};
  run.table.idempotent = e.idempotent || e.keeps;
  run.whole = Atoms((e.atoms + 63) / 64);
  for (std::int64_t i = 0; i < e.atoms; ++i) run.whole = united(run.whole, atom(i, e.atoms));
  run.table.number(run.whole);
  return run;
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

bool adds_values(const Execution& e, std::span<const Collective> trace) {
  const auto anything = [](const Collective& one) { return one.kind == "all-to-all" || one.kind == "send"; };
  if (std::ranges::any_of(trace, anything)) return true;  // who has what of it then is not known
  const std::vector<Act> before = acts_of(e.c.mesh, trace.first(trace.size() - 1));
  std::optional<Run> run = run_of(e, before);
  bool nobody = true;  // has anything, where a scatter left with one what all are taken to have
  if (!run) return true;
  for (const Holding& of_cell : most_held(*run, first_choices(before)))
    for (const auto& group : groups_of(e.c.mesh, trace.back())) {
      const Family* one = nullptr;
      for (std::int64_t d : group) {
        if (of_cell[d].empty()) continue;
        if (one && *one != of_cell[d]) return true;
        one = &of_cell[d], nobody = false;
      }
    }
  return nobody;
}

std::optional<std::string> not_made(const Execution& e, std::span<const Collective> trace) {
  std::optional<Run> run = run_of(e, acts_of(e.c.mesh, trace));
  if (!run) return std::nullopt;
  if (std::string why = e.keeps ? "" : sums_too_few(*run); !why.empty()) return why;
  Roots roots = first_choices(run->acts);
  std::string why;
  do {
    std::string here = unmade(*run, roots);
    if (here.empty()) return "";
    if (why.empty()) why = std::move(here);
  } while (next(run->acts, roots));
  if (run->table.gave_up) return std::nullopt;
  return why;
}

}  // namespace plumb
