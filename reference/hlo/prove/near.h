// How near draws come to where comparisons of floats turn.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "reference/hlo/prove/twin.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// By how much the sides of a comparison were apart at least, where the left one is less and where it is
// greater: of the larger of both or, where one is zero, as it is. And how large a side ever was.
struct Apart {
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  std::array<double, 2> part{kNever, kNever}, number{kNever, kNever};
  double largest = 0;
  // Of what was rounded all differences may be whole numbers from one another. Then none is nearer than the
  // last on either side: another limit in between decides nothing else.
  std::optional<Twin> first{};
  bool whole = true;  // all that were met are, from the first
  std::array<bool, 2> last{};
  bool by_ones() const { return first && whole; }
  // Of the farther side, in parts; 0 where nothing can be nearer, kNever where it was on one side alone.
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

// Where the left side is greater, and where one that is the same counts as that: of x >= y and x < y.
bool is_greater(const Instruction&, const Twin& left, const Twin& right);
bool is_same(const Twin&, const Twin&);  // and not zero
// Whether one less, or more, is on the other side.
bool is_last(const Instruction&, Twin left, const Twin& right);

// Calls f(left, right, place) of all places of a comparison.
template <typename F>
void each_place(const std::vector<Value<Twin>>& operands, F f) {
  static const Array<Twin> kZero{Type::f32, {}, 1, {}, {Twin{}}, {}};
  const bool of_zero = operands.size() == 1;
  const Array<Twin>&a = *operands[0].array, &b = of_zero ? kZero : *operands[1].array;
  const std::int64_t size = count(a.dims);
  const auto& holders = a.lanes > 1 ? a.holders : b.holders;
  const std::int64_t lanes = std::max(a.lanes, b.lanes), devices = holders ? std::ssize(*holders) : lanes;
  for (std::int64_t device = 0; device < devices; ++device) {
    const Twin* left = a.reals.data() + begin_on(a, device, size);
    const Twin* right = b.reals.data() + begin_on(b, device, size);
    for (std::int64_t n = 0; n < size; ++n) f(left[n], right[of_zero ? 0 : n], device * size + n);
  }
}

}  // namespace plumb::hlo
