#include "harness/diagnose/scale_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/judge/judge.h"
#include "harness/trace/slices.h"
#include "reference/meaning/meaning.h"
#include "reference/meaning/quantize.h"

namespace plumb {
namespace {

// How an operand may have been scaled: by the parts along `axes`, and whether their scales were mixed up.
struct Scaling {
  std::vector<AxisId> axes;  // none: as wanted
  bool mixed = false;
};

// The tiles cut further, at the edges of the parts along `axes`.
Tiles parts_of(const Case& c, const Spec& spec, Tiles tiles, const std::vector<AxisId>& axes) {
  for (std::size_t d = 0; d < spec.dims.size(); ++d) {
    const std::vector<AxisId> along = shared(spec.dims[d].axes, axes);
    const std::int64_t count = axes_size(c.mesh, along);
    for (std::int64_t& tile : tiles.along[d]) tile *= tile < 0 ? 1 : count;
    for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
      const Range range = piece(c.mesh, spec.dims[d], c.rule, coordinate(c.mesh, spec.dims[d].axes, device));
      for (std::int64_t i = range.begin; i < range.end; ++i)
        if (tiles.along[d][i] >= 0)
          tiles.along[d][i] = tiles.along[d][i] / count * count + coordinate(c.mesh, along, device);
    }
    tiles.count[d] *= count;
  }
  return tiles;
}

// The tile of a device's own part, where there was one tile.
std::int64_t own_tile(const Case& c, const Spec& spec, const std::vector<AxisId>& axes, std::int64_t device) {
  std::int64_t tile = 0;
  for (const Dim& dim : spec.dims) {
    const std::vector<AxisId> along = shared(dim.axes, axes);
    tile = tile * axes_size(c.mesh, along) + coordinate(c.mesh, along, device);
  }
  return tile;
}

// The values that a device takes an operand for.
Tensor taken_for(const WantedAll& wanted, int operand, const Scaling& scaling, std::int64_t device) {
  const Spec& spec = wanted.c.op.operands[operand];
  const Tiles cut = parts_of(wanted.c, spec, *tiles(wanted.c.op, operand), scaling.axes);
  Quantized q = quantized(wanted.operands[operand], spec.scheme, cut);
  const std::int64_t width = format(q.scales.dtype).bytes;
  const std::vector<std::byte> all = q.scales.bytes;
  const std::int64_t own = own_tile(wanted.c, spec, scaling.axes, device);
  for (std::int64_t tile = 0; scaling.mixed && tile < size(cut); ++tile)
    std::memcpy(q.scales.bytes.data() + tile * width, all.data() + own * width, width);
  return dequantized(q, cut);
}

// Whether the devices at the place of `device` along the axes that are mixed hold what would follow. Of the
// others the judge is shown what it wants.
bool passes(const WantedAll& wanted, const Outcome& outcome, const std::vector<Scaling>& scalings,
            std::int64_t device, const std::pair<Read, Declared>& seen) {
  Plain other = plain(wanted.c, wanted.operands);
  std::vector<AxisId> mixed;
  for (std::size_t i = 0; i < scalings.size(); ++i) {
    if (scalings[i].axes.empty()) continue;
    other.operands[i] = taken_for(wanted, static_cast<int>(i), scalings[i], device);
    if (scalings[i].mixed) mixed.insert(mixed.end(), scalings[i].axes.begin(), scalings[i].axes.end());
  }
  const Tensor whole = evaluate(other.c, other.operands);
  const auto read = [&](const Block& block, std::span<std::byte> into) {
    seen.first(block, into);
    const Slice slice =
        joined(block).value_or(plumb::block(other.c.mesh, result(other.c), other.c.rule, block.device));
    const int bytes = format(whole.dtype).bytes;
    if (coordinate(other.c.mesh, mixed, block.device) != coordinate(other.c.mesh, mixed, device) &&
        elements(slice) * bytes == std::ssize(into))
      cut(whole.shape, slice, whole.bytes.data(), into.data(), bytes);
  };
  // Scales of parts are no powers of two: what follows rounds, within a bound. Its statistics say nothing
  // here.
  const Certificate rounds{Certificate::Scope::none, ""};
  const Verdict verdict = judge(Wanted{other.c, other.operands, whole, rounds}, outcome, read, seen.second);
  return std::ranges::none_of(verdict.facts, [](const Fact& f) {
    return f.status == Status::leaked || f.status == Status::misplaced ||
           (f.status == Status::wrong && f.place && f.place->elements > 0);
  });
}

std::vector<Scaling> scalings_of(const WantedAll& wanted, int operand) {
  constexpr std::size_t most_sets = 3;
  const Spec& spec = wanted.c.op.operands[operand];
  std::vector<Scaling> all{{}};
  std::vector<AxisId> axes;
  for (const Dim& dim : spec.dims)
    for (AxisId axis : dim.axes)
      if (wanted.c.mesh.axes[axis].size > 1) axes.push_back(axis);
  if (spec.scheme == Scheme::none || in_blocks(spec.scheme) || axes.size() > most_sets) return all;
  const bool one = size(*tiles(wanted.c.op, operand)) == 1;
  for (std::size_t set = 1; set < std::size_t{1} << axes.size(); ++set) {
    Scaling s;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (set >> i & 1) s.axes.push_back(axes[i]);
    all.push_back(s);
    s.mixed = true;
    if (one) all.push_back(s);
  }
  return all;
}

Explanation explained(const Case& c, const std::vector<Scaling>& scalings) {
  Explanation all;
  for (std::size_t i = 0; i < scalings.size(); ++i) {
    if (scalings[i].axes.empty()) continue;
    Cause& cause = all.causes.emplace_back(Cause{scalings[i].mixed ? "own_scale_for_all" : "scale_of_part"});
    cause.axes = axis_names(c.mesh, scalings[i].axes);
    cause.operand = static_cast<int>(i);
  }
  return all;
}

}  // namespace

std::vector<Explanation> other_scales(const WantedAll& wanted, const Outcome& outcome, const Read& read,
                                      const Declared& declared) {
  // Beyond this an explanation would cost more than the verdict.
  constexpr std::int64_t most_elements = 1 << 16;
  if (declared.data_none || wanted.operands.size() != 2 || !result(wanted.c).unfinished.empty() ||
      elements(wanted.wholes.front().shape) > most_elements)
    return {};
  const std::pair<Read, Declared> seen{read, declared};
  const std::vector<Scaling> right = scalings_of(wanted, 1);
  for (const Scaling& l : scalings_of(wanted, 0))
    for (const Scaling& r : right) {
      const std::vector<Scaling> both{l, r};
      if (l.axes.empty() && r.axes.empty()) continue;
      bool all = true;
      for (std::int64_t device = 0; all && device < devices(wanted.c.mesh); ++device)
        if (all = passes(wanted, outcome, both, device, seen); !l.mixed && !r.mixed) break;
      if (all) return {explained(wanted.c, both)};
    }
  return {};
}

}  // namespace plumb
