#include "harness/trace/executed.h"

#include <fmt/format.h>

#include <algorithm>
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
  LaidOut laid;
  std::vector<std::vector<std::vector<std::int64_t>>> fibres;  // groups_of_fibres()
  SetTable table{};
  Atoms whole{};

  Family beginning(std::int64_t device, std::size_t cell) {
    const Beginning& b = laid.e.from[device];
    if (!contains(b.slice, laid.cells.boxes[cell])) return {};
    return {table.number(b.atoms)};
  }
  Holding beginning(std::size_t cell) {
    Holding held;
    for (std::int64_t d = 0; d < std::ssize(laid.e.from); ++d) held.push_back(beginning(d, cell));
    return held;
  }
  bool relevant(std::size_t t, std::int64_t device, std::size_t cell) const {
    return std::ranges::any_of(laid.cells.needers[cell],
                               [&](std::int64_t d) { return contains(laid.to[t][device], d); });
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
      const bool no_part = !run.laid.e.keeps && !act.scatters() && along_what_stays(run.laid.e, group);
      const int sum = no_part ? -1 : sum_over(run, group, held);
      for (std::int64_t i = 0; i < std::ssize(group); ++i)
        if (const Family made = sum >= 0 && (owner < 0 || owner == i) ? Family{sum} : Family{};
            run.laid.e.keeps)
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
    if (!act.keeps[i] && !run.laid.e.keeps) held[act.one->pairs[i].second].clear();
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
  const auto needs = [&](std::int64_t d) { return std::ranges::count(run.laid.cells.needers[cell], d) > 0; };
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
  for (std::size_t cell = 0; cell < run.laid.cells.boxes.size(); ++cell) held.push_back(run.beginning(cell));
  for (std::size_t t = 0; t < run.laid.acts.size(); ++t) {
    Act& act = run.laid.acts[t];
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
  return run.laid.acts[t].scatters() || (run.laid.acts[t].exchanges() && sums_from(run.laid.acts, t));
}

// Whether some owners of these from act t on make the cell.
bool some_owners_make(Run& run, std::size_t cell, std::size_t t, const Roots& roots, Holding held) {
  for (; t < run.laid.acts.size() && !leaves_to_one(run, t); ++t)
    advance(run, run.laid.acts[t], roots[t], held);
  if (t == run.laid.acts.size()) return is_made(run, cell, held);
  std::set<std::int64_t> owners;
  for (const auto& group : run.laid.acts[t].groups)
    for (std::int64_t i = 0; i < std::ssize(group); ++i)
      if (run.relevant(t + 1, group[i], cell)) owners.insert(i);
  if (owners.empty()) owners.insert(0);  // nobody needs it: whoever has it
  if (run.laid.acts[t].exchanges()) owners.insert(-1);
  return std::ranges::any_of(owners, [&](std::int64_t owner) {
    Holding next = held;
    advance(run, run.laid.acts[t], owner, next);
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
  for (std::size_t t = 0; t < run.laid.acts.size(); ++t) by_owners |= leaves_to_one(run, t);
  for (std::size_t cell = 0; cell < held.size(); ++cell) {
    const auto& needers = run.laid.cells.needers[cell];
    if (needers.empty()) continue;
    if (by_owners ? some_owners_make(run, cell, 0, roots, run.beginning(cell))
                  : is_made(run, cell, held[cell]))
      continue;
    const auto lacks = std::ranges::find_if(
        needers, [&](std::int64_t d) { return !run.table.makes(held[cell][d], run.whole); });
    const std::int64_t device = lacks == needers.end() ? needers.front() : *lacks;
    return fmt::format("executed, it does not leave {} of the result on device {} ({})",
                       text_of(run.laid.cells.boxes[cell]), device,
                       coordinates_text(run.laid.e.c.mesh, device));
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
  Run run{
      {e, acts, std::move(*cells), ways(e.c.mesh, acts), origins(e.c.mesh, acts)},
      groups_of_fibres(e)
  };
  run.table.idempotent = e.idempotent || e.keeps;
  run.whole = Atoms((e.atoms + 63) / 64);
  for (std::int64_t i = 0; i < e.atoms; ++i) run.whole = united(run.whole, atom(i, e.atoms));
  run.table.number(run.whole);
  return run;
}

}  // namespace

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

bool does_nothing(const Execution& e, std::span<const Collective> trace, std::size_t i) {
  const std::vector<Act> acts = acts_of(e.c.mesh, trace);
  const auto sum = std::ranges::find(acts, &trace[i], &Act::one);
  if (sum == acts.end()) return true;
  std::vector<Act> others = acts;
  others.erase(others.begin() + (sum - acts.begin()));
  std::optional<Run> all = run_of(e, acts), less = run_of(e, others);
  if (!all || !less || !sums_too_few(less->laid).empty()) return false;
  Roots roots = first_choices(acts);
  for (std::size_t t = 0; t < acts.size(); ++t)
    if (choices(acts, t) > 1 && roots[t] < 0) return false;  // too many readings to try
  do {
    Roots of_others = roots;
    of_others.erase(of_others.begin() + (sum - acts.begin()));
    if (!unmade(*less, of_others).empty() && unmade(*all, roots).empty()) return false;
  } while (next(acts, roots));
  return !all->table.gave_up && !less->table.gave_up;
}

std::optional<std::string> not_made(const Execution& e, std::span<const Collective> trace) {
  std::optional<Run> run = run_of(e, acts_of(e.c.mesh, trace));
  if (!run) return std::nullopt;
  if (std::string why = e.keeps ? "" : sums_too_few(run->laid); !why.empty()) return why;
  Roots roots = first_choices(run->laid.acts);
  std::string why;
  do {
    std::string here = unmade(*run, roots);
    if (here.empty()) return "";
    if (why.empty()) why = std::move(here);
  } while (next(run->laid.acts, roots));
  if (run->table.gave_up) return std::nullopt;
  return why;
}

}  // namespace plumb
