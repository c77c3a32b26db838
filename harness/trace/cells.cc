#include "harness/trace/cells.h"

#include <algorithm>
#include <set>

namespace plumb {

bool contains(const Slice& outer, const Slice& inner) {
  for (std::size_t d = 0; d < outer.size(); ++d)
    if (inner[d].begin < outer[d].begin || inner[d].end > outer[d].end) return false;
  return true;
}

std::optional<Cells> cells_of(const std::vector<Slice>& begins, const std::vector<Slice>& ends,
                              std::int64_t most) {
  const std::size_t rank = ends.front().size();
  std::vector<std::set<std::int64_t>> cuts(rank);
  const auto cut = [&](const Slice& slice) {
    for (std::size_t d = 0; d < rank && elements(slice) > 0; ++d)
      cuts[d].insert({slice[d].begin, slice[d].end});
  };
  for (const Slice& slice : begins) cut(slice);
  for (const Slice& slice : ends) cut(slice);
  const auto all_devices = static_cast<std::int64_t>(ends.size());
  std::int64_t count = 1;
  for (const auto& of_dim : cuts) {
    count *= std::max<std::int64_t>(1, std::ssize(of_dim) - 1);
    if (count > most / all_devices) return std::nullopt;
  }
  std::vector<Slice> boxes{{}};
  for (const auto& of_dim : cuts) {
    std::vector<Slice> longer;
    for (const Slice& box : boxes)
      for (auto at = of_dim.begin(); at != of_dim.end() && std::next(at) != of_dim.end(); ++at)
        longer.push_back(box), longer.back().push_back({*at, *std::next(at)});
    boxes = std::move(longer);
  }
  Cells all{std::move(boxes), {}};
  for (const Slice& box : all.boxes) {
    std::vector<std::int64_t>& needers = all.needers.emplace_back();
    for (std::int64_t device = 0; device < all_devices; ++device)
      if (contains(ends[device], box)) needers.push_back(device);
  }
  return all;
}

}  // namespace plumb
