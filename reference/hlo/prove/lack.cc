#include "reference/hlo/prove/lack.h"

#include <algorithm>
#include <cmath>

#include "reference/hlo/run/groups.h"
#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/maps.h"

namespace plumb::hlo {
namespace {

bool keeps_largest(Opcode opcode) { return opcode == Opcode::maximum || opcode == Opcode::or_; }

double real_of(const Twin& x) { return x.real; }
std::int64_t real_of(std::int64_t x) { return x; }

template <typename Number>
double size_of(const Number& x) {
  return std::fabs(static_cast<double>(real_of(x)));
}

// The prime factors of how many tiles there are, those of the first dimension first.
Integers factors_of(const Integers& tiles) {
  Integers all;
  for (std::int64_t n : tiles)
    for (std::int64_t f = 2; n > 1; ++f)
      for (; n % f == 0; n /= f) all.push_back(f);
  return all;
}

// A bit for each factor in which two parts differ.
std::uint64_t apart(const Integers& factors, std::int64_t a, std::int64_t b) {
  std::uint64_t bits = 0;
  for (std::size_t k = factors.size(); k-- > 0; a /= factors[k], b /= factors[k])
    if (a % factors[k] != b % factors[k]) bits |= std::uint64_t{1} << k;
  return bits;
}

// A part that is another in each of these factors and the same in the others.
std::int64_t other_part(const Integers& factors, std::int64_t part, std::uint64_t bits) {
  std::int64_t other = 0;
  for (std::int64_t k = std::ssize(factors) - 1, stride = 1; k >= 0; --k) {
    const std::int64_t f = factors[static_cast<std::size_t>(k)], digit = part % f;
    other += stride * (bits >> k & 1 ? (digit + 1) % f : digit);
    part /= f, stride *= f;
  }
  return other;
}

// Of a sum, along which factors a device is not told: each, those of each dimension, all.
std::vector<std::uint64_t> sets_of(const Integers& tiles) {
  std::vector<std::uint64_t> sets;
  const std::size_t all = factors_of(tiles).size();
  for (std::size_t k = 0; k < all; ++k) sets.push_back(std::uint64_t{1} << k);
  std::size_t from = 0;
  const auto add = [&](std::size_t count) {
    const std::uint64_t set = ((std::uint64_t{1} << count) - 1) << from;
    if (count > 0 && std::ranges::count(sets, set) == 0) sets.push_back(set);
  };
  for (const std::int64_t n : tiles) {
    const std::size_t count = factors_of({n}).size();
    add(count), from += count;
  }
  from = 0, add(all);
  return sets;
}

// Which part each term of a line is of, a dimension of size n in k tiles of ceil(n / k).
Integers parts_of_terms(const Integers& extents, const Integers& tiles) {
  Integers all(static_cast<std::size_t>(count(extents)));
  for (std::int64_t t = 0; t < std::ssize(all); ++t) {
    std::int64_t rest = t, stride = 1, part = 0;
    for (std::size_t d = extents.size(); d-- > 0; rest /= extents[d], stride *= tiles[d])
      part += rest % extents[d] / ((extents[d] + tiles[d] - 1) / tiles[d]) * stride;
    all[static_cast<std::size_t>(t)] = part;
  }
  return all;
}

bool are_known(const Parts& parts) { return !parts.part.empty(); }

}  // namespace

std::uint64_t ways_to_lack(const Sharing& how) {
  const auto bits = [](std::size_t n) { return (std::uint64_t{1} << n) - 1; };
  if (!are_known(how.parts)) return 1;
  return bits(how.by == Opcode::add ? sets_of(how.parts.tiles).size() : factors_of(how.parts.tiles).size());
}

std::uint64_t lacked_by(const Sharing& how, const Lack& lack, std::int64_t device) {
  if (!are_known(how.parts)) return 1;
  const auto d = static_cast<std::size_t>(device);
  const std::size_t group = how.parts.group.empty() ? 0 : static_cast<std::size_t>(how.parts.group[d]);
  const std::int64_t chosen = lack.chosen.empty() ? -1 : lack.chosen[group];
  if (chosen < 0) return 0;
  const std::uint64_t differs = apart(factors_of(how.parts.tiles), how.parts.part[d], chosen);
  if (how.by != Opcode::add) return differs;
  const auto way = static_cast<std::size_t>(lack.way);
  return (differs & sets_of(how.parts.tiles)[way]) == 0 ? std::uint64_t{1} << way : 0;
}

namespace {

// What is reduced: lines of several groups, one group after the other. Term t of line n of group g stands at
// line[n] + term[g][t].
struct Lines {
  Integers line;
  std::vector<Integers> term;
  Integers part;  // of each term
  const Array<Twin>* init = nullptr;
  std::int64_t init_lines = 1;  // that one initial value is of

