#include "reference/hlo/prove/unfinished.h"

#include <algorithm>
#include <optional>

namespace plumb::hlo {
namespace {

// The devices that hold the same tile as the first: a part each of what is left unreduced.
Integers first_group(const Division& division) {
  Integers all;
  for (std::size_t device = 0; device < division.shares.size(); ++device)
    if (division.shares[device].tile == division.shares[0].tile)
      all.push_back(static_cast<std::int64_t>(device));
  return all;
}

}  // namespace

const Computation& home(const Module& module, const Instruction* is) {
  const auto has = [&](const Computation& c) {
    return std::ranges::any_of(c.instructions, [&](const Instruction& i) { return &i == is; });
  };
  return *std::ranges::find_if(module.computations, has);
}

std::string parts_left(const std::string& name, std::int64_t parts, const Integers& devices) {
  constexpr std::size_t kShown = 4;
  std::string text =
      "no all-reduce: %" + name + " is left as " + std::to_string(parts) + " parts, on devices ";
  for (std::size_t n = 0; n < std::min(devices.size(), kShown); ++n)
    text += (n ? "," : "") + std::to_string(devices[n]);
  return text + (devices.size() > kShown ? ",..." : "");
}

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
    if (left && left->parts > made->parts) return parts_left(operand.name, left->parts, first_group(*left));
  }
  return {};
}

}  // namespace plumb::hlo
