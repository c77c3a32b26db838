#include "reference/bytes/bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "reference/bytes/family.h"
#include "reference/bytes/free_layouts.h"
#include "reference/bytes/grouped.h"
#include "reference/bytes/move.h"
#include "reference/bytes/quantize.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

Move move(const Case& c) { return {c.mesh, c.op.operands[0], result(c), c.rule}; }

BestKnown best_reshard(const Case& c) {
  const Spec& from = c.op.operands[0];
  const std::string family =
      parts(c.mesh, from) == 1 ? "each element is sent straight to every device that lacks it"
      : from.reduction == Reduce::sum
          ? "each sum is added up on one device that needs it and sent on from there"
          : fmt::format("each {} is taken on one device that needs it and sent on from there",
                        name(from.reduction));
  return {cheapest_bytes(move(c), c.wire), family};
}

// Where the result may be left.
std::vector<Spec> ends(const Case& c, const Spec& made) {
  return result(c).free ? layouts_left(c.mesh, made) : std::vector<Spec>{result(c)};
}

std::string left_as(const Case& c, const Spec& end) {
  return result(c).free ? ", the result left as " + print(c.mesh, end) : "";
}

BestKnown best_free_reshard(const Case& c) {
  BestKnown best;
  for (const Spec& end : ends(c, c.op.operands[0])) {
    const BestKnown known = best_reshard(with_result(c, end));
    if (best.family.empty() || known.bytes < best.bytes) best = {known.bytes, known.family + left_as(c, end)};
  }
  return best;
}

BestKnown best_product(const Case& c) {
  const Words letters = words(c.op);
  const bool einsum = std::holds_alternative<Einsum>(c.op.kind);
  Split best;
  Spec end;
  Moved least;
  bool found = false;
  const std::vector<Split> all = splits(c, letters);
  if (all.empty())
    return {-1, fmt::format("more than {} ways to split the work, none is tried", most_splits)};
  for (const Split& split : all)
    for (const Spec& to : ends(c, layout(c, letters, split, 2))) {
      const Case& with = result(c).free ? with_result(c, to) : c;
      const Moved moved =
          einsum ? moved_in_einsum(with, letters, split) : moved_in_grouped(with, letters, split);
      if (found && moved.operands[0] + moved.operands[1] >= least.all()) break;  // no end will be cheaper
      if (found && moved.all() >= least.all()) continue;
      best = split, end = to, least = moved, found = true;
    }
  return {least.all(),
          fmt::format("the work split {}{}: lhs moves {} bytes, rhs {}, the result {}", print(c.mesh, best),
                      left_as(c, end), least.operands[0], least.operands[1], least.result)};
}

// Codes move in place of values; the scales that blocks take along are not counted.
BestKnown best_quantized_product(const Case& c) {
  Case coded = c;
  std::int64_t magnitudes = 0;
  for (int i : {0, 1}) {
    Spec& spec = coded.op.operands[i];
    if (spec.scheme == Scheme::none) continue;
    magnitudes += magnitude_bytes(c, spec, *tiles(c.op, i));
    spec.dtype = codes_of(spec.scheme);
    spec.scheme = Scheme::none;
  }
  BestKnown best = best_product(coded);
  if (best.bytes < 0) return best;
  best.bytes += magnitudes;
  best.family += fmt::format("; largest magnitudes move {} bytes", magnitudes);
  return best;
}

}  // namespace

std::int64_t least_bytes(const Case& c) {
  std::int64_t least = least_bytes(move(c), c.wire);
  for (std::size_t i = 0; i + 1 < c.op.chain.size(); ++i)
    if (parts(c.mesh, c.op.chain[i]) > 1) least = std::min<std::int64_t>(least, format(c.wire).bytes);
  return least;
}

std::vector<std::int64_t> fewest_bytes(const Case& c) {
  if (!is_reshard(c) || result(c).free) return {};
  std::vector<std::int64_t> fewest = fewest_elements(move(c));
  for (std::int64_t& n : fewest) n *= least_bytes(c);
  return fewest;
}

BestKnown best_known(const Case& c) {
  if (!c.sub.empty()) {
    const std::int64_t n = std::ssize(slices(c));
    const BestKnown one = best_known(slice_case(c));
    if (one.bytes < 0) return one;
    return {n * one.bytes, fmt::format("in each of {} slices, {}", n, one.family)};
  }
  if (is_quantize(c)) return best_quantize(c);
  if (!is_reshard(c)) return quantizes(c.op) ? best_quantized_product(c) : best_product(c);
  return result(c).free ? best_free_reshard(c) : best_reshard(c);
}

}  // namespace plumb
