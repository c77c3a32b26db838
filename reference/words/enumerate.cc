#include "reference/words/enumerate.h"

#include <cassert>

namespace plumb {
namespace {

struct Listing {
  std::size_t axes = 0;
  bool unfinished = false;
  std::vector<Spec> specs;
};

// Gives the axes from `axis` on to `spec` in every way.
void each_spec(Listing& all, Spec spec, AxisId axis) {
  if (axis == static_cast<AxisId>(all.axes)) {
    all.specs.push_back(std::move(spec));
    return;
  }
  each_spec(all, spec, axis + 1);
  for (std::size_t d = 0; d < spec.dims.size(); ++d) {
    for (std::size_t at = 0; at <= spec.dims[d].axes.size(); ++at) {
      Spec split = spec;
      split.dims[d].axes.insert(split.dims[d].axes.begin() + static_cast<std::ptrdiff_t>(at), axis);
      each_spec(all, std::move(split), axis + 1);
    }
  }
  if (!all.unfinished) return;
  spec.unfinished.push_back(axis);
  each_spec(all, std::move(spec), axis + 1);
}

void resolve_defaults(Case& c) {
  c.acc = default_acc(c.op);
  c.wire = default_wire(c.op);
  c.fill = default_fill(c.op);
}

}  // namespace

std::vector<Spec> all_specs(const Mesh& mesh, DType dtype, const std::vector<std::int64_t>& shape,
                            bool unfinished) {
  Spec whole{dtype, {}, {}};
  for (std::int64_t size : shape) whole.dims.push_back({size, {}});
  Listing all{mesh.axes.size(), unfinished, {}};
  each_spec(all, std::move(whole), 0);
  return std::move(all.specs);
}

std::int64_t count(const Choices& choices) {
  std::int64_t n = 1;
  for (const std::vector<Spec>& specs : choices.specs) n *= static_cast<std::int64_t>(specs.size());
  return n;
}

Case nth(const Choices& choices, std::int64_t n) {
  assert(0 <= n && n < count(choices));
  Case c = choices.like;
  std::vector<Spec> chosen(choices.specs.size());
  for (std::size_t i = chosen.size(); i-- > 0;) {
    const auto size = static_cast<std::int64_t>(choices.specs[i].size());
    chosen[i] = choices.specs[i][n % size];
    n /= size;
  }
  c.op.chain = {std::move(chosen.back())};
  chosen.pop_back();
  c.op.operands = std::move(chosen);
  resolve_defaults(c);
  return c;
}

Choices all_reshards(const Mesh& mesh, DType dtype, const std::vector<std::int64_t>& shape, bool unfinished) {
  const std::vector<Spec> specs = all_specs(mesh, dtype, shape, unfinished);
  Choices choices{
      {     },
      { specs, specs}
  };
  choices.like.mesh = mesh;
  return choices;
}

Choices all_matmuls(const Mesh& mesh, DType dtype, MatmulSize size) {
  Choices choices{
      {      },
      { all_specs(mesh, dtype, {size.m, size.k}, false), all_specs(mesh, dtype, {size.k, size.n}, false),
       all_specs(mesh, dtype, {size.m, size.n}, false)}
  };
  choices.like.mesh = mesh;
  choices.like.op.kind = Einsum{"mk", "kn", "mn"};
  return choices;
}

}  // namespace plumb
