#include "harness/trace/infer_layout.h"

#include <algorithm>

#include "harness/trace/slices.h"
#include "reference/bytes/move.h"

namespace plumb {
namespace {

struct Search {
  const Case& c;
  std::vector<Slice> slices;
  Spec spec;
  int tries = 1 << 17;

  // Whether what a dimension is split over gives every device that holds anything its range.
  bool fits(std::size_t d) {
    --tries;
    for (std::int64_t device = 0; device < std::ssize(slices); ++device) {
      if (elements(slices[device]) == 0) continue;
      const std::int64_t at = coordinate(c.mesh, spec.dims[d].axes, device);
      if (piece(c.mesh, spec.dims[d], c.rule, at) != slices[device][d]) return false;
    }
    return true;
  }
  bool everywhere() const {
    for (std::int64_t device = 0; device < std::ssize(slices); ++device)
      if (!same(block(c.mesh, spec, c.rule, device), slices[device])) return false;
    return true;
  }
  bool used(AxisId axis) const {
    return c.mesh.axes[axis].size == 1 ||
           std::ranges::any_of(spec.dims, [&](const Dim& dim) { return contains(dim.axes, axis); });
  }
  // Splits this dimension over more axes, and the next ones, until all fit.
  bool from(std::size_t d) {
    if (d == spec.dims.size()) return everywhere();
    if (fits(d) && from(d + 1)) return true;
    for (AxisId axis = 0; axis < std::ssize(c.mesh.axes) && tries > 0; ++axis) {
      if (used(axis)) continue;
      spec.dims[d].axes.push_back(axis);
      if (from(d)) return true;
      spec.dims[d].axes.pop_back();
    }
    return false;
  }
};

}  // namespace

std::optional<Spec> layout_of_slices(const Case& c, const Outcome& outcome) {
  Search search{c, held_slices(c, outcome, 0), result(c)};
  if (search.slices.empty()) return std::nullopt;
  search.spec.free = false;
  if (!search.from(0)) return std::nullopt;
  return search.spec;
}

}  // namespace plumb
