// For tests: cases drawn at random, of every kind that the grammar has.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {

struct Random {
  std::mt19937_64 bits;
  // The sizes drawn of dimensions that are moved, that have a letter, that are quantized; the number of axes,
  // and the longest.
  std::vector<std::int64_t> moved{0, 1, 3, 8, 1024}, letters{0, 1, 2, 3, 4, 5, 6, 7, 8},
      quantized{0, 1, 31, 32, 80};
  std::int64_t axes = 4, longest_axis = 5;
  std::vector<std::int64_t> along{};  // the sizes drawn of axes, where they are not 1 to the longest
  std::int64_t groups = 4;            // the most of a grouped product
  bool any_sizes = false;             // of its groups; else they tend to fall
  bool narrow = false;                // floats of 8 bits, and some of 16
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class List>
  auto of(const List& list) {
    return *(std::begin(list) + below(std::ssize(list)));
  }
};

inline Mesh draw_mesh(Random& random) {
  const char* names[] = {"x", "y", "dp", "fsdp", "_a", "ids", "on", "nested", "Z9", "e_1"};
  Mesh mesh;
  for (std::int64_t n = 1 + random.below(random.axes); n > 0; --n) {
    const std::string name = random.of(names);
    if (std::ranges::find(mesh.axes, name, &Axis::name) == mesh.axes.end())
      mesh.axes.push_back(
          {name, random.along.empty() ? 1 + random.below(random.longest_axis) : random.of(random.along)});
  }
  if (random.one_in(3)) {
    for (std::int64_t d = 0; d < devices(mesh); ++d) mesh.place.push_back(d);
    std::shuffle(mesh.place.begin(), mesh.place.end(), random.bits);
    if (std::ranges::is_sorted(mesh.place)) mesh.place.clear();  // the identity is not kept
  }
  return mesh;
}

inline Spec draw_spec(Random& random, const Mesh& mesh, DType dtype, const std::vector<std::int64_t>& sizes) {
  Spec spec{dtype, {}, {}};
  for (std::int64_t size : sizes) spec.dims.push_back({size, {}});
  std::vector<AxisId> axes;
  for (AxisId a = 0; a < static_cast<AxisId>(mesh.axes.size()); ++a) axes.push_back(a);
  std::shuffle(axes.begin(), axes.end(), random.bits);
  for (AxisId axis : axes) {
    const std::int64_t where = random.below(std::ssize(sizes) + 2);
    if (where < std::ssize(sizes)) spec.dims[where].axes.push_back(axis);
    if (where == std::ssize(sizes) && dtype != DType::e8m0) spec.unfinished.push_back(axis);
  }
  return spec;
}

inline DType draw_dtype(Random& random, bool integer) {
  if (integer) return random.one_in(2) ? DType::s8 : DType::s32;
  if (random.narrow)
    return random.of(
        std::vector{DType::f8e4m3, DType::f8e5m2, DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16});
  return random.of(
      std::vector{DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32, DType::f64});
}

inline Op draw_reshard(Random& random, const Mesh& mesh) {
  std::vector<std::int64_t> sizes(random.below(4));
  for (std::int64_t& size : sizes) size = random.of(random.moved);
  const DType dtype = random.one_in(6) ? DType::e8m0 : draw_dtype(random, random.one_in(3));
  Op op{Reshard{}, {draw_spec(random, mesh, dtype, sizes)}, {}};
  const auto reduce = [&](Spec spec) {
    const std::int64_t how = random.below(4);
    if (how < 2 && !spec.unfinished.empty()) spec.reduction = how ? Reduce::max : Reduce::min;
    for (AxisId axis : spec.unfinished)
      if (how == 2 && !format(dtype).integer && random.one_in(2)) spec.averaged.push_back(axis);
    return spec;
  };
  op.operands[0] = reduce(op.operands[0]);
  for (std::int64_t n = 1 + random.below(3); n > 0; --n) {
    const Spec next = reduce(draw_spec(random, mesh, dtype, sizes));
    const Spec& before = op.chain.empty() ? op.operands[0] : op.chain.back();
    op.chain.push_back(reduced_alike(before, next) ? next : finished(next));
  }
  return op;
}

