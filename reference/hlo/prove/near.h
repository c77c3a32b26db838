// How near draws come to where comparisons of floats turn. Two draws that are near, one on either side, show
// whatever stands in the place of what is compared there, another limit or a part of a sum: that is on one
// side in both.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "reference/hlo/prove/bounds.h"
#include "reference/hlo/prove/twin.h"
#include "reference/hlo/run/array.h"
#include "reference/hlo/run/machine.h"

namespace plumb::hlo {

// By how much the sides of a comparison were apart at least, where the left one is less and where it is
// greater: of the larger of both or, where one is zero, as it is. And how large a side ever was.
struct Apart {
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  std::array<double, 2> part{kNever, kNever}, number{kNever, kNever};
  double largest = 0;
  // Of the farther side, in parts; kNever where it was on one side alone.
  double farther() const;
};
using Near = std::map<const Instruction*, Apart>;
void join(Near& to, const Near& from, bool directed);  // who draws for it says nothing of how large sides are

// What is farther off than this part is told. Draws are brought to within the other, by which a result is
// another too (compare.h), where double can tell what is so near.
constexpr double kNear = 0x1p-10, kNearest = 0x1p-20;

// Of a module, which of two floats is larger, where these are computed of some that are drawn; but within
// what reductions and sorts call. Two that are the same, and not zero, are as near as can be on the side that
// the comparison counts them to: of what is no less than the second largest one is just that.
struct Limits {
  std::set<const Instruction*> all;
  void note(const Instruction&, const std::vector<Value<Twin>>& operands, Near&) const;
};
Limits limits_of(const Module&);

// The arguments of two draws of one seed, in which a comparison is near where it turns, with the left side
// less, and greater; whether a result shows which.
struct Straddle {
  std::uint64_t seed;
  std::array<std::vector<Bounds>, 2> draws;
  bool shown = false;
};

// The same, four times as far from each other for each step.
std::array<std::vector<Bounds>, 2> farther(const Straddle&, int steps);

// What is looked for, and in how many runs of the module at most; those that were needed are taken off.
struct Approach {
  const Module& module;
  const std::vector<Bounds>& bounds;
  const Instruction* at;
  double largest;  // side in other draws
  std::uint64_t seed;
  Pulse pulse;
  int& runs;
};
std::optional<Straddle> straddle(const Approach&);

}  // namespace plumb::hlo
