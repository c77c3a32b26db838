// For tests: whether a plan of a product can have given the value, as far as brought.h finds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/testing/brought.h"
#include "reference/words/letters.h"
#include "reference/words/text.h"

namespace plumb::oracle {

inline std::vector<Group> narrow(const std::vector<std::vector<std::int64_t>>& groups) {
  std::vector<Group> all;
  for (const auto& group : groups) all.emplace_back(group.begin(), group.end());
  return all;
}

// The fibres along axes, by comparing coordinates.
inline std::vector<Group> along(const Mesh& mesh, const std::vector<std::string>& names) {
  std::map<std::vector<std::int64_t>, Group> all;
  for (std::int64_t d = 0; d < devices(mesh); ++d) {
    std::vector<std::int64_t> others = coordinates(mesh, d);
    for (std::size_t a = 0; a < mesh.axes.size(); ++a)
      if (std::ranges::count(names, mesh.axes[a].name) > 0) others[a] = -1;
    all[others].push_back(static_cast<int>(d));
  }
  std::vector<Group> groups;
  for (auto& [_, group] : all) groups.push_back(std::move(group));
  return groups;
}

// Nothing of a collective that is none of those tried.
inline std::optional<Rooms> rooms_of(const Mesh& mesh, const Trace& trace, std::int64_t bytes) {
  static const std::map<std::string, Kind> kinds{
      {"all-reduce",         Kind::reduce  },
      {"reduce-scatter",     Kind::scatter },
      {"all-gather",         Kind::gather  },
      {"all-to-all",         Kind::exchange},
      {"collective-permute", Kind::permute }
  };
  Rooms rooms;
  for (const Collective& one : trace) {
    const auto kind = kinds.find(one.kind);
    if (kind == kinds.end() || one.times != 1 || one.moved) return std::nullopt;
    Step& step = rooms.steps.emplace_back(Step{kind->second, {}, {}, {}, {}});
    if (step.kind == Kind::permute)
      for (const auto& [from, to] : one.pairs)
        step.groups.push_back({static_cast<int>(from), static_cast<int>(to)});
    else
      step.groups = one.groups.empty() ? along(mesh, one.axes) : narrow(one.groups);
    const std::int64_t in = one.in / bytes, out = one.out / bytes;
    for (const Group& group : step.groups) {
      const bool reduces = step.kind == Kind::reduce, permutes = step.kind == Kind::permute;
      step.room_of_group.push_back(rooms.add(reduces ? in : permutes ? std::min(in, out) : out));
      auto& of = step.room_of_member.emplace_back();
      auto& to = step.room_to_member.emplace_back();
      for (std::size_t i = 0; i < group.size(); ++i)
        of.push_back(rooms.add(in)), to.push_back(rooms.add(out));
    }
  }
  return rooms;
}

// An array on its way: what each device begins with of each element, and where it is to lie.
struct Way {
  Mesh mesh;
  std::vector<Knowing> begin;  // by element
  Spec to;
  Atoms whole = 0;
};

inline bool has(const Slice& slice, std::int64_t element, const std::vector<std::int64_t>& shape) {
  for (std::size_t d = shape.size(); d-- > 0; element /= shape[d])
    if (const std::int64_t at = element % shape[d]; at < slice[d].begin || at >= slice[d].end) return false;
  return true;
}

// A plan, how it is read, and how much may still be tried.
struct Asked {
  const Case& c;
  const Trace& trace;
  bool to_the_letter;
  std::int64_t& left;