  std::int64_t count() const { return std::ssize(line); }
  std::int64_t of_group() const { return count() / std::ssize(term); }
};

Lines lines_of(const Reduced& reduction) {
  const auto& [how, is, operands, devices] = reduction;
  const Array<Twin>& a = *operands[0].array;
  const std::int64_t size = count(a.dims);
  Lines all;
  if (is.opcode == Opcode::all_reduce) {
    for (const Integers& group : groups_of(is, devices)) {
      Integers& terms = all.term.emplace_back();
      for (const std::int64_t device : group) terms.push_back(begin_on(a, device, size));
      for (std::int64_t n = 0; n < size; ++n) all.line.push_back(n);
    }
    for (std::int64_t t = 0; t < std::ssize(all.term[0]); ++t) all.part.push_back(t);
    return all;
  }
  const auto inner = get<Integers>(is, Key::dimensions);
  const Matrices places = matrices(a.dims, others(a.dims.size(), {&inner}), inner);
  const std::int64_t terms = std::ssize(places.terms);
  all.term.push_back(places.terms);
  all.init = operands[1].array.get(), all.init_lines = std::ssize(places.lines);
  for (std::int64_t lane = 0; lane < std::max(a.lanes, all.init->lanes); ++lane)
    for (const std::int64_t line : places.lines) all.line.push_back(begin_of(a, lane, size) + line);
  if (are_known(how.parts)) {
    Integers extents;
    for (const std::int64_t d : inner) extents.push_back(a.dims[static_cast<std::size_t>(d)]);
    all.part = parts_of_terms(extents, how.parts.tiles);
  } else {
    for (std::int64_t t = 0; t < terms; ++t) all.part.push_back(how.by == Opcode::add ? 2 * t >= terms : t);
  }
  return all;
}

// The lines of one element type, one after the other.
template <typename Numbers>
struct Reducing {
  using Number = std::decay_t<decltype(std::declval<Numbers>()[0])>;
  Pairs& pairs;
  const Reduced& reduction;
  const Lines& lines;
  const Numbers& all;
  Type type = reduction.operands[0].array->type;
  Opcode by = reduction.how.by;
  bool known = are_known(reduction.how.parts);
  Integers factors = factors_of(known ? reduction.how.parts.tiles : Integers{2});

  std::int64_t part(std::int64_t t) const { return lines.part[static_cast<std::size_t>(t)]; }
  const Number& term(std::int64_t n, std::int64_t t) const {
    return all[static_cast<std::size_t>(lines.line[static_cast<std::size_t>(n)] +
                                        lines.term[group(n)][static_cast<std::size_t>(t)])];
  }
  const Number* init(std::int64_t n) const {
    if (!lines.init) return nullptr;
    return &elements_of(*lines.init,
                        all)[static_cast<std::size_t>(begin_of(*lines.init, n / lines.init_lines, 1))];
  }
  std::size_t group(std::int64_t n) const { return static_cast<std::size_t>(n / lines.of_group()); }
  bool same(const Number& a, const Number& b) const {
    if constexpr (std::is_same_v<Number, Twin>)
      return pairs.same(a, b);
    else
      return a == b;
  }

  // The term that is kept of a line, where it is none of `but`; -1: the initial value is.
  std::int64_t kept(std::int64_t n, std::int64_t but) const {
    const Number* best = init(n);
    std::int64_t at = -1;
    for (std::int64_t t = 0; t < std::ssize(lines.part); ++t) {
      if (part(t) == but) continue;
      const auto x = real_of(term(n, t));
      if (!best || (keeps_largest(by) ? x > real_of(*best) : x < real_of(*best))) best = &term(n, t), at = t;
    }
    return at;
  }
  const Number& number(std::int64_t n, std::int64_t kept) const {
    return kept < 0 ? *init(n) : term(n, kept);
  }

