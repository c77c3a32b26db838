#include "reference/meaning/testing/laws.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "reference/words/text.h"

namespace plumb {
namespace {

// 0, 1, 2, ...: every element says where it came from.
Tensor counted(const Spec& spec) {
  Tensor whole = zeros(DType::s32, shape(spec));
  for (std::int64_t i = 0; i < elements(whole.shape); ++i) store(DType::s32, whole.bytes.data() + 4 * i, i);
  return whole;
}

using List = std::vector<std::int64_t>;

List keep(const List& list, std::int64_t pieces, std::int64_t which) {
  const auto size = static_cast<std::int64_t>(list.size()), step = (size + pieces - 1) / pieces;
  List kept;
  for (std::int64_t i = 0; i < size; ++i)
    if (step > 0 && i / step == which) kept.push_back(list[i]);
  return kept;
}

List cut_lists(const MeshSpec& layout, const Dim& dim, const std::vector<std::int64_t>& at) {
  List list(dim.size);
  std::iota(list.begin(), list.end(), 0);
  std::int64_t pieces = 1, which = 0;
  for (AxisId axis : dim.axes) {
    const std::int64_t size = layout.mesh.axes[axis].size;
    if (layout.rule == Rule::nested) list = keep(list, size, at[axis]);
    pieces *= size;
    which = which * size + at[axis];
  }
  return layout.rule == Rule::nested ? list : keep(list, pieces, which);
}

// The data, an array or its parts one after another, as they come back when every device has cut its block
// out of them.
Tensor through(const MeshSpec& layout, const Tensor& data) {
  std::vector<std::int64_t> sizes = shape(layout.spec);
  sizes.insert(sizes.begin(), parts(layout.mesh, layout.spec));
  Tensor back = zeros(data.dtype, data.shape);
  std::vector<std::byte> held(data.bytes.size());
  Slice slice;
  for (std::int64_t device = 0; device < devices(layout.mesh); ++device) {
    const std::int64_t p = part(layout.mesh, layout.spec, device);
    slice.assign(1, {p, p + 1});
    std::ranges::copy(block(layout.mesh, layout.spec, layout.rule, device), std::back_inserter(slice));
    std::ranges::fill(held, std::byte{});
    cut(sizes, slice, data.bytes.data(), held.data(), format(data.dtype).bytes);
    paste(sizes, slice, held.data(), back.bytes.data(), format(data.dtype).bytes);
  }
  return back;
}

Case reshard_case(const MeshSpec& layout, const Spec& from, const Spec& to) {
  Case c{
      layout.mesh, {Reshard{}, {from}, {to}},
       layout.rule
  };
  c.acc = default_acc(c.op);
  return c;
}

}  // namespace

std::string print(const MeshSpec& layout) {
  return print(layout.mesh) + ": " + print(layout.mesh, layout.spec) +
         (layout.rule == Rule::nested ? " nested" : "");
}

std::string breaks_tiling(const MeshSpec& layout, const BlockFunction& block_of) {
  std::vector<AxisId> splitting;
  for (const Dim& dim : layout.spec.dims) splitting.insert(splitting.end(), dim.axes.begin(), dim.axes.end());
  const std::vector<std::int64_t> sizes = shape(layout.spec);
  for (const auto& group : fibres(layout.mesh, splitting)) {
    std::vector<char> held(elements(sizes), 0);
    for (std::int64_t device : group) {
      const Slice slice = block_of(layout.mesh, layout.spec, layout.rule, device);
      for (std::size_t d = 0; d < sizes.size(); ++d)
        if (slice[d].begin < 0 || slice[d].end < slice[d].begin || slice[d].end > sizes[d])
          return print(layout) + ": device " + std::to_string(device) + " lies outside, " + print(slice);
      each_run(sizes, slice, [&](std::int64_t at, std::int64_t, std::int64_t n) {
        for (std::int64_t i = at; i < at + n; ++i) ++held[i];
      });
    }
    for (std::size_t i = 0; i < held.size(); ++i)
      if (held[i] != 1)
        return print(layout) + ": element " + std::to_string(i) + " is held " + std::to_string(held[i]) +
               " times";
  }
  return {};
}

std::string breaks_cuts(const MeshSpec& layout, const BlockFunction& block_of) {
  for (std::int64_t device = 0; device < devices(layout.mesh); ++device) {
    const Slice slice = block_of(layout.mesh, layout.spec, layout.rule, device);
    const std::vector<std::int64_t> at = coordinates(layout.mesh, device);
    for (std::size_t d = 0; d < slice.size(); ++d) {
      const List want = cut_lists(layout, layout.spec.dims[d], at);
      List got(slice[d].size());
      std::iota(got.begin(), got.end(), slice[d].begin);
      if (got != want) return print(layout) + ": device " + std::to_string(device) + " holds " + print(slice);
    }
  }
  return {};
}

std::string breaks_round_trip(const MeshSpec& layout, const ShardFunction& shard_of) {
  const Tensor whole = counted(layout.spec);
  Spec spec = layout.spec;
  spec.dtype = DType::s32;
  const std::vector<Tensor> blocks = shard_of(layout.mesh, spec, layout.rule, whole);
  for (std::size_t device = 0; device < blocks.size(); ++device) {
    const Slice slice = block(layout.mesh, spec, layout.rule, static_cast<std::int64_t>(device));
    for (std::size_t d = 0; d < slice.size(); ++d)
      if (blocks[device].shape[d] != slice[d].size())
        return print(layout) + ": the block of device " + std::to_string(device) + " has another shape";
  }
  if (assemble(layout.mesh, spec, layout.rule, blocks) == whole) return {};
  return print(layout) + ": assembled is not what was sharded";
}

std::string breaks_parts(const MeshSpec& layout) {
  std::vector<std::int64_t> holders(parts(layout.mesh, layout.spec), 0);
  for (std::int64_t device = 0; device < devices(layout.mesh); ++device)
    ++holders.at(part(layout.mesh, layout.spec, device));
  for (std::int64_t n : holders)
    if (n * std::ssize(holders) != devices(layout.mesh)) return print(layout) + ": parts are held unequally";
  return {};
}

Tensor deal(const MeshSpec& layout, const Tensor& whole, std::mt19937_64& random) {
  if (layout.spec.unfinished.empty()) return whole;
  const std::int64_t n = elements(whole.shape), count = parts(layout.mesh, layout.spec);
  std::vector<std::int64_t> sizes = whole.shape;
  sizes.insert(sizes.begin(), count);
  Tensor dealt = zeros(DType::s32, sizes);
  if (layout.spec.reduction != Reduce::sum) {
    for (std::int64_t i = 0; i < n * count; ++i) {
      const auto value = static_cast<std::int32_t>(bits(whole, i % n));
      const auto less = i / n == i % n % count ? 0 : 1 + static_cast<std::int32_t>(random() % 1000);
      store(DType::s32, dealt.bytes.data() + 4 * i,
            static_cast<std::uint32_t>(layout.spec.reduction == Reduce::max ? value - less : value + less));
    }
    return dealt;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    auto rest = static_cast<std::uint32_t>(bits(whole, i));
    for (std::int64_t p = 1; p < count; ++p) {
      const auto share = static_cast<std::uint32_t>(random());
      store(DType::s32, dealt.bytes.data() + 4 * (p * n + i), share);
      rest -= share;
    }
    store(DType::s32, dealt.bytes.data() + 4 * i, rest);
  }
  return dealt;
}

std::string breaks_chain(const MeshSpec& layout, const Chain& chain, std::mt19937_64& random) {
  const MeshSpec first{layout.mesh, chain.from, layout.rule}, middle{layout.mesh, chain.by, layout.rule};
  const Tensor start = deal(first, counted(chain.from), random);
  const Tensor direct = evaluate(reshard_case(layout, chain.from, chain.to), {start});
  const Tensor half = evaluate(reshard_case(layout, chain.from, chain.by), {start});
  const Tensor moved = through(middle, deal(middle, half, random));
  const Tensor after = evaluate(reshard_case(layout, chain.by, chain.to), {moved});
  if (after == direct && direct == counted(chain.to)) return {};
  return print(first) + " -> " + print(layout.mesh, chain.by) + " -> " + print(layout.mesh, chain.to) +
         ": not its ends";
}

std::vector<Mesh> small_meshes(int most) {
  std::vector<Mesh> all{Mesh{}};
  const char* names[] = {"x", "y", "z"};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::ssize(all[i].axes) == most) continue;
    for (std::int64_t size : {2, 3, 5}) {
      Mesh longer = all[i];
      longer.axes.push_back({names[longer.axes.size()], size});
      all.push_back(longer);
    }
  }
  all.erase(all.begin());
  return all;
}

std::vector<std::vector<std::int64_t>> shapes_for(const Mesh& mesh, int rank) {
  const std::int64_t n = devices(mesh);
  switch (rank) {
    case 1:
      return {{2 * n}, {n - 1}, {n + 1}, {7}, {4}, {1}, {0}};
    case 2:
      return {
          {n, n},
          {7, 4},
          {2, 9},
          {1, 1},
          {0, 3}
      };
    default:
      return {
          {n, n, 2},
          {5, 3, 7},
          {2, 4, 1},
          {3, 0, 2}
      };
  }
}

}  // namespace plumb