  // Of a value: what is no sum is sent as it is.
  std::int64_t bytes(const Spec& spec) const {
    const std::int64_t own = format(spec.dtype).bytes;
    return to_the_letter ? own : std::min<std::int64_t>(format(c.wire).bytes, own);
  }
};

inline Answer can_go(const Asked& asked, const Way& way, const Trace& trace, std::int64_t bytes) {
  auto rooms = rooms_of(way.mesh, trace, bytes);
  if (!rooms) return Answer::unknown;
  rooms->to_the_letter = asked.to_the_letter;
  std::vector<std::string> axes;
  for (AxisId axis : way.to.unfinished) axes.push_back(way.mesh.axes[axis].name);
  const std::vector<Group> fibres = along(way.mesh, axes);
  std::map<Kin, int> counted;
  for (std::size_t e = 0; e < way.begin.size(); ++e) {
    Kin kin{way.begin[e], {}};
    for (const Group& fibre : fibres)
      if (has(block(way.mesh, way.to, Rule::flat, fibre[0]), static_cast<std::int64_t>(e), shape(way.to)))
        kin.due.push_back(fibre);
    if (!kin.due.empty()) ++counted[kin];
  }
  std::vector<Kin> kins;
  for (const auto& [kin, count] : counted) kins.push_back(kin), kins.back().count = count;
  return can_bring(*rooms, kins, way.whole, asked.left);
}

inline std::optional<Way> way_of(const Mesh& mesh, const Spec& from, const Spec& to) {
  const std::int64_t n = parts(mesh, from);
  if (n > kMostAtoms) return std::nullopt;
  Way way{mesh, {}, to, static_cast<Atoms>((std::uint64_t{1} << n) - 1)};
  way.begin.assign(elements(from), Knowing(devices(mesh)));
  for (std::int64_t d = 0; d < devices(mesh); ++d) {
    const Slice slice = block(mesh, from, Rule::flat, d);
    for (std::int64_t e = 0; e < elements(from); ++e)
      if (has(slice, e, shape(from))) way.begin[e][d].insert(Atoms{1} << part(mesh, from, d));
  }
  return way;
}

// What devices have multiplied: of each element of the result the terms of which they have both factors.
inline std::optional<Way> multiplied(const Case& c, const Spec (&at)[2], const Spec& to) {
  const Letters words = letters(c.op);
  std::string inner = contracted(c.op);
  std::map<char, std::int64_t> sizes;
  for (int i : {0, 1})
    for (std::size_t d = 0; d < words.operand[i].size(); ++d) sizes[words.operand[i][d]] = at[i].dims[d].size;
  std::int64_t terms = 1;
  for (char l : inner) terms *= sizes[l];
  const std::int64_t n[] = {parts(c.mesh, at[0]), parts(c.mesh, at[1])};
  if (terms * n[0] * n[1] > kMostAtoms || terms == 0) return std::nullopt;
  Way way{c.mesh, {}, to, static_cast<Atoms>((std::uint64_t{1} << (terms * n[0] * n[1])) - 1)};
  way.begin.assign(elements(to), Knowing(devices(c.mesh)));
  const std::string all = words.out + inner;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d)
    for (std::int64_t e = 0; e < elements(to); ++e) {
      Atoms sum = 0;
      for (std::int64_t k = 0; k < terms; ++k) {
        std::map<char, std::int64_t> index;
        std::int64_t left = e * terms + k;
        for (std::size_t l = all.size(); l-- > 0; left /= sizes[all[l]]) index[all[l]] = left % sizes[all[l]];
        bool both = true;
        for (int i : {0, 1}) {
          const Slice slice = block(c.mesh, at[i], Rule::flat, d);
          for (std::size_t x = 0; x < slice.size(); ++x) {
            const std::int64_t here = index[words.operand[i][x]];
            both = both && slice[x].begin <= here && here < slice[x].end;
          }
        }
        const std::int64_t pair = part(c.mesh, at[0], d) * n[1] + part(c.mesh, at[1], d);
        if (both) sum |= Atoms{1} << (k * n[0] * n[1] + pair);
      }
      if (sum) way.begin[e][d].insert(sum);
    }
  return way;
}

inline Answer worse(Answer a, Answer b) {
  if (a == Answer::cannot || b == Answer::cannot) return Answer::cannot;
  return a == Answer::can ? b : a;
}

inline Answer better(Answer a, Answer b) {
  if (a == Answer::can || b == Answer::can) return Answer::can;
  return a == Answer::cannot ? b : a;
}

inline Trace some_of(const Trace& trace, std::size_t begin, std::size_t end) {
  return {trace.begin() + static_cast<std::ptrdiff_t>(begin),
          trace.begin() + static_cast<std::ptrdiff_t>(end)};
}

// From a spec of the chain on, by the steps from `at` on.
inline Answer goes_on(const Asked& asked, const Spec& from, std::size_t next, std::size_t at) {
  const std::vector<Spec>& chain = asked.c.op.chain;
  if (next == chain.size()) return at == asked.trace.size() ? Answer::can : Answer::cannot;
  const auto way = way_of(asked.c.mesh, from, chain[next]);
  if (!way) return Answer::unknown;
  Answer best = Answer::cannot;
  for (std::size_t n = at; n <= asked.trace.size() && best != Answer::can; ++n) {
    const Answer there = can_go(asked, *way, some_of(asked.trace, at, n), asked.bytes(from));
    if (there != Answer::cannot) best = better(best, worse(there, goes_on(asked, chain[next], next + 1, n)));
  }
  return best;
}

