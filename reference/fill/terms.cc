#include "reference/fill/terms.h"

#include <algorithm>

#include "reference/fill/hash.h"

namespace plumb {
namespace {

enum Purpose : std::uint64_t { kPlain = 16, kPerturbed, kPart, kMatching, kChosen, kBlock, kTail };

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
  return static_cast<int>((t.product.widths.narrow ? item : item + spot.block + spot.cell) & 1);
}

std::uint64_t item_key(const Terms& t, const Spot& spot, std::int64_t item) {
  return t.values + times(kCell, spot.cell) + times(kInBlock, spot.block) + times(kGolden, item) +
         times(kFree, spot.free);
}

double plain(const Terms& t, std::uint64_t h, const Shares& s) {
  return t.unit * static_cast<double>(sign_of(h) * share(s, h, t.part, remix(h, t.parts)));
}

// What a column of the perturbed operand does with a block: the pair that does not cancel, and whether the
// block adds anything at all.
struct Column {
  std::int64_t chosen = 0;
  bool active = true, unit_here = true;
};

std::int64_t blocks_of(const Product& p, const Spot& spot) {
  return p.blocks_of_cell[p.blocks_of_cell.size() == 1 ? 0 : spot.cell];
}

Column column(const Terms& t, const Spot& spot, std::int64_t free) {
  const Product& p = t.product;
  Column col;
  const std::uint64_t where = times(kCell, spot.cell) + times(kFree, free);
  const std::uint64_t h = mix(t.chosen + where + times(kInBlock, spot.block));
  const std::int64_t items = spot.volume / 2;
  if (items > 1) col.chosen = p.widths.narrow ? 2 * below(h, (items + 1) / 2) : below(h, items);
  const std::int64_t blocks = blocks_of(p, spot);
  if (blocks > p.widths.active_blocks)
    col.active = (spot.block + below(mix(t.blocks + where), blocks)) % blocks < p.widths.active_blocks;
  const std::int64_t parts = p.widths.perturbed[0].parts;
  if (parts > p.widths.units) col.unit_here = (t.part + below(mix(h), parts)) % parts < p.widths.units;
  return col;
}

double perturbed(const Terms& t, const Spot& spot, const Member& m, const Column& col, std::uint64_t h) {
  const Widths& w = t.product.widths;
  const bool thin = w.active_pairs > 0, single = spot.volume == 1;
  if (!col.active && (thin || single)) return 0;
  if (thin && !single) {
    const std::int64_t items = spot.volume / 2, turn = m.item - col.chosen;
    if ((turn < 0 ? turn + items : turn) >= w.active_pairs) return 0;
  }
  std::int64_t magnitude = share(w.perturbed[class_of(t, spot, m.item)], h, t.part, remix(h, t.parts));
  magnitude += m.extra && col.active && col.unit_here && m.item == col.chosen;
  return static_cast<double>(sign_of(h) * m.weight * magnitude);
}

}  // namespace

Terms::Terms(const Recipe& r, const Product& p, const Portion& portion)
    : product(p),
      part(portion.part),
      perturbed(portion.operand == p.perturbed),
      unit(perturbed ? 1.0 : std::ldexp(static_cast<double>(p.widths.unit.factor), p.widths.unit.exponent)),
      values(key(r.seed, portion.operand, perturbed ? kPerturbed : kPlain)),
      parts(mix(key(r.seed, portion.operand, kPart) + kGolden * static_cast<std::uint64_t>(part))),
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
  if (!t.perturbed) {
    const Shares s = t.product.widths.plain[class_of(t, spot, m.item)];
    for (std::int64_t i = 0; i < count; ++i) out[i] = plain(t, mix(base + times(kFree, i)), s);
    return;
  }
  const Widths& w = t.product.widths;
  if (m.extra || w.active_pairs > 0 || blocks_of(t.product, spot) > w.active_blocks) {
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = perturbed(t, spot, m, column(t, spot, spot.free + i), mix(base + times(kFree, i)));
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i] = perturbed(t, spot, m, {}, mix(base + times(kFree, i)));
  }
}

void along_contracted(Terms& t, const Spot& spot, std::int64_t count, double* out) {
  const Matching& matching = matching_at(t, spot);
  const std::int64_t advance = product_mod(matching.step, spot.step, spot.volume);
  const std::uint64_t base = item_key(t, spot, 0);
  const Column col = t.perturbed ? column(t, spot, spot.free) : Column{};
  std::int64_t number = number_at(matching, spot.term);
  for (std::int64_t i = 0; i < count; ++i) {
    const Member m = member(spot.volume, number);
    const std::uint64_t h = mix(base + times(kGolden, m.item));
    out[i] = t.perturbed ? perturbed(t, spot, m, col, h)
                         : plain(t, h, t.product.widths.plain[class_of(t, spot, m.item)]);
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
