#include "adapters/rank/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "reference/words/tensor.h"

namespace plumb {
namespace {

// Calls run(i, tile) for every element of a dense block.
template <class Run>
void each_tile(const Tiles& tiles, const Blocks& r, std::int64_t device, Run&& run) {
  const Slice slice = r.slice(device);
  std::vector<std::int64_t> at;
  for (const Range& range : slice) at.push_back(range.begin);
  const std::int64_t n = r.elements(device);
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t tile = 0;
    for (std::size_t d = 0; d < at.size() && tile >= 0; ++d) {
      const std::int64_t along = tiles.along[d][at[d]];
      tile = along < 0 ? -1 : tile * tiles.count[d] + along;
    }
    run(i, tile);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < slice[d].end) break;
      at[d] = slice[d].begin;
    }
  }
}

std::vector<AxisId> splitting(const Spec& spec) {
  std::vector<AxisId> axes;
  for (const Dim& dim : spec.dims) axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  return axes;
}

bool has(const std::vector<AxisId>& axes, AxisId axis) { return std::ranges::count(axes, axis) > 0; }

// Powers of two from the bits of amax / largest, in f32, as hardware does it.
float block_scale(float amax, DType codes, Scaling scaling) {
  const float ratio = amax * (1.0f / static_cast<float>(format(codes).largest));
  std::uint32_t bits;
  std::memcpy(&bits, &ratio, 4);
  if (scaling == Scaling::down) {  // OCP MX 1.0: the exponent of amax less that of the largest code
    const int exponent = amax > 0 ? std::ilogb(amax) - std::ilogb(format(codes).largest) : -127;
    return std::ldexp(1.0f, std::max(exponent, -127));
  }
  if ((bits & 0x7fffff) != 0) bits += 1u << 23;
  const int code = std::clamp(static_cast<int>(bits >> 23 & 0xff), 0, 254);
  return std::ldexp(1.0f, (ratio < 0x1p-126f ? ratio > 0x1p-127f : code) - 127);
}

float tensor_scale(float amax, float otherwise, DType codes) {
  if (!(amax > 0) || !std::isfinite(amax)) return otherwise;
  return std::min(static_cast<float>(format(codes).largest) / amax,
                  static_cast<float>(format(DType::f32).largest));
}

void put_scale(const Quantizer& q, float amax, std::vector<float>& of_values, std::vector<float>& of_codes) {
  const DType codes = codes_of(q.scheme);
  if (q.scaling == Scaling::none) {
    of_values.push_back(1), of_codes.push_back(1);
  } else if (in_blocks(q.scheme)) {
    of_codes.push_back(block_scale(amax, codes, q.scaling));
    of_values.push_back(1 / of_codes.back());
  } else {
    of_values.push_back(tensor_scale(amax, 1, codes));
    const bool quotient = q.scaling == Scaling::quotient && amax > 0;
    of_codes.push_back(quotient ? amax / static_cast<float>(format(codes).largest) : 1 / of_values.back());
  }
}

const std::vector<float>& known(const Mesh& mesh, const Scales& s,
                                const std::vector<std::vector<float>>& lists, std::int64_t device) {
  return lists[coordinate(mesh, s.apart, device)];
}

// Scales asked of a device, and of how many of them it has a value.
std::int64_t missing(const Quantizer& q, const Slice& values, const Slice& asked) {
  std::int64_t all = 1, held = 1;
  for (std::size_t d = 0; d < values.size(); ++d) {
    const Range wanted = d < asked.size() ? asked[d] : Range{0, q.tiles.count[d]};
    std::set<std::int64_t> mine;
    for (std::int64_t i = values[d].begin; i < values[d].end; ++i)
      if (const std::int64_t tile = q.tiles.along[d][i]; wanted.begin <= tile && tile < wanted.end)
        mine.insert(tile);
    all *= wanted.size(), held *= std::ssize(mine);
  }
  return all - held;
}

}  // namespace

Magnitudes magnitudes(const Mesh& mesh, const Quantizer& q, const Blocks& x) {
  Magnitudes m;
  for (AxisId axis : splitting(x.spec))
    if (!has(q.axes, axis)) m.apart.push_back(axis);
  // A magnitude along an axis that splits nothing is everywhere the same: nothing is learned there.
  m.most.assign(axes_size(mesh, m.apart), std::vector<float>(size(q.tiles), 0));
  for (std::int64_t device = x.own.begin; device < x.own.end; ++device) {
    const std::vector<double> values = values_of(x, device);
    std::vector<float>& most = m.most[coordinate(mesh, m.apart, device)];
    each_tile(q.tiles, x, device, [&](std::int64_t i, std::int64_t tile) {
      if (tile < 0) return;
      const float magnitude = std::fabs(static_cast<float>(values[i]));
      if (!(magnitude <= most[tile])) most[tile] = magnitude;
    });
  }
  return m;
}

