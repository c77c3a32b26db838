#include "reference/fill/product_budget.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plumb {
namespace {

struct Pair {
  std::int64_t plain = 1, perturbed = 1;
};

// What each operand may hold, and a product of both.
struct Room {
  std::int64_t plain, perturbed, product;
};

std::int64_t between(std::int64_t x, std::int64_t most) {
  return std::max<std::int64_t>(1, std::min(x, most));
}

// The least width worth having: all parts nonzero and different, and some variety.
std::int64_t wanted(std::int64_t parts, std::int64_t most) {
  const __int128 triangle = static_cast<__int128>(parts) * (parts + 1) / 2;
  return std::max<std::int64_t>(
      4, static_cast<std::int64_t>(std::min<__int128>(triangle, std::max<std::int64_t>(4, most))));
}

Pair wide_perturbed(const Room& room, std::int64_t plain_parts) {
  Pair w;
  w.perturbed = between(room.product / wanted(plain_parts, room.plain), room.perturbed);
  w.plain = between(room.product / w.perturbed, room.plain);
  return w;
}

Pair wide_plain(const Room& room, std::int64_t perturbed_parts) {
  Pair w;
  w.plain = between(room.product / wanted(perturbed_parts, room.perturbed), room.plain);
  w.perturbed = between(room.product / w.plain, room.perturbed);
  return w;
}

Pair balanced(const Room& room) {
  Pair w;
  w.plain = between(static_cast<std::int64_t>(std::sqrt(static_cast<double>(room.product))), room.plain);
  w.perturbed = between(room.product / w.plain, room.perturbed);
  w.plain = between(room.product / w.perturbed, room.plain);
  return w;
}

// The most units of an operand's element; where it is a sum, of all its parts together.
std::int64_t holds(const Case& c, int operand) {
  const Spec& spec = c.op.operands[operand];
  return parts(c.mesh, spec) > 1 ? capacity({spec.dtype, c.wire, c.acc}) : capacity(spec.dtype);
}

// What the formats of a case count to, in its units: sums in the accumulator, sums that are carried,
// elements.
struct Budget {
  Unit unit;
  std::int64_t acc, sum, plain, perturbed;
  std::int64_t plain_parts, perturbed_parts;
  bool integer;
};

Budget budget(const Case& c, int perturbed, bool freely, const Unit& u) {
  const Spec &plain_spec = c.op.operands[1 - perturbed], &spec = c.op.operands[perturbed];
  const std::int64_t sum = capacity({c.acc, c.wire, result(c).dtype}) / u.factor,
                     terms = most_terms(c) / u.factor;
  // The parts of an unfinished operand may be multiplied one by one: of these products nothing cancels before
  // they are sent. Nor of the parts of a result that a program cuts as it likes.
  const bool apart = parts(c.mesh, plain_spec) > 1 || parts(c.mesh, spec) > 1 || freely;
  return {u, apart ? std::min(sum, terms) : terms, sum, holds(c, 1 - perturbed) / u.factor,
          // The third member of a triple is twice as large: in floating point that is one exponent more.
          holds(c, perturbed) / (format(spec.dtype).integer ? 2 : 1), parts(c.mesh, plain_spec),
          parts(c.mesh, spec), format(c.acc).integer};
}

std::int64_t odd(std::int64_t most) { return most - (most % 2 == 0); }

// The two pairs that every long block has. What is left of those that cancel is as large as other blocks, or,
// where there is room beside another pair, a quarter.
Long two_pairs(const Budget& b, const Load& load) {
  Long l;
  l.alone = b.sum >= b.acc;
  const std::int64_t room = b.acc / 4 * 3 / (l.alone ? 1 : 2), block = b.sum / (load.blocks + 1);
  l.units = l.alone ? 1 : block >= 8 ? 2 : 0;
  const std::int64_t left = l.alone ? room : l.units ? block / 4 : b.sum / load.blocks;
  if (room < 16 || left < 1 || b.plain < 2 || b.perturbed < 4) return {};
  l.perturbed = odd(std::min(b.perturbed - 1, room - 1));
  l.with_perturbed = odd(between(std::min({b.plain, left, room / 16}), room / (l.perturbed + 1)));
  const std::int64_t rest = room - 2 * l.with_perturbed;
  l.plain = odd(std::min(b.plain - 1, rest - 1));
  l.with_plain = odd(between(std::min(b.perturbed, left), rest / (l.plain + 1)));
  return l;
}

// The largest sum of |a b| of these pairs for an element, and what they leave where they cancel.
std::int64_t mass(const Long& l) {
  const std::int64_t times = l.alone ? 1 : 2;
  return times *
         std::max((l.plain + 1) * l.with_plain + l.with_perturbed, (l.perturbed + 1) * l.with_perturbed);
}
std::int64_t left(const Long& l) { return std::max(l.with_plain, l.with_perturbed); }

std::int64_t piled_mass(const Long& l) { return 2 * l.piled * l.piled_plain * l.piled_perturbed; }

// The room of short terms is a quarter, that of the long ones of an element the rest.
Long long_terms(const Budget& b, const Load& load) {
  if (b.integer || load.two_pairs == 0 || b.plain_parts > 1 || b.perturbed_parts > 1) return {};
  Long l = two_pairs(b, load);
  if (l.plain == 0) return l;
  const std::int64_t room = b.acc / 4 * 3 - mass(l);
  l.piled_plain = odd(std::min(b.plain, room / 4));
  l.piled_perturbed = odd(std::min(b.perturbed, room / 4 / std::max<std::int64_t>(1, l.piled_plain)));
  if (l.piled_plain < 1 || l.piled_perturbed < 1) return l;
  l.piled = std::min(room / (2 * l.piled_plain * l.piled_perturbed), load.two_pairs - 2);
  return l;
}

// Where even factors of one unit are too many for the accumulator: some blocks, and some pairs of each,
// are zero, others for each column of the perturbed operand. A block of n pairs weighs at most 2 n + 3.
void thin_out(ProductBudget& w, std::int64_t room) {
  w.active_blocks = std::min(w.active_blocks, room / 5);
  if (w.active_blocks == 0) {
    w.exists = false;
    return;
  }
  w.units = 1;
  w.active_pairs = (room / w.active_blocks - 3) / 2;
}

// With long terms one block, which they need not share with others, may leave two units for one.
ProductBudget budgets(const Budget& b, const Load& load, const Long& lengths) {
  ProductBudget w;
  w.unit = b.unit;
  w.lengths = lengths;
  const bool with_long = lengths.plain > 0;
  const std::int64_t more = with_long && lengths.units == 2 ? 1 : 0;
  const std::int64_t acc = with_long ? b.acc / 4 : b.acc, sum = b.sum - more * left(lengths);
  const std::int64_t plain = b.plain, other = b.perturbed;
  const std::int64_t plain_parts = b.plain_parts, perturbed_parts = b.perturbed_parts;
  w.exists = w.unit.exists && plain > 0 && sum > 0;
  if (!w.exists || load.blocks == 0) return w;

  w.active_blocks = std::min(load.blocks, sum);
  w.units = between(sum / w.active_blocks / plain_parts, std::min(perturbed_parts, other / 2));
  std::int64_t room = acc / (load.weight + w.units * (load.matched + more));
  if (room == 0) {
    thin_out(w, acc);
    room = 1;
  }
  if (!w.exists) return w;
  const std::int64_t block = sum / (w.active_blocks + more);
  const Room matched{std::min(plain, block / w.units), other - w.units - more, room};
  // On a narrow wire blocks add little: the wide elements of the plain operand only ever cancel then, and
  // take the accumulator further.
  w.narrow = !with_long && std::min(plain, room / 4) / 4 >= matched.plain;
  const Room wide{w.narrow ? plain : matched.plain, matched.perturbed, room};
  const Pair classes[3] = {wide_perturbed(matched, plain_parts), wide_plain(wide, perturbed_parts),
                           balanced({plain, other, std::min(block, room)})};
  std::int64_t largest_term = 0, largest_plain = 0;
  for (int i = 0; i < 3; ++i) {
    w.plain[i] = shares(plain_parts, classes[i].plain);
    w.perturbed[i] = shares(perturbed_parts, classes[i].perturbed);
    const std::int64_t term = mass(w.plain[i]) * mass(w.perturbed[i]);
    if (i < 2 ? load.matched > 0 : load.matched < load.blocks) largest_term = std::max(largest_term, term);
    if (i < 2 ? load.matched > 0 : load.matched < load.blocks)
      w.carried = std::max(w.carried, i == 2 ? term : i == 1 && w.narrow ? 0 : w.units * mass(w.plain[i]));
    if (i < 2) largest_plain = std::max(largest_plain, mass(w.plain[i]));
  }
  w.terms = w.active_pairs ? w.active_blocks * (2 * w.active_pairs + 3)
                           : load.weight * largest_term + (load.matched + more) * w.units * largest_plain;
  if (with_long && lengths.units == 0) w.carried = std::max(w.carried, left(lengths));
  w.carried *= w.active_blocks + more;
  if (!with_long) return w;
  w.carried += lengths.alone ? mass(lengths) + 2 * largest_term : more * left(lengths);
  w.terms += mass(lengths) + piled_mass(lengths);
  return w;
}

constexpr std::int64_t kEnough = 24;  // elements that do not cancel

// At least half of the magnitudes have so many bits, or more.
int bits(const Shares& s) {
  return s.parts > 1 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(s.width + 1))) - 1;
}

