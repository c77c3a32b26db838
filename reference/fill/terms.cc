#include "reference/fill/terms.h"

#include <algorithm>
#include <array>

#include "reference/fill/term_runs.h"

namespace plumb {
namespace {

const Matching& matching_at(Terms& t, const Spot& spot) {
  if (spot.block >= static_cast<std::int64_t>(t.known.size())) t.known.resize(spot.block + 1);
  Matching& m = t.known[spot.block];
  if (m.cell != spot.cell || m.volume != spot.volume) {
    m = matching(spot.volume, matching_key(t.at, spot.cell, spot.block));
    m.cell = spot.cell;
  }
  return m;
}

}  // namespace

TermsAt terms_of(const Recipe& r, const Product& p, int operand, std::int64_t part) {
  const bool perturbed = operand == p.perturbed;
  return {
      p.budget,
      {p.blocks_of_cell.data(), std::ssize(p.blocks_of_cell)},
      {p.long_block.data(),     std::ssize(p.long_block)    },
      part,
      perturbed,
      perturbed ? 1.0 : std::ldexp(static_cast<double>(p.budget.unit.factor), p.budget.unit.exponent),
      key(r.seed, operand, perturbed ? kPerturbed : kPlain),
      mix(key(r.seed, operand, kPartOfTerm) + kGolden * static_cast<std::uint64_t>(part)),
      key(r.seed, 0, kChosen),
      key(r.seed, 0, kBlock),
      key(r.seed, 0, kMatching),
      mix(key(r.seed, operand, kTail) + kGolden * static_cast<std::uint64_t>(part)),
      std::max<std::int64_t>(1, capacity(r.sources[operand].dtype) / r.sources[operand].parts)
  };
}

Terms::Terms(const Recipe& r, const Product& p, const Portion& portion)
    : at(terms_of(r, p, portion.operand, portion.part)) {}

void along_free(Terms& terms, Spot spot, std::int64_t count, double* out) {
  const TermsAt& t = terms.at;
  const Matching& matching = matching_at(terms, spot);
  spot.distance = matching.distance;
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
  const ProductBudget& w = t.budget;
  if (is_long(t, m) && has_long(t, spot)) {
    if (t.perturbed) return each([&](auto i, auto h) { return long_perturbed(t, at(i), m, h); });
    return each([&](auto i, auto h) { return long_plain(t, at(i), m, h); });
  }
  if (made_at_once(t, spot)) return free_run(t, spot, m, count, out);
  if (!t.perturbed) return each([&](auto, auto h) { return plain_term(t, spot, m, h); });
  if (m.extra || w.active_pairs > 0 || of_cell(t.blocks_of_cell, spot) > w.active_blocks)
    return each(
        [&](auto i, auto h) { return perturbed_term(t, spot, m, column(t, spot, spot.free + i), h); });
  each([&](auto, auto h) { return perturbed_term(t, spot, m, {}, h); });
}

namespace {

// Loops make all of them, and what is long is made anew.
void contracted_at_once(const TermsAt& t, const Matching& matching, Spot spot, std::int64_t count,
                        double* out) {
  std::array<std::int64_t, kAtOnce> numbers;
  const bool some_long = has_long(t, spot);
  const std::int64_t last_long = 2 * (2 + t.budget.lengths.piled);  // or one before it
  for (std::int64_t done = 0; done < count; done += kAtOnce) {
    const std::int64_t some = std::min(kAtOnce, count - done);
    number_run(matching, spot, some, numbers.data());
    contracted_run(t, spot, numbers.data(), some, out + done);
    for (std::int64_t i = 0; some_long && i < some; ++i) {
      if (numbers[i] > last_long || !is_long(t, member(spot.volume, numbers[i]))) continue;
      Spot here = spot;
      here.term += i * spot.step;
      out[done + i] = term_at(t, here, numbers[i]);
    }
    spot.term += some * spot.step;
  }
}

}  // namespace

void along_contracted(Terms& terms, Spot spot, std::int64_t count, double* out) {
  const TermsAt& t = terms.at;
  const Matching& matching = matching_at(terms, spot);
  spot.distance = matching.distance;
  if (made_at_once(t, spot)) return contracted_at_once(t, matching, spot, count, out);
  const std::int64_t advance = product_mod(matching.step, spot.step, spot.volume);
  const std::uint64_t base = item_key(t, spot, 0);
  const Column col = t.perturbed ? column(t, spot, spot.free) : Column{};
  const bool some_long = has_long(t, spot);
  std::int64_t number = number_at(matching, spot.term);
  Spot here = spot;
  for (std::int64_t i = 0; i < count; ++i, here.term += spot.step) {
    const Member m = member(spot.volume, number);
    const std::uint64_t h = mix(base + times(kGolden, m.item));
    if (some_long && is_long(t, m))
      out[i] = t.perturbed ? long_perturbed(t, here, m, h) : long_plain(t, here, m, h);
    else
      out[i] = t.perturbed ? perturbed_term(t, spot, m, col, h) : plain_term(t, spot, m, h);
    number += advance;
    number -= number >= spot.volume ? spot.volume : 0;
  }
}

void along_tail(const Terms& terms, const Spot& spot, std::int64_t count, double* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = tail_at(terms.at, spot.term, spot.free + i);
}

}  // namespace plumb
