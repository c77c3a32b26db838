#include "reference/bytes/free_layouts.h"

#include <utility>

#include "reference/bytes/move.h"

namespace plumb {
namespace {

constexpr std::size_t most_layouts = 1024;

// The axes that split nothing.
std::vector<AxisId> idle_axes(const Mesh& mesh, const Spec& spec) {
  std::vector<AxisId> idle;
  for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.axes.size()); ++axis) {
    bool splits = false;
    for (const Dim& dim : spec.dims) splits = splits || contains(dim.axes, axis);
    if (!splits && mesh.axes[axis].size > 1) idle.push_back(axis);
  }
  return idle;
}

}  // namespace

std::vector<Spec> layouts_left(const Mesh& mesh, const Spec& made) {
  const Spec whole = finished(made);
  if (parts(mesh, made) == 1) return {whole};
  const std::vector<AxisId> idle = idle_axes(mesh, made);
  std::vector<Spec> all{whole};
  for (std::size_t i = 0; i < idle.size(); ++i) {
    std::vector<Spec> longer;
    for (std::size_t d = 0; d <= whole.dims.size(); ++d)
      for (const Spec& spec : all) {
        longer.push_back(spec);
        if (d < whole.dims.size()) longer.back().dims[d].axes.push_back(idle[i]);
      }
    if (longer.size() > most_layouts) break;
    all = std::move(longer);
  }
  return all;
}

Case with_result(const Case& c, const Spec& spec) {
  Case with = c;
  with.op.chain.back() = spec;
  return with;
}

}  // namespace plumb
