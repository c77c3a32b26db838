#include "reference/hlo/prove/unfinished.h"

#include <algorithm>
#include <optional>

namespace plumb::hlo {
namespace {

const Computation& home(const Module& module, const Instruction* is) {
  const auto has = [&](const Computation& c) {
    return std::ranges::any_of(c.instructions, [&](const Instruction& i) { return &i == is; });
  };
  return *std::ranges::find_if(module.computations, has);
}

// The devices that hold the same tile as the first: a part each of what is left unreduced.
std::string first_group(const Division& division) {
  constexpr int kShown = 4;
  std::string text;
  int found = 0;
  for (std::size_t device = 0; device < division.shares.size(); ++device) {
    if (division.shares[device].tile != division.shares[0].tile) continue;
    if (found < kShown) text += (found ? "," : "") + std::to_string(device);
    ++found;
  }
  return text + (found > kShown ? ",..." : "");
}

}  // namespace

std::string sum_left_by(const Module& module, const Instruction& finishes) {
  const auto parts = [&](const Instruction& i) -> std::optional<Division> {
    if (i.sharding.empty() || i.shape.type == Type::tuple) return std::nullopt;
    return divide(i.sharding[0], i.shape.dims.size(), module.partitions);
  };
  const auto made = parts(finishes);
  if (!made) return {};
  const Computation& c = home(module, &finishes);
  for (const std::int64_t n : finishes.operands) {
    const Instruction& operand = c.instructions[static_cast<std::size_t>(n)];
    const auto left = parts(operand);
    if (left && left->parts > made->parts)
      return "no all-reduce: %" + operand.name + " is left as " + std::to_string(left->parts) +
             " parts, on devices " + first_group(*left);
  }
  return {};
}

}  // namespace plumb::hlo
