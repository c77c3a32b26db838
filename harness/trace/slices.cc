#include "harness/trace/slices.h"

namespace plumb {

std::optional<Slice> joined(const Block& block) {
  if (!block.claim) return std::nullopt;
  Slice slice;
  for (const std::vector<Range>& ranges : *block.claim) {
    std::optional<Range> whole;
    for (const Range& range : ranges) {
      if (range.size() == 0) continue;
      if (!whole)
        whole = range;
      else if (whole->end == range.begin)
        whole->end = range.end;
      else
        return std::nullopt;
    }
    slice.push_back(whole.value_or(Range{0, 0}));
  }
  return slice;
}

std::vector<Slice> held_slices(const Case& c, const Outcome& outcome, std::size_t r) {
  std::vector<Slice> slices(devices(c.mesh));
  if (!results(c)[r].free) {
    for (std::size_t d = 0; d < slices.size(); ++d)
      slices[d] = block(c.mesh, results(c)[r], c.rule, static_cast<std::int64_t>(d));
    return slices;
  }
  std::size_t said = 0;
  for (const Block& block : outcome.blocks) {  // a result that is free is the only one
    const auto slice = joined(block);
    if (!slice) return {};
    slices[block.device] = *slice, ++said;
  }
  if (said != slices.size()) return {};
  return slices;
}

}  // namespace plumb
