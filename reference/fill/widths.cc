#include "reference/fill/widths.h"

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

// Where even factors of one unit are too many for the accumulator: some blocks, and some pairs of each,
// are zero, others for each column of the perturbed operand. A block of n pairs weighs at most 2 n + 3.
void thin_out(Widths& w, std::int64_t room) {
  w.active_blocks = std::min(w.active_blocks, room / 5);
  if (w.active_blocks == 0) {
    w.exists = false;
    return;
  }
  w.units = 1;
  w.active_pairs = (room / w.active_blocks - 3) / 2;
}

}  // namespace

Widths widths(const Case& c, int perturbed, const Load& load) {
  Widths w;
  w.unit = unit(c);
  const Spec &plain_spec = c.op.operands[1 - perturbed], &perturbed_spec = c.op.operands[perturbed];
  const std::int64_t plain_parts = parts(c.mesh, plain_spec), perturbed_parts = parts(c.mesh, perturbed_spec);
  const std::int64_t acc = capacity(c.acc) / w.unit.factor;
  const std::int64_t sum = capacity({c.acc, c.wire, result(c).dtype}) / w.unit.factor;
  const std::int64_t plain = holds(c, 1 - perturbed) / w.unit.factor;
  // The third member of a triple is twice as large: in floating point that is one exponent more.
  const std::int64_t other = holds(c, perturbed) / (format(perturbed_spec.dtype).integer ? 2 : 1);
  w.exists = w.unit.exists && plain > 0 && sum > 0;
  if (!w.exists || load.blocks == 0) return w;

  w.active_blocks = std::min(load.blocks, sum);
  w.units = between(sum / w.active_blocks / plain_parts, std::min(perturbed_parts, other / 2));
  std::int64_t room = acc / (load.weight + w.units * load.matched);
  if (room == 0) {
    thin_out(w, acc);
    room = 1;
  }
  if (!w.exists) return w;
  const std::int64_t block = sum / w.active_blocks;
  const Room matched{std::min(plain, block / w.units), other - w.units, room};
  // On a narrow wire blocks add little: the wide elements of the plain operand only ever cancel then, and
  // take the accumulator further.
  w.narrow = std::min(plain, room / 4) / 4 >= matched.plain;
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
                           : load.weight * largest_term + load.matched * w.units * largest_plain;
  w.carried *= w.active_blocks;
  return w;
}

namespace {

// At least half of the magnitudes have so many bits, or more.
int bits(const Shares& s) {
  return s.parts > 1 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(s.width + 1))) - 1;
}

}  // namespace

void count_bits(Widths& w, const Load& load, const Free& free) {
  if (!w.exists || w.active_pairs > 0 || load.blocks == 0) return;
  constexpr std::int64_t kEnough = 24;
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

}  // namespace plumb