// Tiles and pieces are made dimension by dimension: a tile lies on as many pieces as its ranges do,
// multiplied.
std::int64_t shared_tiles(const Mesh& mesh, const Quantizer& q, const Spec& values, Rule rule) {
  std::int64_t held = 1, by_one = 1;
  for (std::size_t d = 0; d < values.dims.size(); ++d) {
    const Dim& dim = values.dims[d];
    std::vector<std::int64_t> pieces(q.tiles.count[d], 0), last(q.tiles.count[d], -1);
    for (std::int64_t p = 0; p < axes_size(mesh, dim.axes); ++p) {
      const Range range = piece(mesh, dim, rule, p);
      for (std::int64_t i = range.begin; i < range.end; ++i)
        if (const std::int64_t tile = q.tiles.along[d][i]; tile >= 0 && last[tile] != p)
          ++pieces[tile], last[tile] = p;
    }
    held *= std::ranges::count_if(pieces, [](std::int64_t n) { return n > 0; });
    by_one *= std::ranges::count(pieces, 1);
  }
  return held - by_one;
}

Scales scales(const Quantizer& q, const Magnitudes& m) {
  Scales s{m.apart, {}, {}};
  for (const std::vector<float>& most : m.most) {
    s.of_values.emplace_back(), s.of_codes.emplace_back();
    for (float amax : most) put_scale(q, amax, s.of_values.back(), s.of_codes.back());
  }
  return s;
}

Scales given(float scale) { return {{}, {{scale}}, {{1 / scale}}}; }

void to_codes(const Mesh& mesh, const Quantizer& q, const Scales& s, const Blocks& values, Blocks& out) {
  const double largest = format(out.stored).largest;
  for (std::int64_t device = out.own.begin; device < out.own.end; ++device) {
    const std::vector<float>& scale = known(mesh, s, q.divides ? s.of_codes : s.of_values, device);
    std::vector<double> all = values_of(values, device);
    each_tile(q.tiles, values, device, [&](std::int64_t i, std::int64_t tile) {
      const float x = static_cast<float>(all[i]);
      const float scaled = tile < 0 ? 0 : q.divides ? x / scale[tile] : x * scale[tile];
      all[i] = std::isnan(scaled) ? scaled : std::clamp<double>(scaled, -largest, largest);
      if (q.ties_away) all[i] = std::nextafter(all[i], std::copysign(2 * largest, all[i]));
    });
    put_values(out, device, all);
  }
}

void from_codes(const Mesh& mesh, const Quantizer& q, const Scales& s, const Blocks& codes, Blocks& out) {
  for (std::int64_t device = out.own.begin; device < out.own.end; ++device) {
    const std::vector<float>& scale = known(mesh, s, s.of_codes, device);
    std::vector<double> all = values_of(codes, device);
    each_tile(q.tiles, codes, device, [&](std::int64_t i, std::int64_t tile) {
      all[i] = tile < 0 ? 0 : static_cast<float>(all[i]) * scale[tile];
    });
    put_values(out, device, all);
  }
}

void lay_out(const Mesh& mesh, const Scales& s, Blocks& out) {
  const std::vector<std::int64_t> sizes = shape(out.spec);
  for (std::int64_t device = out.own.begin; device < out.own.end; ++device) {
    const std::vector<float>& scale = known(mesh, s, s.of_codes, device);
    std::vector<double> mine;
    each_run(sizes, out.slice(device), [&](std::int64_t whole, std::int64_t, std::int64_t count) {
      mine.insert(mine.end(), scale.begin() + whole, scale.begin() + whole + count);
    });
    put_values(out, device, mine);
  }
}

std::int64_t missing_scales(const Mesh& mesh, const Quantizer& q, Rule rule, const Relayout& layout) {
  std::int64_t moved = 0;
  for (std::int64_t device = 0; device < devices(mesh); ++device)
    moved += missing(q, block(mesh, layout.values, rule, device), block(mesh, layout.result, rule, device));
  return moved;
}

std::vector<Delayed> delayed(const Mesh& mesh, const Quantizer& q, const Magnitudes& m, const Past& past) {
  const auto& [history, scale] = past;
  std::vector<Delayed> all;
  for (std::int64_t device = history.own.begin; device < history.own.end; ++device) {
    const std::vector<double> before = values_of(history, device);
    Delayed d{
        {before.begin(), before.end()},
        scale
    };
    d.history[0] = m.most[coordinate(mesh, m.apart, device)][0];
    d.next = tensor_scale(*std::ranges::max_element(d.history), scale, codes_of(q.scheme));
    std::ranges::rotate(d.history, d.history.begin() + 1);
    d.history[0] = 0;
    all.push_back(std::move(d));
  }
  return all;
}

}  // namespace plumb
