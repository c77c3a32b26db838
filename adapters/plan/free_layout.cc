#include "adapters/plan/free_layout.h"

#include "adapters/plan/grid.h"
#include "adapters/plan/intersections.h"

namespace plumb {

Spec free_layout(const Mesh& mesh, const Spec& from, Rule rule) {
  const Spec whole = finished(from);
  if (axes_size(mesh, from.unfinished) == 1) return whole;
  std::vector<Spec> all;
  const AxisSet splits = roles(from, from).before;
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    all.push_back(whole);
    for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.axes.size()); ++axis)
      if (!contains(splits, axis)) all.back().dims[d].axes.push_back(axis);
  }
  all.push_back(whole);
  const Spec* best = nullptr;
  std::int64_t least = 0;
  for (const Spec& to : all) {
    const Volume v = volume(mesh, from, to, rule);
    if (best && v.summed + v.copied >= least) continue;
    best = &to, least = v.summed + v.copied;
  }
  return *best;
}

}  // namespace plumb
