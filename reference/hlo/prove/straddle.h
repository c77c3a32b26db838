// Two draws near where a comparison of floats turns, one on either side: they show whatever stands in the
// place of what is compared there, another limit or a part of a sum, for that is on one side in both.
#pragma once

#include <array>
#include <optional>

#include "reference/hlo/prove/bounds.h"
#include "reference/hlo/prove/near.h"
#include "reference/hlo/run/machine.h"

namespace plumb::hlo {

// The arguments of two draws of one seed, in which a comparison is near where it turns, with the left side
// less, and greater; whether a result shows which, where that could be asked.
struct Straddle {
  std::uint64_t seed;
  std::array<std::vector<Bounds>, 2> draws;
  std::optional<bool> shown{};
};

// The same, four times as far from each other for each step.
std::array<std::vector<Bounds>, 2> farther(const Straddle&, int steps);

// What is looked for, and in how many runs of the module at most; those that were needed are taken off.
struct Approach {
  const Module& module;
  const std::vector<Bounds>& bounds;
  const Instruction* at;
  Apart known;  // by other draws
  std::uint64_t seed;
  Pulse pulse;
  int& runs;
};
std::optional<Straddle> straddle(const Approach&);

}  // namespace plumb::hlo
