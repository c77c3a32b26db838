// Boxes of the global array, and their shares.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/words/spec.h"

namespace plumb {

// 2 * rank bounds each: begin, end, begin, end, ...
struct CellBoxes {
  int rank = 0;
  std::int64_t count = 0;
  std::vector<std::int64_t> bounds;
  const std::int64_t* box(std::int64_t cell) const { return bounds.data() + cell * 2 * rank; }
};
std::int64_t elements(const CellBoxes&, std::int64_t cell);
std::uint32_t append(CellBoxes&, const std::vector<Range>& box);  // the index of the new cell

// At most n non-empty boxes that tile `box`, as equal as cutting along the dimensions, major first,
// makes them: [4,6] in 8 is four times two boxes of [1,3].
std::vector<std::vector<Range>> cut_evenly(const std::vector<Range>& box, std::int64_t n);

}  // namespace plumb
