#include "adapters/plan/cells.h"

#include <algorithm>

namespace plumb {

std::int64_t elements(const CellBoxes& cells, std::int64_t cell) {
  std::int64_t n = 1;
  const std::int64_t* box = cells.box(cell);
  for (int d = 0; d < cells.rank; ++d) n *= box[2 * d + 1] - box[2 * d];
  return n;
}

std::uint32_t append(CellBoxes& cells, const std::vector<Range>& box) {
  for (const Range& range : box) {
    cells.bounds.push_back(range.begin);
    cells.bounds.push_back(range.end);
  }
  return static_cast<std::uint32_t>(cells.count++);
}

std::vector<std::vector<Range>> cut_evenly(const std::vector<Range>& box, std::int64_t n) {
  std::vector<std::vector<Range>> all{box};
  for (std::size_t d = 0; d < box.size() && n > 1; ++d) {
    const std::int64_t pieces = std::min(n, box[d].size());
    if (pieces == 0) return {};
    std::vector<std::vector<Range>> next;
    next.reserve(all.size() * pieces);
    for (const auto& whole : all)
      for (std::int64_t i = 0; i < pieces; ++i) {
        next.push_back(whole);
        next.back()[d] = {box[d].begin + box[d].size() * i / pieces,
                          box[d].begin + box[d].size() * (i + 1) / pieces};
      }
    all = std::move(next);
    n /= pieces;
  }
  return all;
}

}  // namespace plumb