inline Op draw_einsum(Random& random, const Mesh& mesh) {
  Einsum einsum;
  std::vector<std::int64_t> size(128);
  for (char letter : std::string("mKbnz").substr(random.below(6))) {
    const std::int64_t where = random.below(4);
    size[letter] = random.of(random.letters);
    if (where != 1) einsum.lhs += letter;
    if (where != 0) einsum.rhs += letter;
    if (where != 2) einsum.out += letter;
  }
  const bool integer = random.one_in(3);
  const auto spec = [&](std::string& letters, DType dtype) {
    std::vector<std::int64_t> sizes;
    for (char letter : letters) sizes.push_back(size[letter]);
    return draw_spec(random, mesh, dtype, sizes);
  };
  for (std::string* letters : {&einsum.lhs, &einsum.rhs, &einsum.out})
    std::shuffle(letters->begin(), letters->end(), random.bits);
  Op op{
      {                 },
      {spec(einsum.lhs,    draw_dtype(random, integer)), spec(einsum.rhs, draw_dtype(random, integer))},
      {}
  };
  const DType out = draw_dtype(random, integer);
  for (std::int64_t n = 1 + random.below(2); n > 0; --n) op.chain.push_back(spec(einsum.out, out));
  op.kind = einsum;
  return op;
}

// Of each row a group, or none.
inline std::vector<std::int64_t> draw_sizes(Random& random, std::int64_t rows, std::int64_t groups) {
  std::vector<std::int64_t> sizes(groups + (random.one_in(2) ? 1 : 0));
  for (std::int64_t i = 0; i < rows; ++i) ++sizes[random.below(std::ssize(sizes))];
  sizes.resize(groups);
  return sizes;
}

inline Op draw_grouped(Random& random, const Mesh& mesh) {
  Grouped grouped{random.of(std::vector{Form::fwd, Form::dgrad, Form::wgrad}), {}};
  const std::int64_t lists = 1 + random.below(3), rows = random.of(random.letters);
  const std::int64_t groups = 1 + random.below(random.groups);
  const std::int64_t t = lists * rows, k = random.of(random.letters), n = random.of(random.letters);
  for (std::int64_t l = 0; l < lists; ++l) {
    std::vector<std::int64_t> sizes;
    if (random.any_sizes) {
      grouped.sizes.push_back(draw_sizes(random, rows, groups));
      continue;
    }
    for (std::int64_t left = rows, g = 0; g < groups; ++g) left -= sizes.emplace_back(random.below(left + 1));
    grouped.sizes.push_back(sizes);
  }
  const bool integer = random.one_in(3), wgrad = grouped.form == Form::wgrad;
  const std::int64_t first = grouped.form == Form::dgrad ? n : k, last = grouped.form == Form::dgrad ? k : n;
  using Sizes = std::vector<std::int64_t>;
  const auto spec = [&](const Sizes& sizes) {
    return draw_spec(random, mesh, draw_dtype(random, integer), sizes);
  };
  return {
      grouped,
      {spec({t, first}), wgrad ? spec({t, n}) : spec({groups, k, n})},
      {wgrad ? spec({groups, k, n}) : spec({t, last})               }
  };
}

// Sometimes a larger mesh of which that of the case, shuffled, is a submesh.
inline Mesh draw_parent(Random& random, Case& c) {
  Mesh parent = c.mesh;
  if (random.one_in(3)) {
    c.mesh.place.clear();
    parent = c.mesh;
    parent.axes.insert(parent.axes.begin() + random.below(std::ssize(parent.axes) + 1),
                       {"more", 1 + random.below(3)});
    for (const Axis& axis : c.mesh.axes)
      c.sub.push_back(static_cast<AxisId>(std::ranges::find(parent.axes, axis) - parent.axes.begin()));
    std::shuffle(c.sub.begin(), c.sub.end(), random.bits);
    Case named = c;
    named.mesh = parent;
    c.mesh = program_mesh(named);
  }
  return parent;
}

// Any names and axes: the mesh need not have them.
inline Op draw_resolve(Random& random) {
  const char* names[] = {"x", "y", "embed", "_a", "rules", "first", "Z9"};
  Resolve resolve;
  Spec spec{DType::f32, {}, {}};
  for (std::int64_t n = random.below(4); n > 0; --n) {
    spec.dims.push_back({random.below(9), {}});
    resolve.names.push_back(random.one_in(4) ? "" : random.of(names));
  }
  for (std::int64_t n = random.below(5); n > 0; --n) {
    AxisRule rule{
        random.of(names), random.of(std::vector{Value::none, Value::name, Value::tuple, Value::list}), {}};
    std::int64_t axes = rule.value == Value::none ? 0 : rule.value == Value::name ? 1 : random.below(4);
    for (; axes > 0; --axes) rule.axes.push_back(random.of(names));
    resolve.rules.push_back(std::move(rule));
  }
  return {std::move(resolve), {}, {std::move(spec)}};
}

