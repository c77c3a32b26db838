// Where the blocks of two layouts meet.
#pragma once

#include <vector>

#include "adapters/plan/grid.h"
#include "reference/words/spec.h"

namespace plumb {

// The axes of a reshard by what becomes of them.
struct Roles {
  AxisSet before = 0;  // split a dimension of the source
  AxisSet after = 0;   // split a dimension of the target
  AxisSet summed = 0;  // unfinished in the source, finished in the target
  AxisSet kept = 0;    // unfinished in both
  AxisSet fresh = 0;   // unfinished in the target alone
};
Roles roles(const Spec& from, const Spec& to);

// The devices concerned with a part of the array that lies in one block of each layout, as positions
// to which offsets along the axes not named are added:
//   holders   it lies in their source block                    pins `before`
//   wanters   it belongs into their target block               pins `after` and `fresh`
//   nearest   holders that share with the wanter every axis    wanters without the coordinates on
//             that splits nothing in the source                `before`: add `holders` to it
//   summands  the same without the axes that are summed
struct Concerned {
  std::int64_t holders = 0, wanters = 0, nearest = 0, summands = 0;
  Concerned& operator+=(const Concerned& p) {
    holders += p.holders, wanters += p.wanters, nearest += p.nearest, summands += p.summands;
    return *this;
  }
};

// One dimension's non-empty intersections of a source piece and a target piece.
struct Overlap {
  Range range;
  Concerned place;
};
std::vector<Overlap> overlaps(const Grid&, const Roles&, const std::vector<Dim>& pair, Rule);

// Calls run(box, place) for every intersection of a source block with a target block, row-major. They
// tile the array.
template <class Run>
void each_meeting(const std::vector<std::vector<Overlap>>& dims, Run&& run) {
  const int rank = static_cast<int>(dims.size());
  std::vector<Range> box(rank);
  std::vector<Concerned> sums(rank + 1);
  std::vector<std::size_t> at(rank, 0);
  for (const auto& dim : dims)
    if (dim.empty()) return;
  for (int d = 0;;) {
    for (; d < rank; ++d) {
      const Overlap& o = dims[d][at[d]];
      box[d] = o.range;
      (sums[d + 1] = sums[d]) += o.place;
    }
    run(box, sums[rank]);
    for (d = rank - 1; d >= 0 && ++at[d] == dims[d].size(); --d) at[d] = 0;
    if (d < 0) return;
  }
}

// All dimensions of a reshard.
struct FromTo {
  const Spec &from, &to;
};
std::vector<std::vector<Overlap>> meetings(const Grid&, const Roles&, const FromTo&, Rule);

}  // namespace plumb