// What was multiplied, by the steps from `at` on: to the letter by way of where it is said to lie.
inline Answer gives_result(const Asked& asked, const Spec (&met)[2], const Spec& lies, std::size_t at) {
  const auto made = multiplied(asked.c, met, asked.to_the_letter ? lies : result(asked.c));
  if (!made) return Answer::unknown;
  const std::int64_t bytes = asked.bytes(result(asked.c));
  if (!asked.to_the_letter) return can_go(asked, *made, some_of(asked.trace, at, asked.trace.size()), bytes);
  Answer best = Answer::cannot;
  for (std::size_t n = at; n <= asked.trace.size() && best != Answer::can; ++n) {
    const Answer there = can_go(asked, *made, some_of(asked.trace, at, n), bytes);
    if (there != Answer::cannot) best = better(best, worse(there, goes_on(asked, lies, 0, n)));
  }
  return best;
}

// Whether the operands can meet so by the first n steps, each of one of them.
inline Answer meet(const Asked& asked, const std::optional<Way> (&ways)[2], std::size_t n) {
  Answer best = Answer::cannot;
  for (std::uint32_t bits = 0; bits >> n == 0 && best != Answer::can; ++bits) {
    Trace dealt[2];
    for (std::size_t s = 0; s < n; ++s) dealt[bits >> s & 1].push_back(asked.trace[s]);
    Answer both = Answer::can;
    for (int i : {0, 1})
      if (both != Answer::cannot)
        both = worse(both, can_go(asked, *ways[i], dealt[i], asked.bytes(asked.c.op.operands[i])));
    best = better(best, both);
  }
  return best;
}

// Whether no collective brings more than it is of.
inline bool are_of_a_size(const Mesh& mesh, const Trace& trace) {
  return std::ranges::all_of(trace, [&](const Collective& one) {
    const auto n = one.pairs.empty() ? std::ssize(along(mesh, one.axes).front()) : 2;
    if (one.kind == "all-gather") return one.out <= n * one.in;
    return one.kind == "reduce-scatter" ? n * one.out <= one.in + n - 1 : one.out == one.in;
  });
}

// Of a product that adds up parts: there are steps that bring the operands to where they meet, each of one of
// them, and the others bring what was multiplied to the result.
inline Answer could_give(const Case& c, const ProductPlan& plan, const Trace& trace, bool to_the_letter) {
  std::int64_t left = kMostCompared;
  const auto extreme = [](const Spec& spec) {
    return spec.reduction != Reduce::sum || !spec.averaged.empty();
  };
  if (std::ranges::any_of(c.op.operands, extreme) || std::ranges::any_of(c.op.chain, extreme) ||
      trace.size() > 8)
    return Answer::unknown;
  const Spec met[] = {parse_spec(plan.operands[0], c.mesh), parse_spec(plan.operands[1], c.mesh)};
  const std::optional<Way> ways[] = {way_of(c.mesh, c.op.operands[0], met[0]),
                                     way_of(c.mesh, c.op.operands[1], met[1])};
  if (!ways[0] || !ways[1]) return Answer::unknown;
  if (to_the_letter && !are_of_a_size(c.mesh, trace)) return Answer::cannot;
  const Asked asked{c, trace, to_the_letter, left};
  const Spec lies = parse_spec(plan.result, c.mesh);
  Answer best = Answer::cannot;
  for (std::size_t n = 0; n <= trace.size() && best != Answer::can; ++n) {
    const Answer after = gives_result(asked, met, lies, n);
    if (after != Answer::cannot) best = better(best, worse(after, meet(asked, ways, n)));
  }
  return best;
}

// To the letter, and by each of its steps: not without any of them, nor by a value less.
inline Answer gives_by_each(const Case& c, const ProductPlan& plan, const Trace& trace) {
  Answer all = could_give(c, plan, trace, true);
  std::int64_t value = format(result(c).dtype).bytes;
  for (const Spec& spec : c.op.operands) value = std::min<std::int64_t>(value, format(spec.dtype).bytes);
  for (std::size_t i = 0; i < trace.size() && all == Answer::can; ++i) {
    Trace without = trace, less = trace;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    less[i].in = std::max<std::int64_t>(0, trace[i].in - value);
    less[i].out = trace[i].out * less[i].in / std::max<std::int64_t>(1, trace[i].in);
    for (const Trace& other : {without, less}) {
      const Answer still = could_give(c, plan, other, true);
      if (still == Answer::can) return Answer::cannot;
      if (still == Answer::unknown) all = still;
    }
  }
  return all;
}

}  // namespace plumb::oracle
