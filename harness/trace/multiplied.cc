#include "harness/trace/multiplied.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/trace/acts.h"
#include "harness/trace/cells.h"
#include "harness/trace/steps.h"
#include "reference/words/letters.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

constexpr std::size_t most_dealt = 8;  // 2^8 ways to deal them out

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

// The terms, cut wherever a device's begin or end, of each part of either operand: an atom each.
struct Terms {
  std::vector<std::pair<char, std::vector<std::int64_t>>> cuts;
  std::int64_t pairs = 1, count = 1;  // of parts

  Terms(const Einsum& e, const std::vector<Ranges>& of, std::int64_t pairs_of_parts)
      : pairs(pairs_of_parts), count(pairs_of_parts) {
    for (char letter : e.lhs) {
      if (e.out.find(letter) != std::string::npos) continue;
      std::set<std::int64_t> edges;
      for (const Ranges& ranges : of)
        if (const Range& r = ranges.at(letter); r.size() > 0) edges.insert({r.begin, r.end});
      cuts.emplace_back(letter, std::vector(edges.begin(), edges.end()));
      count *= std::max<std::int64_t>(1, std::ssize(edges) - 1);
    }
  }
  Atoms of(const Ranges& ranges, std::int64_t pair) const {
    std::vector<std::int64_t> in{pair};
    std::int64_t at = pairs;
    for (const auto& [letter, edges] : cuts) {
      const Range& range = ranges.at(letter);
      const std::int64_t n = std::max<std::int64_t>(1, std::ssize(edges) - 1);
      std::vector<std::int64_t> next;
      for (std::int64_t before : in)
        for (std::int64_t i = 0; i + 1 < std::ssize(edges); ++i)
          if (range.begin <= edges[i] && edges[i + 1] <= range.end) next.push_back(before + i * at);
      in = std::move(next), at *= n;
    }
    Atoms all((count + 63) / 64);
    for (std::int64_t i : in) all = united(all, atom(i, count));
    return all;
  }
};

// Which of the steps, but for the sends, are dealt to the first operand: for a send takes anything.
using Mask = std::vector<bool>;

Mask others(Mask mask) {
  mask.flip();
  return mask;
}

// Every mask of n steps; or of more than most_dealt those of steps that follow each other, and of the others.
std::vector<Mask> masks(std::size_t n) {
  std::vector<Mask> all;
  if (n <= most_dealt) {
    for (std::uint64_t bits = 0; bits >> n == 0; ++bits) {
      Mask& mask = all.emplace_back(n);
      for (std::size_t i = 0; i < n; ++i) mask[i] = bits >> i & 1;
    }
    return all;
  }
  for (std::size_t begin = 0; begin < n; ++begin)
    for (std::size_t end = begin; end <= n; ++end) {
      Mask mask(n);
      std::fill(mask.begin() + static_cast<std::ptrdiff_t>(begin),
                mask.begin() + static_cast<std::ptrdiff_t>(end), true);
      all.push_back(others(mask)), all.push_back(std::move(mask));
    }
  return all;
}

// The steps of a mask, and the sends or not.
Trace dealt(Steps steps, const Mask& mask, bool sends) {
  Trace some;
  std::size_t bit = 0;
  for (const Collective& step : steps) {
    const bool send = step.kind == "send";
    if (send ? sends : mask[bit]) some.push_back(step);
    bit += !send;
  }
  return some;
}

}  // namespace

Execution multiplied(const Case& c, const Einsum& e, const Layouts& at) {
  std::vector<Ranges> all;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) all.push_back(ranges_of(c, e, at, d));
  const std::int64_t of_rhs = parts(c.mesh, at.operands[1]);
  const Terms terms(e, all, parts(c.mesh, at.operands[0]) * of_rhs);
  Execution made{c, {}, terms.count, result(c), ends(product_spec(c, e, at).value_or(Spec{}), result(c))};
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    Slice slice;
    for (char letter : e.out) slice.push_back(all[d].at(letter));
    const std::int64_t pair = part(c.mesh, at.operands[0], d) * of_rhs + part(c.mesh, at.operands[1], d);
    made.from.push_back({std::move(slice), terms.of(all[d], pair)});
  }
  return made;
}

