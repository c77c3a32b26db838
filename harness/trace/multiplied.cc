#include "harness/trace/multiplied.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/trace/acts.h"
#include "harness/trace/at_once.h"
#include "harness/trace/cells.h"
#include "harness/trace/steps.h"
#include "reference/words/letters.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

constexpr std::size_t most_dealt = 6;  // 3^6 ways to deal them out

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

// Which of the steps before they are multiplied, but for the sends, are dealt to an array: for a send takes
// anything.
using Mask = std::vector<bool>;

Mask none_of(const Mask& lhs, const Mask& rhs) {
  Mask all(lhs.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = !lhs[i] && !rhs[i];
  return all;
}
bool share(const Mask& lhs, const Mask& rhs) {
  for (std::size_t i = 0; i < lhs.size(); ++i)
    if (lhs[i] && rhs[i]) return true;
  return false;
}

// Every mask of n steps; or of more than most_dealt those of steps that follow each other.
std::vector<Mask> masks(std::size_t n) {
  std::vector<Mask> all;
  if (n <= most_dealt) {
    for (std::uint64_t bits = 0; bits >> n == 0; ++bits) {
      Mask& mask = all.emplace_back(n);
      for (std::size_t i = 0; i < n; ++i) mask[i] = bits >> i & 1;
    }
    return all;
  }
  all.emplace_back(n);
  for (std::size_t begin = 0; begin < n; ++begin)
    for (std::size_t end = begin + 1; end <= n; ++end) {
      Mask& mask = all.emplace_back(n);
      std::fill(mask.begin() + static_cast<std::ptrdiff_t>(begin),
                mask.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
  return all;
}

// The steps of a mask, the sends or not, and those after, where they are the array's own.
struct Deal {
  Mask mask;
  bool sends = true, rest = false;
};
Trace dealt(Steps steps, std::size_t before, const Deal& deal) {
  Trace some;
  std::size_t bit = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool send = i < before && steps[i].kind == "send";
    if (i >= before ? deal.rest : send ? deal.sends : deal.mask[bit]) some.push_back(steps[i]);
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
  Execution made{c, {}, terms.count, result(c), ends(product_spec(c, e, at).value_or(Spec{}), result(c))};
  for (const Ranges& ranges : all) {
    Slice slice;
    for (char letter : e.out) slice.push_back(ranges.at(letter));
    made.from.push_back({std::move(slice), terms.of(ranges)});
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
  for (char letter : e.out) made.dims.push_back(dims[letter]);
  return made;
}

std::optional<std::string> product_not_made(const Case& c, const Layouts& at, Steps all) {
  const std::size_t before = at.before;
  const auto moves = static_cast<std::size_t>(
      std::ranges::count_if(all.first(before), [](const auto& s) { return s.kind != "send"; }));
  Execution of[] = {execution(c, c.op.operands[0], at.operands[0]),
                    execution(c, c.op.operands[1], at.operands[1]),
                    multiplied(c, std::get<Einsum>(c.op.kind), at)};
  const Case ways[] = {way(c, c.op.operands[0], at.operands[0]), way(c, c.op.operands[1], at.operands[1])};
  const char* const whose[] = {"of operand 0, ", "of operand 1, ", ""};
  std::map<Mask, std::optional<std::string>> known[3];
  const auto lacks_by = [&](int i, const Deal& deal) {
    const Trace some = dealt(all, before, deal);
    auto lacks = not_made(of[i], some);
    if (lacks == "" && i < 2) lacks = brought_too_little(ways[i], some);
    return lacks;
  };
  const auto why = [&](int i, const Mask& mask) {  // an array may have had no part in the sends
    const auto [found, added] = known[i].try_emplace(mask);
    if (added) found->second = lacks_by(i, {mask, false, i == 2});
    if (added && found->second != "" && moves < before) found->second = lacks_by(i, {mask, true, i == 2});
    return found->second;
  };
  const Mask nothing(moves), every(moves, true);
  const std::vector<Mask> tried = masks(moves);
  for (const Mask& lhs : tried)
    for (auto rhs = tried.begin(); rhs != tried.end() && why(0, lhs) == ""; ++rhs)
      if (!share(lhs, *rhs) && why(1, *rhs) == "" && why(2, none_of(lhs, *rhs)) == "") return "";
  if (moves > most_dealt) {
    if (std::ranges::all_of(std::array{0, 1, 2}, [&](int i) { return why(i, every) == ""; })) return "";
    for (int i : {0, 1, 2}) {  // what forgets nothing, and adds what it likes, has the more for more steps
      of[i].keeps = true;
      const auto lacks = lacks_by(i, {every, true, i == 2});
      if (lacks != "") return lacks ? whose[i] + *lacks : lacks;
    }
    return std::nullopt;
  }
  for (int i : {0, 1, 2}) {
    const auto alone = why(i, nothing), lacks = why(i, every);
    const auto some = [](const auto& one) { return one.second == ""; };
    if (!alone || !lacks) return std::nullopt;  // nobody can say
    if (std::ranges::none_of(known[i], some)) return whose[i] + *lacks;
  }
  return "its collectives cannot be dealt out to both operands and the result";
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
