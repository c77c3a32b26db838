#include "harness/judge/blocks.h"

#include <fmt/format.h>

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

bool same(const Slice& a, const Slice& b) { return a == b || (elements(a) == 0 && elements(b) == 0); }

Held held(const Case& c, const Block& block, const Read& read) {
  Held held{block.device, plumb::block(c.mesh, result(c), c.rule, block.device), joined(block), {}};
  held.bytes.resize(block.bytes);
  if (!held.bytes.empty()) read(block, held.bytes);
  return held;
}

std::string coordinates_text(const Mesh& mesh, std::int64_t device) {
  std::string text;
  const std::vector<std::int64_t> at = coordinates(mesh, device);
  for (std::size_t a = 0; a < at.size(); ++a)
    text += fmt::format("{}{}={}", a > 0 ? "," : "", mesh.axes[a].name, at[a]);
  return text;
}

}  // namespace plumb