void count_bits(ProductBudget& w, const Load& load, const Free& free) {
  if (!w.exists || w.active_pairs > 0 || load.blocks == 0) return;
  const bool single = load.matched == 0;
  const std::int64_t blocks = std::min(single ? load.blocks : load.matched, w.active_blocks);
  const std::int64_t wide = single ? blocks : load.pairs / 2;  // pairs of one kind, in all blocks
  const std::int64_t chosen = free.perturbed * blocks;         // pairs that do not cancel
  // Of two pairs one is of each kind; where the result is narrow, of two pairs of a block, and one kind only
  // cancels.
  const auto most = [&](const int* kind, bool both) {
    return single ? kind[2] : both ? std::max(kind[0], kind[1]) : kind[0];
  };
  int plain[3], perturbed[3], term[3];
  for (int i = 0; i < 3; ++i) {
    plain[i] = bits(w.plain[i]), perturbed[i] = bits(w.perturbed[i]);
    term[i] = plain[i] && perturbed[i] ? plain[i] + perturbed[i] - 1 : 0;
  }
  if (chosen >= kEnough && free.plain * std::min(wide, chosen / 2) >= kEnough)
    w.plain_bits = most(plain, !w.narrow);
  if (chosen >= kEnough && (single || w.narrow || wide > 0)) w.perturbed_bits = most(perturbed, !w.narrow);
  if (free.plain * free.perturbed >= kEnough && std::min(free.plain, free.perturbed) * wide >= kEnough)
    w.term_bits = most(term, !w.narrow || load.pairs > load.matched);
}