std::optional<Spec> product_spec(const Case& c, const Einsum& e, const Layouts& at) {
  std::map<char, Dim> dims;
  for (std::size_t d = 0; d < e.lhs.size(); ++d) dims[e.lhs[d]] = at.operands[0].dims[d];
  for (std::size_t d = 0; d < e.rhs.size(); ++d) dims.try_emplace(e.rhs[d], at.operands[1].dims[d]);
  Spec made{.dtype = result(c).dtype};
  std::vector<AxisId> named;
  for (const auto& [letter, dim] : dims) {
    const bool stays = e.out.find(letter) != std::string::npos;
    for (AxisId axis : dim.axes) {
      if (contains(named, axis)) return std::nullopt;
      named.push_back(axis);
      if (!stays) made.unfinished.push_back(axis);
    }
  }
  for (const Spec& operand : at.operands)
    for (AxisId axis : operand.unfinished) {
      if (contains(named, axis)) return std::nullopt;
      named.push_back(axis), made.unfinished.push_back(axis);
      if (contains(operand.averaged, axis)) made.averaged.push_back(axis);
    }
  for (char letter : e.out) made.dims.push_back(dims[letter]);
  return made;
}

std::optional<std::string> operands_not_met(const Case& c, const Layouts& at, Steps steps) {
  const auto moves = static_cast<std::size_t>(
      std::ranges::count_if(steps, [](const auto& step) { return step.kind != "send"; }));
  Transit of[] = {transit(c, c.op.operands[0], at.operands[0]), transit(c, c.op.operands[1], at.operands[1])};
  std::map<Mask, std::optional<std::string>> known[2];
  const auto why = [&](int i, const Mask& mask) {  // an operand may have had no part in the sends
    const auto [found, added] = known[i].try_emplace(mask);
    if (added) found->second = lacks(of[i], dealt(steps, mask, false));
    if (added && found->second != "" && moves < steps.size())
      found->second = lacks(of[i], dealt(steps, mask, true));
    return found->second;
  };
  for (const Mask& mask : masks(moves))
    if (why(0, mask) == "" && why(1, others(mask)) == "") return "";
  const std::string whose[] = {"of operand 0, ", "of operand 1, "};
  for (int i : {0, 1}) {
    if (moves > most_dealt) {  // what forgets nothing, and adds what it likes, has the more for more steps
      of[i].e.keeps = true;
      if (const auto never = not_made(of[i].e, steps); never != "") return never ? whose[i] + *never : never;
      continue;
    }
    const auto all = why(i, Mask(moves, true));
    if (!all || !why(i, Mask(moves))) return std::nullopt;  // nobody can say
    const auto some = [](const auto& one) { return one.second == ""; };
    if (std::ranges::none_of(known[i], some)) return whose[i] + *all;
  }
  if (moves > most_dealt) return std::nullopt;
  return "its collectives cannot be dealt out to both operands";
}

std::optional<std::string> product_not_made(const Case& c, const Layouts& at, Steps steps) {
  const auto& e = std::get<Einsum>(c.op.kind);
  Transit made{multiplied(c, e, at), {}};
  if (const auto lies = product_spec(c, e, at)) made.reshard = transit(c, *lies, result(c)).reshard;
  if (made.reshard)
    for (std::int64_t d = 0; d < devices(c.mesh); ++d)
      if (!disjoint(made.e.from[d].atoms, made.e.from[d].atoms))
        made.parts.push_back(part(c.mesh, made.reshard->op.operands[0], d));
  if (std::ssize(made.parts) == devices(c.mesh)) made.parts.clear();  // all of them
  return lacks(made, steps);
}

namespace {

constexpr std::int64_t most_met = std::int64_t{1} << 22;  // terms' boxes, times the devices

// What is held of an array, of all letters: of those that it lacks, all.
Slice of_letters(const std::string& letters, const Slice& whole, const std::string& word, const Slice& held) {
  Slice all = whole;
  for (std::size_t d = 0; d < word.size(); ++d) all[letters.find(word[d])] = held[d];
  return all;
}

// The terms of a product as boxes of all letters: whole, of each operand what devices hold, and due.
struct Factors {
  std::string letters;
  Slice whole;
  std::vector<Slice> held[2], due;
  std::vector<std::int64_t> part[2];  // which of an operand in parts
  std::vector<Slice> groups;          // of a grouped product the rows of each

