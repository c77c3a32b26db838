#include "reference/fill/term_runs.h"

#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr std::int64_t kLanes = 8;

const Shares* shares_of(const TermsAt& t) { return t.perturbed ? t.budget.perturbed : t.budget.plain; }

// The elements of one member: their hashes are those of `base` and what follows along the free dimension.
struct Alike {
  std::uint64_t base, parts;
  std::int64_t width;
  double factor;
};
PLUMB_CLONES void alike(const Alike& all, std::int64_t count, double* out) {
  const auto [base, parts, width, factor] = all;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t h = mix(base + times(kFree, i));
    out[i] = factor * static_cast<double>(sign_of(h) * (1 + below_short(remix(h, parts), width)));
  }
}

// They are larger in the columns that draw the member's pair.
struct Drawn {
  std::uint64_t base;
  std::int64_t item;
  Choice choice;
};
PLUMB_CLONES void drawn_by_columns(const Alike& all, const Drawn& drawn, std::int64_t count, double* out) {
  const auto [base, parts, width, factor] = all;
  const auto [column, item, choice] = drawn;
  const auto [first, step, among, units] = choice;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t h = mix(base + times(kFree, i)), d = mix(column + times(kFree, i));
    const std::int64_t more = first + step * below_short(d, among) == item ? units : 0;
    out[i] = factor * static_cast<double>(sign_of(h) * (1 + below_short(remix(h, parts), width) + more));
  }
}

// What terms of one free index in one block have in common; `turn` makes the class of an item.
struct Crossing {
  std::uint64_t base, parts;
  std::int64_t volume, turn, even, odd;
  double unit;
  std::int64_t chosen, units;
};

template <bool perturbed>
PLUMB_INLINE void cross(const Crossing& all, const std::int64_t* numbers, std::int64_t count, double* out) {
  const auto [base, parts, volume, turn, even, odd, unit, chosen, units] = all;
  for (std::int64_t i = 0; i < count; ++i) {
    const Member m = member(volume, numbers[i]);
    const std::uint64_t h = mix(base + times(kGolden, m.item));
    std::int64_t magnitude = 1 + below_short(remix(h, parts), (m.item + turn) & 1 ? odd : even);
    if (perturbed) magnitude += m.extra && m.item == chosen ? units : 0;
    out[i] = (perturbed ? m.weight : unit) * static_cast<double>(sign_of(h) * magnitude);
  }
}
PLUMB_CLONES void cross_plain(const Crossing& all, const std::int64_t* numbers, std::int64_t count,
                              double* out) {
  cross<false>(all, numbers, count, out);
}
PLUMB_CLONES void cross_perturbed(const Crossing& all, const std::int64_t* numbers, std::int64_t count,
                                  double* out) {
  cross<true>(all, numbers, count, out);
}

// Each number from the one that lies kLanes before it.
PLUMB_CLONES void advance(std::int64_t volume, std::int64_t by, std::int64_t* numbers) {
  for (std::int64_t i = kLanes; i < kAtOnce; ++i) {
    const std::int64_t n = numbers[i - kLanes] + by;
    numbers[i] = n - (n >= volume ? volume : 0);
  }
}

}  // namespace

bool made_at_once(const TermsAt& t, const Spot& spot) {
  constexpr std::int64_t most = std::int64_t{1} << 32;
  const Shares* s = shares_of(t);
  return spot.volume > 1 && spot.volume < most && s[0].parts == 1 && s[0].width < most && s[1].width < most &&
         t.budget.active_pairs == 0 && of_cell(t.blocks_of_cell, spot) <= t.budget.active_blocks;
}

void free_run(const TermsAt& t, const Spot& spot, const Member& m, std::int64_t count, double* out) {
  const Alike all{item_key(t, spot, m.item), t.parts, shares_of(t)[class_of(t, spot, m.item)].width,
                  t.perturbed ? m.weight : t.unit};
  const Choice c = choice(t, spot);
  if (!t.perturbed || !m.extra || c.among == 0) return alike(all, count, out);
  drawn_by_columns(all, {column_key(t, spot, spot.free), m.item, c}, count, out);
}

void number_run(const Matching& m, const Spot& spot, std::int64_t count, std::int64_t* numbers) {
  const std::int64_t volume = spot.volume, next = product_mod(m.step, spot.step, volume);
  std::int64_t number = number_at(m, spot.term);
  for (std::int64_t i = 0; i < kLanes; ++i) {
    numbers[i] = number;
    number += next, number -= number >= volume ? volume : 0;
  }
  if (count > kLanes) advance(volume, product_mod(next, kLanes, volume), numbers);
}

void contracted_run(const TermsAt& t, const Spot& spot, const std::int64_t* numbers, std::int64_t count,
                    double* out) {
  const Shares* s = shares_of(t);
  const Column col = t.perturbed ? column(t, spot, spot.free) : Column{};
  const Crossing all{item_key(t, spot, 0),
                     t.parts,
                     spot.volume,
                     t.budget.narrow ? 0 : spot.block + spot.cell,
                     s[0].width,
                     s[1].width,
                     t.unit,
                     col.chosen,
                     col.units};
  (t.perturbed ? cross_perturbed : cross_plain)(all, numbers, count, out);
}

}  // namespace plumb
