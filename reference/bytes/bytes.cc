#include "reference/bytes/bytes.h"

#include <fmt/format.h>

#include "reference/bytes/family.h"
#include "reference/bytes/move.h"

namespace plumb {
namespace {

Move move(const Case& c) { return {c.mesh, c.op.operands[0], result(c), c.rule}; }

BestKnown best_reshard(const Case& c) {
  const bool summed = parts(c.mesh, c.op.operands[0]) > 1;
  return {cheapest_bytes(move(c), c.wire),
          summed ? "each sum is added up on one device that needs it and sent on from there"
                 : "each element is sent straight to every device that lacks it"};
}

BestKnown best_product(const Case& c) {
  const Words letters = words(c.op);
  const bool einsum = std::holds_alternative<Einsum>(c.op.kind);
  const std::vector<Split> plans = splits(c, letters);
  const Split* best = nullptr;
  Moved least;
  for (const Split& split : plans) {
    const Moved moved = einsum ? moved_in_einsum(c, letters, split) : moved_in_grouped(c, letters, split);
    if (best && moved.all() >= least.all()) continue;
    best = &split;
    least = moved;
  }
  return {least.all(), fmt::format("the work split {}: lhs moves {} bytes, rhs {}, the result {}",
                                   print(c.mesh, *best), least.operands[0], least.operands[1], least.result)};
}

}  // namespace

std::vector<std::int64_t> fewest_bytes(const Case& c) {
  if (!is_reshard(c)) return {};
  std::vector<std::int64_t> fewest = fewest_elements(move(c));
  for (std::int64_t& n : fewest) n *= least_bytes(move(c), c.wire);
  return fewest;
}

BestKnown best_known(const Case& c) { return is_reshard(c) ? best_reshard(c) : best_product(c); }

}  // namespace plumb