int bits(std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))); }

// All long magnitudes are odd and have so many bits; columns of either kind there are where there are two. Of
// piled pairs at least half are open in the middle of the block; another half is for those that chance puts
// elsewhere.
void count_long_bits(ProductBudget& w, const Load& load, const Free& free) {
  const Long& l = w.lengths;
  if (free.perturbed < 2) return;
  w.plain_bits = bits(least_long(l.plain)), w.perturbed_bits = bits(least_long(l.perturbed));
  const std::int64_t plain = least_long(l.plain) * least_long(l.with_plain),
                     perturbed = least_long(l.perturbed) * least_long(l.with_perturbed);
  const std::int64_t piled = l.piled * least_long(l.piled_plain) * least_long(l.piled_perturbed) / 4;
  // Of four terms alone, two pairs, the even ones may come first: nothing rounds.
  if (free.plain * (free.perturbed / 2) >= kEnough && (l.alone || load.two_pairs > 2))
    w.term_bits = bits(std::max({plain, perturbed, piled}));
}

int all_bits(const ProductBudget& w) { return w.plain_bits + w.perturbed_bits + w.term_bits; }

}  // namespace

ProductBudget product_budget(const Case& c, int perturbed, const Load& load, const Free& free) {
  Budget b = budget(c, perturbed, parted_freely(c), unit(c));
  ProductBudget even = budgets(b, load, {});
  if (!even.exists) {  // too narrow: exact as the operands are cut is better than nothing
    b = budget(c, perturbed, false, unit(c));
    even = budgets(b, load, {});
  }
  if (!even.exists && b.integer) {  // no even split of them: exact for who leaves values whole
    even = budgets(budget(c, perturbed, false, {1, 0, true}), load, {});
    even.exists = false;
  }
  if (!even.exists) even.unit = {1, 0, false};
  count_bits(even, load, free);
  const Long lengths = long_terms(b, load);
  if (!even.exists || even.active_pairs > 0 || lengths.plain == 0) return even;
  ProductBudget uneven = budgets(b, load, lengths);
  if (!uneven.exists || uneven.active_pairs > 0 || uneven.active_blocks < load.blocks) return even;
  count_long_bits(uneven, load, free);
  return all_bits(uneven) > all_bits(even) ? uneven : even;
}

}  // namespace plumb