inline Spec draw_finished(Random& random, const Mesh& mesh, DType dtype,
                          const std::vector<std::int64_t>& sizes) {
  Spec spec = draw_spec(random, mesh, dtype, sizes);
  spec.unfinished.clear();
  return spec;
}

inline Op draw_quantize(Random& random, const Mesh& mesh) {
  const Scheme scheme = random.of(std::vector{Scheme::fp8, Scheme::fp8e5, Scheme::mxfp8, Scheme::mxfp8e5});
  Quantize q{scheme, {}};
  std::vector<std::int64_t> x(1 + random.below(3));
  for (std::int64_t& size : x) size = random.of(random.quantized);
  if (random.one_in(2))
    q.sizes = {
        {x[0] / 2, 0, x[0] / 3}
    };
  std::vector<std::int64_t> scales;
  if (in_blocks(scheme)) {
    scales = x;
    std::int64_t& blocks = random.of(std::vector{&scales.front(), &scales.back()})[0];
    blocks = (blocks + kBlockSize - 1) / kBlockSize;
    if (!q.sizes.empty() && !tiles(q, x, scales)) q.sizes.clear();
  } else if (!q.sizes.empty()) {
    scales = {3};
  }
  Op op{
      q,
      {draw_finished(random, mesh, random.of(std::vector{DType::bf16, DType::f16, DType::f32}), x)},
      { draw_finished(random, mesh, codes_of(scheme), x),
        draw_finished(random, mesh, scales_of(scheme), scales)}
  };
  if (in_blocks(scheme) || !q.sizes.empty() || random.one_in(2)) return op;
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{16}, std::vector<std::int64_t>{}})
    for (std::vector<Spec>* specs : {&op.operands, &op.chain})
      specs->push_back(draw_finished(random, mesh, DType::f32, sizes));
  return op;
}

// Some operands of a product are quantized.
inline void draw_schemes(Random& random, Op& op) {
  for (int i = 0; i < std::ssize(op.operands) && op.operands.size() == 2; ++i) {
    Spec& spec = op.operands[i];
    const DType dtype = spec.dtype;
    if (dtype != DType::bf16 && dtype != DType::f16 && dtype != DType::f32) continue;
    if (!spec.unfinished.empty() || random.one_in(2)) continue;
    spec.scheme = random.of(std::vector{Scheme::fp8, Scheme::fp8e5, Scheme::mxfp8, Scheme::mxfp8e5});
    if (!tiles(op, i)) spec.scheme = Scheme::fp8;
  }
}

inline Case draw_case(Random& random) {
  Case c;
  c.mesh = draw_mesh(random);
  if (random.one_in(6)) {
    c.op = draw_resolve(random);
    return c;
  }
  const Mesh parent = draw_parent(random, c);
  c.op = random.one_in(5)   ? draw_quantize(random, c.mesh)
         : random.one_in(2) ? draw_reshard(random, c.mesh)
         : random.one_in(2) ? draw_einsum(random, c.mesh)
                            : draw_grouped(random, c.mesh);
  if (!is_quantize(c) && random.one_in(5)) {
    Spec& free = c.op.chain.back();
    free = finished(free);
    for (Dim& dim : free.dims) dim.axes.clear();
    free.free = true;
  }
  if (!is_quantize(c)) draw_schemes(random, c.op);
  const bool integer = format(c.op.operands[0].dtype).integer;
  c.rule = random.one_in(2) ? Rule::nested : Rule::flat;
  c.acc = default_acc(c.op);
  c.wire = default_wire(c.op);
  c.fill = default_fill(c.op);
  if (random.one_in(3) && !integer)
    c.acc = random.of(std::vector{DType::f16, DType::bf16, DType::f32, DType::f64});
  if (random.one_in(3)) c.wire = draw_dtype(random, integer);
  if (random.one_in(3) && !integer && c.op.operands[0].reduction == Reduce::sum &&
      (!quantizes(c.op) || (is_quantize(c) && c.op.operands.size() == 1)))
    c.fill = Fill::normal;
  if (random.one_in(3)) c.seed = random.bits() >> random.below(64);
  c.mesh = parent;
  for (std::vector<Spec>* specs : {&c.op.operands, &c.op.chain})
    for (Spec& spec : *specs)
      if (!c.sub.empty()) spec = renamed(spec, c.sub);
  return c;
}

}  // namespace plumb
