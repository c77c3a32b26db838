#include "reference/fill/terms.h"

#include <algorithm>

#include "reference/fill/hash.h"

namespace plumb {
namespace {

enum TermKey : std::uint64_t { kPlain = 16, kPerturbed, kPartOfTerm, kMatching, kChosen, kBlock, kTail };

// Odd multipliers that keep the coordinates of a hash apart.
constexpr std::uint64_t kCell = 0xa24baed4963ee407, kInBlock = 0x9fb21c651e98df25, kFree = 0xd1b54a32d192ed03;

// A pair or triple of a block, and one member of it.
struct Member {
  std::int64_t item = 0;
  int weight = 1;      // 1, -1 in a pair; 1, 1, -2 in a triple
  bool extra = false;  // the one that gets the unit more
};

Member member(std::int64_t volume, std::int64_t number) {
  if (volume == 1) return {};
  const std::int64_t last = volume / 2 - 1, in_last = number - 2 * last;
  if (volume % 2 && in_last >= 0) return {last, in_last == 2 ? -2 : 1, in_last == 1};
  return {number / 2, number % 2 ? -1 : 1, number % 2 == 1};
}

std::uint64_t times(std::uint64_t multiplier, std::int64_t index) {
  return multiplier * static_cast<std::uint64_t>(index);
}

const Matching& matching_at(Terms& t, const Spot& spot) {
  if (spot.block >= static_cast<std::int64_t>(t.known.size())) t.known.resize(spot.block + 1);
  Matching& m = t.known[spot.block];
  if (m.cell != spot.cell || m.volume != spot.volume) {
    m = matching(spot.volume, mix(t.matchings + times(kCell, spot.cell) + times(kInBlock, spot.block)));
    m.cell = spot.cell;
  }
  return m;
}

std::int64_t product_mod(std::int64_t a, std::int64_t b, std::int64_t modulus) {
  return static_cast<std::int64_t>(static_cast<__int128>(a) * b % modulus);
}

std::int64_t number_at(const Matching& m, std::int64_t term) {
  const std::int64_t number = product_mod(m.step, term, m.volume) + m.shift;
  return number < m.volume ? number : number - m.volume;
}

// In a narrow product the even pairs are wide in the perturbed operand; every block has one.
int class_of(const Terms& t, const Spot& spot, std::int64_t item) {
  if (spot.volume == 1) return 2;
  return static_cast<int>((t.product.budget.narrow ? item : item + spot.block + spot.cell) & 1);
}

std::uint64_t item_key(const Terms& t, const Spot& spot, std::int64_t item) {
  return t.values + times(kCell, spot.cell) + times(kInBlock, spot.block) + times(kGolden, item) +
         times(kFree, spot.free);
}

std::int64_t of_cell(const std::vector<std::int64_t>& all, const Spot& spot) {
  return all[all.size() == 1 ? 0 : spot.cell];
}

bool has_long(const Product& p, const Spot& spot) {
  return p.budget.lengths.plain > 0 && spot.block == of_cell(p.long_block, spot);
}

// One sign for all piled pairs of a row, or of a column.
std::int64_t row_sign(const Terms& t, const Spot& spot) {
  return sign_of(mix(t.values + times(kFree, spot.free)));
}

// Whether a member has a lower place in the block than its partner.
bool comes_first(const Terms& t, const Spot& spot, const Member& m) {
  const std::int64_t distance = t.known[spot.block].distance;
  return m.extra ? spot.term < distance : spot.term + distance < spot.volume;
}

std::int64_t long_one(std::int64_t most, std::uint64_t random) {
  const std::int64_t least = least_long(most);
  return (least + below(random, most - least + 1)) | 1;
}

bool is_long(const Terms& t, const Member& m) { return m.item < 2 + t.product.budget.lengths.piled; }

// Of the first two pairs the second member is 1 where the first stands alone.
bool is_one(const Long& l, const Member& m) { return l.alone && m.extra && m.item < 2; }

std::int64_t long_plain(const Long& l, const Member& m, std::uint64_t h) {
  if (is_one(l, m)) return 1;
  return m.item == 0 ? long_one(l.with_perturbed, h) : long_one(l.plain, h) + (m.extra ? 1 : 0);
}

double long_plain(const Terms& t, const Spot& spot, const Member& m, std::uint64_t h) {
  const Long& l = t.product.budget.lengths;
  return t.unit * static_cast<double>(m.item > 1 ? row_sign(t, spot) * long_one(l.piled_plain, h)
                                                 : sign_of(h) * long_plain(l, m, h));
}

// Whether the column is one that meets what is long in this operand: `own`.
std::int64_t long_perturbed(const Long& l, const Member& m, bool own, std::uint64_t h) {
  if (is_one(l, m)) return 1;
  if (m.item == 1) return own ? 0 : long_one(l.with_plain, h);
  return own ? long_one(l.perturbed, h) + (m.extra ? 1 : 0) : 1;
}

double long_perturbed(const Terms& t, const Spot& spot, const Member& m, std::uint64_t h) {
  const Long& l = t.product.budget.lengths;
  if (m.item > 1)
    return static_cast<double>(row_sign(t, spot) * (comes_first(t, spot, m) ? 1 : -1) *
                               long_one(l.piled_perturbed, h));
  const bool own = ((spot.free + spot.cell) & 1) != 0;
  return static_cast<double>(sign_of(h) * m.weight * long_perturbed(l, m, own, h));
}

double plain(const Terms& t, const Spot& spot, const Member& m, std::uint64_t h) {
  const Shares& s = t.product.budget.plain[class_of(t, spot, m.item)];
  return t.unit * static_cast<double>(sign_of(h) * magnitude_of_part(s, h, t.part, remix(h, t.parts)));
}

// What a column of the perturbed operand does with a block: the pair that does not cancel, and whether the
// block adds anything at all.
struct Column {
  std::int64_t chosen = 0, units = 1;
  bool active = true, unit_here = true;
};

Column column(const Terms& t, const Spot& spot, std::int64_t free) {
  const Product& p = t.product;
  Column col;
  const std::uint64_t where = times(kCell, spot.cell) + times(kFree, free);
  const std::uint64_t h = mix(t.chosen + where + times(kInBlock, spot.block));
  const std::int64_t items = spot.volume / 2;
  if (has_long(p, spot)) {
    const Long& l = p.budget.lengths;
    const std::int64_t first = 2 + l.piled;
    col.chosen = items > first && l.units > 0 ? first + below(h, items - first) : -1;
    col.units = l.units;
  } else if (items > 1) {
    col.chosen = p.budget.narrow ? 2 * below(h, (items + 1) / 2) : below(h, items);
  }
  const std::int64_t blocks = of_cell(p.blocks_of_cell, spot);
  if (blocks > p.budget.active_blocks)
    col.active = (spot.block + below(mix(t.blocks + where), blocks)) % blocks < p.budget.active_blocks;
  const std::int64_t parts = p.budget.perturbed[0].parts;
  if (parts > p.budget.units) col.unit_here = (t.part + below(mix(h), parts)) % parts < p.budget.units;
  return col;
}

double perturbed(const Terms& t, const Spot& spot, const Member& m, const Column& col, std::uint64_t h) {
  const ProductBudget& w = t.product.budget;
  const bool thin = w.active_pairs > 0, single = spot.volume == 1;
  if (!col.active && (thin || single)) return 0;
  if (thin && !single) {
    const std::int64_t items = spot.volume / 2, turn = m.item - col.chosen;
    if ((turn < 0 ? turn + items : turn) >= w.active_pairs) return 0;
  }
  std::int64_t magnitude =
      magnitude_of_part(w.perturbed[class_of(t, spot, m.item)], h, t.part, remix(h, t.parts));
  if (m.extra && col.active && col.unit_here && m.item == col.chosen) magnitude += col.units;
  return static_cast<double>(sign_of(h) * m.weight * magnitude);
}

}  // namespace

Terms::Terms(const Recipe& r, const Product& p, const Portion& portion)
    : product(p),
      part(portion.part),
      perturbed(portion.operand == p.perturbed),
      unit(perturbed ? 1.0 : std::ldexp(static_cast<double>(p.budget.unit.factor), p.budget.unit.exponent)),
      values(key(r.seed, portion.operand, perturbed ? kPerturbed : kPlain)),
      parts(mix(key(r.seed, portion.operand, kPartOfTerm) + kGolden * static_cast<std::uint64_t>(part))),
      chosen(key(r.seed, 0, kChosen)),
      blocks(key(r.seed, 0, kBlock)),
      matchings(key(r.seed, 0, kMatching)),
      tail(mix(key(r.seed, portion.operand, kTail) + kGolden * static_cast<std::uint64_t>(part))),
      tail_most(std::max<std::int64_t>(
          1, capacity(r.sources[portion.operand].dtype) / r.sources[portion.operand].parts)) {}

void along_free(Terms& t, const Spot& spot, std::int64_t count, double* out) {
  const Matching& matching = matching_at(t, spot);
  const Member m = member(spot.volume, number_at(matching, spot.term));
  const std::uint64_t base = item_key(t, spot, m.item);
  const auto each = [&](auto&& value) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = value(i, mix(base + times(kFree, i)));
  };
  const auto at = [&](std::int64_t i) {
    Spot here = spot;
    here.free += i;
    return here;
  };
  const ProductBudget& w = t.product.budget;
  if (is_long(t, m) && has_long(t.product, spot)) {
    if (t.perturbed) return each([&](auto i, auto h) { return long_perturbed(t, at(i), m, h); });
    return each([&](auto i, auto h) { return long_plain(t, at(i), m, h); });
  }
  if (!t.perturbed) return each([&](auto, auto h) { return plain(t, spot, m, h); });
  if (m.extra || w.active_pairs > 0 || of_cell(t.product.blocks_of_cell, spot) > w.active_blocks)
    return each([&](auto i, auto h) { return perturbed(t, spot, m, column(t, spot, spot.free + i), h); });
  each([&](auto, auto h) { return perturbed(t, spot, m, {}, h); });
}