  // The largest term of a line of a sum.
  std::int64_t largest(std::int64_t n) const {
    std::int64_t at = 0;
    for (std::int64_t t = 1; t < std::ssize(lines.part); ++t)
      if (size_of(term(n, t)) > size_of(term(n, at))) at = t;
    return at;
  }
  // Of the parts that agree with one in these factors.
  Number sum(std::int64_t n, std::int64_t of, std::uint64_t in) const {
    Number all_of = init(n) ? *init(n) : Number{};
    for (std::int64_t t = 0; t < std::ssize(lines.part); ++t) {
      if ((apart(factors, part(t), of) & in) != 0) continue;
      if constexpr (std::is_same_v<Number, Twin>)
        all_of = pairs.binary(Opcode::add, all_of, term(n, t));
      else
        all_of = integer_binary(Opcode::add, type, all_of, term(n, t));
    }
    return all_of;
  }
};

// Of sums those that a device knows that is not told: the one that does not hold the largest of some line.
template <typename Numbers>
bool sums_untold(const Reducing<Numbers>& r, Lack& lack, Numbers& to) {
  const std::uint64_t set =
      sets_of(r.known ? r.reduction.how.parts.tiles : Integers{2})[static_cast<std::size_t>(lack.way)];
  const auto of_group = static_cast<std::uint64_t>(r.lines.of_group());
  bool is_another = false;
  for (std::int64_t n = 0; n < r.lines.count(); ++n) {
    if (lack.chosen.size() == r.group(n)) {
      const auto any = static_cast<std::int64_t>(mixed(lack.seed + r.group(n)) % of_group);
      lack.chosen.push_back(other_part(r.factors, r.part(r.largest(n + any)), set));
    }
    to.push_back(r.sum(n, lack.chosen[r.group(n)], set));
    is_another = is_another || !r.same(to.back(), r.sum(n, 0, 0));
  }
  return is_another;
}

// Of what keeps one of many what is kept of the others. Of each group one part is left out, in which some
// line has what it keeps; where nobody knows parts, of each line that.
template <typename Numbers>
bool kept_of_others(const Reducing<Numbers>& r, Lack& lack, Numbers& to) {
  std::vector<Integers> may(r.lines.term.size());
  Integers kept;
  for (std::int64_t n = 0; n < r.lines.count(); ++n) {
    kept.push_back(r.kept(n, -1));
    if (kept.back() < 0) continue;
    const std::int64_t part = r.part(kept.back());
    const auto& is = r.number(n, kept.back());
    if (!r.same(is, r.number(n, r.kept(n, part)))) may[r.group(n)].push_back(part);
  }
  if (lack.chosen.empty() && std::ranges::any_of(may, [](const Integers& all) { return !all.empty(); }))
    for (std::size_t g = 0; g < may.size(); ++g)
      lack.chosen.push_back(may[g].empty() ? -1 : may[g][mixed(lack.seed + g) % may[g].size()]);
  bool is_another = false;
  for (std::int64_t n = 0; n < r.lines.count(); ++n) {
    const std::int64_t at = kept[static_cast<std::size_t>(n)], part = at < 0 ? -1 : r.part(at);
    const bool leaves = part >= 0 && !lack.chosen.empty() && (!r.known || part == lack.chosen[r.group(n)]);
    to.push_back(r.number(n, leaves ? r.kept(n, part) : at));
    is_another = is_another || !r.same(to.back(), r.number(n, at));
  }
  return is_another;
}

}  // namespace

std::optional<Array<Twin>> without_part(Pairs& pairs, const Reduced& reduction, Lack& lack) {
  const auto& [how, is, operands, devices] = reduction;
  const Array<Twin>& a = *operands[0].array;
  if (a.type == Type::pred && std::ranges::any_of(a.integers, is_undecided)) return std::nullopt;
  const Lines lines = lines_of(reduction);
  Array<Twin> other{a.type, is.shape.dims, 1, {}, {}, {}};
  if (is.opcode == Opcode::all_reduce) {
    other.lanes = std::ssize(lines.term);
    if (other.lanes > 1)
      other.holders =
          std::make_shared<const std::vector<std::int32_t>>(how.parts.group.begin(), how.parts.group.end());
  } else {
    other.lanes = std::max(a.lanes, lines.init->lanes);
    other.holders = a.lanes > 1 ? a.holders : lines.init->holders;
  }
  const bool is_another = visit(a, [&](const auto& all) {
    const Reducing<std::decay_t<decltype(all)>> r{pairs, reduction, lines, all};
    auto& to = elements_of(other, all);
    return how.by == Opcode::add ? sums_untold(r, lack, to) : kept_of_others(r, lack, to);
  });
  return is_another ? std::optional(std::move(other)) : std::nullopt;
}

}  // namespace plumb::hlo
