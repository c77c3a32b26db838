#include "harness/trace/multiplied.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/trace/at_once.h"
#include "harness/trace/steps.h"

namespace plumb {
namespace {

constexpr std::int64_t most_dealt = 6;  // 3^6 ways to deal them out

using Steps = std::span<const Collective>;
using Ranges = std::map<char, Range>;  // of every letter

Ranges ranges_of(const Case& c, const Einsum& e, const Layouts& at, std::int64_t device) {
  Ranges all;
  const std::string* letters[] = {&e.lhs, &e.rhs};
  for (int i : {0, 1}) {
    const Slice slice = block(c.mesh, at.operands[i], c.rule, device);
    for (std::size_t d = 0; d < slice.size(); ++d) all[(*letters[i])[d]] = slice[d];
  }
  return all;
}

// The terms, cut wherever a device's begin or end: an atom each.
struct Terms {
  std::vector<std::pair<char, std::vector<std::int64_t>>> cuts;
  std::int64_t count = 1;

  Terms(const Einsum& e, const std::vector<Ranges>& of) {
    for (char letter : e.lhs) {
      if (e.out.find(letter) != std::string::npos) continue;
      std::set<std::int64_t> edges;
      for (const Ranges& ranges : of)
        if (const Range& r = ranges.at(letter); r.size() > 0) edges.insert({r.begin, r.end});
      cuts.emplace_back(letter, std::vector(edges.begin(), edges.end()));
      count *= std::max<std::int64_t>(1, std::ssize(edges) - 1);
    }
  }
  Atoms of(const Ranges& ranges) const {
    std::vector<std::int64_t> in{0};
    for (const auto& [letter, edges] : cuts) {
      const Range& range = ranges.at(letter);
      const std::int64_t n = std::max<std::int64_t>(1, std::ssize(edges) - 1);
      std::vector<std::int64_t> next;
      for (std::int64_t before : in)
        for (std::int64_t i = 0; i + 1 < std::ssize(edges); ++i)
          if (range.begin <= edges[i] && edges[i + 1] <= range.end) next.push_back(before * n + i);
      in = std::move(next);
    }
    Atoms all((count + 63) / 64);
    for (std::int64_t i : in) all = united(all, atom(i, count));
    return all;
  }
};

// What is dealt to an array: of the steps before they are multiplied those of the mask, the sends among them
// or not, for a send takes anything; and those after, where they are its own.
struct Deal {
  std::uint64_t mask = 0;
  bool sends = true, rest = false;
};
Trace dealt(Steps steps, std::size_t before, const Deal& deal) {
  Trace some;
  std::size_t bit = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool send = i < before && steps[i].kind == "send";
    if (i >= before ? deal.rest : send ? deal.sends : deal.mask >> bit & 1) some.push_back(steps[i]);
    bit += i < before && !send;
  }
  return some;
}

// An operand's way to where it is multiplied.
Case way(const Case& c, const Spec& from, const Spec& to) {
  Case reshard = c;
  reshard.op = {Reshard{}, {from}, {to}};
  return reshard;
}

}  // namespace

Execution multiplied(const Case& c, const Einsum& e, const Layouts& at) {
  std::vector<Ranges> all;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) all.push_back(ranges_of(c, e, at, d));
  const Terms terms(e, all);
  Execution made{c, {}, terms.count, result(c)};
  for (const Ranges& ranges : all) {
    Slice slice;
    for (char letter : e.out) slice.push_back(ranges.at(letter));
    made.from.push_back({std::move(slice), terms.of(ranges)});
  }
  return made;
}

std::optional<std::string> product_not_made(const Case& c, const Layouts& at, Steps all) {
  const std::size_t before = at.before;
  const auto moves = std::ranges::count_if(all.first(before), [](const auto& s) { return s.kind != "send"; });
  const std::uint64_t every = (std::uint64_t{1} << std::min<std::int64_t>(moves, 63)) - 1;
  const Execution of[] = {execution(c, c.op.operands[0], at.operands[0]),
                          execution(c, c.op.operands[1], at.operands[1]),
                          multiplied(c, std::get<Einsum>(c.op.kind), at)};
  const Case ways[] = {way(c, c.op.operands[0], at.operands[0]), way(c, c.op.operands[1], at.operands[1])};
  const char* const whose[] = {"of operand 0, ", "of operand 1, ", ""};
  std::map<std::uint64_t, std::optional<std::string>> known[3];
  const auto why = [&](int i, std::uint64_t mask) {
    const auto [found, added] = known[i].try_emplace(mask);
    if (added && i == 2) found->second = not_made(of[i], dealt(all, before, {mask, false, true}));
    if (added && found->second != "") {
      const Trace some = dealt(all, before, {mask, true, i == 2});
      found->second = not_made(of[i], some);
      if (found->second == "" && i < 2) found->second = brought_too_little(ways[i], some);
    }
    return found->second;
  };
  if (moves > most_dealt) {
    for (int i : {0, 1, 2})
      if (const auto lacks = why(i, every); lacks != "") return lacks ? whose[i] + *lacks : lacks;
    return "";
  }
  for (std::uint64_t lhs = 0; lhs <= every; ++lhs)
    for (std::uint64_t rhs = 0; rhs <= every && why(0, lhs) == ""; ++rhs)
      if ((lhs & rhs) == 0 && why(1, rhs) == "" && why(2, every & ~lhs & ~rhs) == "") return "";
  for (int i : {0, 1, 2}) {
    if (!why(i, 0)) return std::nullopt;
    const auto some = [&](const auto& lacks) { return lacks.second == ""; };
    if (std::ranges::none_of(known[i], some) && why(i, every) != "") return whose[i] + *why(i, every);
  }
  return "its collectives cannot be dealt out to both operands and the result";
}

}  // namespace plumb