void along_contracted(Terms& t, const Spot& spot, std::int64_t count, double* out) {
  const Matching& matching = matching_at(t, spot);
  const std::int64_t advance = product_mod(matching.step, spot.step, spot.volume);
  const std::uint64_t base = item_key(t, spot, 0);
  const Column col = t.perturbed ? column(t, spot, spot.free) : Column{};
  const bool some_long = has_long(t.product, spot);
  std::int64_t number = number_at(matching, spot.term);
  Spot here = spot;
  for (std::int64_t i = 0; i < count; ++i, here.term += spot.step) {
    const Member m = member(spot.volume, number);
    const std::uint64_t h = mix(base + times(kGolden, m.item));
    if (some_long && is_long(t, m))
      out[i] = t.perturbed ? long_perturbed(t, here, m, h) : long_plain(t, here, m, h);
    else
      out[i] = t.perturbed ? perturbed(t, spot, m, col, h) : plain(t, spot, m, h);
    number += advance;
    number -= number >= spot.volume ? spot.volume : 0;
  }
}

void along_tail(const Terms& t, const Spot& spot, std::int64_t count, double* out) {
  const std::uint64_t base = t.tail + times(kInBlock, spot.term);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t h = mix(base + times(kFree, spot.free + i));
    out[i] = static_cast<double>(sign_of(h) * (1 + below(h, t.tail_most)));
  }
}

}  // namespace plumb
