// One term of a product's operand, as a formula of its place: one code for this processor and for a card.
#pragma once

#include <algorithm>
#include <cstdint>

#include "reference/fill/hash.h"
#include "reference/fill/product.h"
#include "reference/words/divided.h"

namespace plumb {

// Where a run of terms begins: the cell, the free index, the block, its volume, the place of the term in
// it, and by how much that grows along the run; how far apart partners lie in the block.
struct Spot {
  std::int64_t cell = 0, free = 0, block = 0, volume = 1, term = 0, step = 0, distance = 1;
};

// A number for each cell, or one for all.
struct PerCell {
  const std::int64_t* at = nullptr;
  std::int64_t count = 0;
};

// One part of one operand, as plain data.
struct TermsAt {
  ProductBudget budget;
  PerCell blocks_of_cell, long_block;
  std::int64_t part = 0;
  bool perturbed = false;
  double unit = 1;
  std::uint64_t values = 0, parts = 0, chosen = 0, blocks = 0, matchings = 0, tail = 0;  // keys
  // Of the magnitudes of rows of no group: the parts of one add up to what its dtype counts to.
  std::int64_t tail_most = 1;
};

enum TermKey : std::uint64_t { kPlain = 16, kPerturbed, kPartOfTerm, kMatching, kChosen, kBlock, kTail };

// Odd multipliers that keep the coordinates of a hash apart.
constexpr std::uint64_t kCell = 0xa24baed4963ee407, kInBlock = 0x9fb21c651e98df25, kFree = 0xd1b54a32d192ed03;

// A pair or triple of a block, and one member of it.
struct Member {
  std::int64_t item = 0;
  int weight = 1;      // 1, -1 in a pair; 1, 1, -2 in a triple
  bool extra = false;  // the one that gets the unit more
};

constexpr Member member(std::int64_t volume, std::int64_t number) {
  if (volume == 1) return {};
  const std::int64_t last = volume / 2 - 1, in_last = number - 2 * last;
  if (volume % 2 && in_last >= 0) return {last, in_last == 2 ? -2 : 1, in_last == 1};
  return {number / 2, number % 2 ? -1 : 1, number % 2 == 1};
}

constexpr std::uint64_t times(std::uint64_t multiplier, std::int64_t index) {
  return multiplier * static_cast<std::uint64_t>(index);
}

constexpr std::int64_t product_mod(std::int64_t a, std::int64_t b, std::int64_t modulus) {
  if (modulus >> 31 == 0) return divided(a * b, modulus).rest;
  return static_cast<std::int64_t>(static_cast<__int128>(a) * b % modulus);
}

constexpr std::int64_t number_at(const Matching& m, std::int64_t term) {
  const std::int64_t number = product_mod(m.step, term, m.volume) + m.shift;
  return number < m.volume ? number : number - m.volume;
}

// In a narrow product the even pairs are wide in the perturbed operand; every block has one.
constexpr int class_of(const TermsAt& t, const Spot& spot, std::int64_t item) {
  if (spot.volume == 1) return 2;
  return static_cast<int>((t.budget.narrow ? item : item + spot.block + spot.cell) & 1);
}

constexpr std::uint64_t item_key(const TermsAt& t, const Spot& spot, std::int64_t item) {
  return t.values + times(kCell, spot.cell) + times(kInBlock, spot.block) + times(kGolden, item) +
         times(kFree, spot.free);
}

constexpr std::int64_t of_cell(const PerCell& all, const Spot& spot) {
  return all.at[all.count == 1 ? 0 : spot.cell];
}

constexpr bool has_long(const TermsAt& t, const Spot& spot) {
  return t.budget.lengths.plain > 0 && spot.block == of_cell(t.long_block, spot);
}

// One sign for all piled pairs of a row, or of a column.
constexpr std::int64_t row_sign(const TermsAt& t, const Spot& spot) {
  return sign_of(mix(t.values + times(kFree, spot.free)));
}

// Whether a member has a lower place in the block than its partner.
constexpr bool comes_first(const Spot& spot, const Member& m) {
  return m.extra ? spot.term < spot.distance : spot.term + spot.distance < spot.volume;
}

constexpr std::int64_t long_one(std::int64_t most, std::uint64_t random) {
  const std::int64_t least = least_long(most);
  return (least + below(random, most - least + 1)) | 1;
}

constexpr bool is_long(const TermsAt& t, const Member& m) { return m.item < 2 + t.budget.lengths.piled; }

// Of the first two pairs the second member is 1 where the first stands alone.
constexpr bool is_one(const Long& l, const Member& m) { return l.alone && m.extra && m.item < 2; }

constexpr std::int64_t long_plain(const Long& l, const Member& m, std::uint64_t h) {
  if (is_one(l, m)) return 1;
  return m.item == 0 ? long_one(l.with_perturbed, h) : long_one(l.plain, h) + (m.extra ? 1 : 0);
}

constexpr double long_plain(const TermsAt& t, const Spot& spot, const Member& m, std::uint64_t h) {
  const Long& l = t.budget.lengths;
  return t.unit * static_cast<double>(m.item > 1 ? row_sign(t, spot) * long_one(l.piled_plain, h)
                                                 : sign_of(h) * long_plain(l, m, h));
}

// Whether the column is one that meets what is long in this operand: `own`.
constexpr std::int64_t long_perturbed(const Long& l, const Member& m, bool own, std::uint64_t h) {
  if (is_one(l, m)) return 1;
  if (m.item == 1) return own ? 0 : long_one(l.with_plain, h);
  return own ? long_one(l.perturbed, h) + (m.extra ? 1 : 0) : 1;
}

constexpr double long_perturbed(const TermsAt& t, const Spot& spot, const Member& m, std::uint64_t h) {
  const Long& l = t.budget.lengths;
  if (m.item > 1)
    return static_cast<double>(row_sign(t, spot) * (comes_first(spot, m) ? 1 : -1) *
                               long_one(l.piled_perturbed, h));
  const bool own = ((spot.free + spot.cell) & 1) != 0;
  return static_cast<double>(sign_of(h) * m.weight * long_perturbed(l, m, own, h));
}

constexpr double plain_term(const TermsAt& t, const Spot& spot, const Member& m, std::uint64_t h) {
  const Shares& s = t.budget.plain[class_of(t, spot, m.item)];
  return t.unit * static_cast<double>(sign_of(h) * magnitude_of_part(s, h, t.part, remix(h, t.parts)));
}

// What a column of the perturbed operand does with a block: the pair that does not cancel, and whether the
// block adds anything at all.
struct Column {
  std::int64_t chosen = 0, units = 1;
  bool active = true, unit_here = true;
};

// The pairs of a block from which a column draws that one: every `step`-th from `first` on, `among` of them.
struct Choice {
  std::int64_t first = 0, step = 1, among = 1, units = 1;
};

constexpr Choice choice(const TermsAt& t, const Spot& spot) {
  const std::int64_t items = spot.volume / 2;
  if (has_long(t, spot)) {
    const Long& l = t.budget.lengths;
    const std::int64_t first = 2 + l.piled;
    return {first, 1, l.units > 0 ? std::max<std::int64_t>(0, items - first) : 0, l.units};
  }
  if (items <= 1) return {};
  return {0, t.budget.narrow ? 2 : 1, t.budget.narrow ? (items + 1) / 2 : items, 1};
}

constexpr std::uint64_t column_key(const TermsAt& t, const Spot& spot, std::int64_t free) {
  return t.chosen + times(kCell, spot.cell) + times(kFree, free) + times(kInBlock, spot.block);
}

constexpr Column column(const TermsAt& t, const Spot& spot, std::int64_t free) {
  Column col;
  const std::uint64_t where = times(kCell, spot.cell) + times(kFree, free),
                      h = mix(column_key(t, spot, free));
  const Choice c = choice(t, spot);
  col.chosen = c.among > 0 ? c.first + c.step * below(h, c.among) : -1;
  col.units = c.units;
  const std::int64_t blocks = of_cell(t.blocks_of_cell, spot);
  if (blocks > t.budget.active_blocks)
    col.active = (spot.block + below(mix(t.blocks + where), blocks)) % blocks < t.budget.active_blocks;
  const std::int64_t parts = t.budget.perturbed[0].parts;
  if (parts > t.budget.units) col.unit_here = (t.part + below(mix(h), parts)) % parts < t.budget.units;
  return col;
}

constexpr double perturbed_term(const TermsAt& t, const Spot& spot, const Member& m, const Column& col,
                                std::uint64_t h) {
  const ProductBudget& w = t.budget;
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

constexpr std::uint64_t matching_key(const TermsAt& t, std::int64_t cell, std::int64_t block) {
  return mix(t.matchings + times(kCell, cell) + times(kInBlock, block));
}

// Whether a term hangs on what its column does with the block.
constexpr bool asks_column(const TermsAt& t, const Spot& spot, const Member& m) {
  return t.perturbed && (m.extra || t.budget.active_pairs > 0 || spot.volume == 1);
}

// The term of a block whose member is known, and its column where that is asked for.
constexpr double term_of(const TermsAt& t, const Spot& spot, const Member& m, const Column& col) {
  const std::uint64_t h = mix(item_key(t, spot, m.item));
  if (is_long(t, m) && has_long(t, spot))
    return t.perturbed ? long_perturbed(t, spot, m, h) : long_plain(t, spot, m, h);
  return t.perturbed ? perturbed_term(t, spot, m, col, h) : plain_term(t, spot, m, h);
}

// The same of one whose number in the block's matching is known.
constexpr double term_at(const TermsAt& t, const Spot& spot, std::int64_t number) {
  const Member m = member(spot.volume, number);
  return term_of(t, spot, m, asks_column(t, spot, m) ? column(t, spot, spot.free) : Column{});
}

// In rows that belong to no group.
constexpr double tail_at(const TermsAt& t, std::int64_t row, std::int64_t free) {
  const std::uint64_t h = mix(t.tail + times(kInBlock, row) + times(kFree, free));
  return static_cast<double>(sign_of(h) * (1 + below(h, t.tail_most)));
}

}  // namespace plumb