  bool adds(const Slice& box) const {
    return groups.empty() ||
           std::ranges::any_of(groups, [&](const Slice& group) { return contains(group, box); });
  }
  Bits holders(int operand, std::int64_t part_of, const Slice& box) const {
    Bits all((due.size() + 63) / 64);
    for (std::size_t d = 0; d < due.size(); ++d)
      if (part[operand][d] == part_of && contains(held[operand][d], box))
        all[d / 64] |= std::uint64_t{1} << d % 64;
    return all;
  }
};

Factors factors(const Case& c) {
  const Letters words = letters(c.op);
  Factors f;
  for (int i : {0, 1})
    for (std::size_t d = 0; d < words.operand[i].size(); ++d)
      if (f.letters.find(words.operand[i][d]) == std::string::npos)
        f.letters += words.operand[i][d], f.whole.push_back({0, c.op.operands[i].dims[d].size});
  for (std::size_t d = 0; d < words.out.size(); ++d)  // a group has no letter in two operands of rows
    if (f.letters.find(words.out[d]) == std::string::npos)
      f.letters += words.out[d], f.whole.push_back({0, result(c).dims[d].size});
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    for (int i : {0, 1}) {
      f.held[i].push_back(
          of_letters(f.letters, f.whole, words.operand[i], block(c.mesh, c.op.operands[i], c.rule, d)));
      f.part[i].push_back(part(c.mesh, c.op.operands[i], d));
    }
    f.due.push_back(of_letters(f.letters, f.whole, words.out, block(c.mesh, result(c), c.rule, d)));
  }
  if (const auto* grouped = std::get_if<Grouped>(&c.op.kind)) {
    const auto runs = group_rows(*grouped, c.op.operands[0].dims[0].size);
    for (std::int64_t g = 0; g < std::ssize(runs); ++g)
      for (const Range& rows : runs[g])
        f.groups.push_back(of_letters(f.letters, f.whole, "gt",
                                      {
                                          {g, g + 1},
                                          rows
        }));
  }
  return f;
}

// A term of which no device of a fibre can have both factors.
std::string met_nowhere(const Factors& f, const Slice& box, const std::vector<std::int64_t>& fibre) {
  std::string at;
  for (std::size_t i = 0; i < box.size(); ++i)
    at += fmt::format("{}{} = {}", i ? ", " : "", f.letters[i], box[i].begin);
  return fmt::format("no device of the fibre of device {} can have both factors of the term {}",
                     fibre.front(), at);
}

}  // namespace

std::string never_met(const Case& c, std::span<const Collective> trace) {
  const auto extremes = [](const Spec& spec) { return spec.reduction != Reduce::sum; };
  if (is_reshard(c) || is_quantize(c) || is_resolve(c) || parts(c.mesh, result(c)) == 1 ||
      std::ranges::any_of(c.op.operands, extremes))
    return "";
  const std::int64_t n[] = {parts(c.mesh, c.op.operands[0]), parts(c.mesh, c.op.operands[1])};
  const Factors f = factors(c);
  std::vector<Slice> edges = f.groups;
  for (int i : {0, 1}) edges.insert(edges.end(), f.held[i].begin(), f.held[i].end());
  const auto cells = cells_of(edges, f.due, most_met / (n[0] * n[1]));
  if (!cells || devices(c.mesh) > most_met / devices(c.mesh)) return "";
  const std::vector<Bits> of = origins(c.mesh, acts_of(c.mesh, trace)).back();
  const auto all = fibres(c.mesh, result(c).unfinished);
  for (const Slice& box : cells->boxes) {
    if (!f.adds(box)) continue;
    for (std::int64_t pair = 0; pair < n[0] * n[1]; ++pair) {
      const Bits left = f.holders(0, pair / n[1], box), right = f.holders(1, pair % n[1], box);
      const auto has_both = [&](std::int64_t d) { return !disjoint(of[d], left) && !disjoint(of[d], right); };
      for (const std::vector<std::int64_t>& fibre : all)
        if (contains(f.due[fibre.front()], box) && std::ranges::none_of(fibre, has_both))
          return met_nowhere(f, box, fibre);
    }
  }
  return "";
}

}  // namespace plumb
