#include "reference/meaning/quantize.h"

#include <cmath>

#include "reference/meaning/meaning.h"
#include "reference/meaning/scale.h"

namespace plumb {
namespace {

void put(Tensor& t, std::int64_t i, std::uint64_t bits) {
  store(t.dtype, t.bytes.data() + i * format(t.dtype).bytes, bits);
}

void put_value(Tensor& t, std::int64_t i, double value) { put(t, i, encode(t.dtype, value)); }

// What values are multiplied by, of each tile, and what codes are.
struct Scales {
  std::vector<double> of_values;
  Tensor of_codes;
};

Scales scales(Scheme scheme, const std::vector<double>& amax) {
  const std::int64_t n = std::ssize(amax);
  Scales s{{}, zeros(scales_of(scheme), {n})};
  for (std::int64_t i = 0; i < n; ++i) {
    if (in_blocks(scheme)) {
      put(s.of_codes, i, block_scale(amax[i], codes_of(scheme)));
      s.of_values.push_back(1 / value(s.of_codes, i));
    } else {
      s.of_values.push_back(current_scale(amax[i], codes_of(scheme)));
      put_value(s.of_codes, i, 1 / s.of_values[i]);
    }
  }
  return s;
}

Tensor codes(const Tensor& x, DType dtype, const std::vector<std::int64_t>& tile,
             const std::vector<double>& scale) {
  Tensor c = zeros(dtype, x.shape);
  for (std::int64_t i = 0; i < elements(x.shape); ++i)
    if (tile[i] >= 0) put(c, i, code(dtype, value(x, i), scale[tile[i]]));
  return c;
}

}  // namespace

std::vector<std::int64_t> tile_of_each(const Tiles& tiles, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> tile{0};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(tile.size() * shape[d]);
    for (std::int64_t outer : tile)
      for (std::int64_t along : tiles.along[d])
        next.push_back(outer < 0 || along < 0 ? -1 : outer * tiles.count[d] + along);
    tile = std::move(next);
  }
  return tile;
}

std::vector<double> largest_magnitudes(const Tensor& x, const Tiles& tiles) {
  std::vector<double> amax(size(tiles), 0);
  const std::vector<std::int64_t> tile = tile_of_each(tiles, x.shape);
  for (std::int64_t i = 0; i < std::ssize(tile); ++i) {
    if (tile[i] < 0) continue;
    const double magnitude = std::fabs(value(x, i));
    if (magnitude > amax[tile[i]] || std::isnan(magnitude)) amax[tile[i]] = magnitude;
  }
  return amax;
}

Quantized quantized(const Tensor& x, Scheme scheme, const Tiles& tiles) {
  Scales s = scales(scheme, largest_magnitudes(x, tiles));
  return {codes(x, codes_of(scheme), tile_of_each(tiles, x.shape), s.of_values), std::move(s.of_codes)};
}

namespace {

bool fits_f32(const Quantized& q) {
  if (q.scales.dtype != DType::e8m0) return false;
  const double most = format(DType::f32).largest / format(q.codes.dtype).largest;
  for (std::int64_t i = 0; i < elements(q.scales.shape); ++i)
    if (value(q.scales, i) > most) return false;
  return true;
}

}  // namespace

Tensor dequantized(const Quantized& q, const Tiles& tiles) {
  const std::vector<std::int64_t> tile = tile_of_each(tiles, q.codes.shape);
  Tensor x = zeros(fits_f32(q) ? DType::f32 : DType::f64, q.codes.shape);
  for (std::int64_t i = 0; i < std::ssize(tile); ++i)
    if (tile[i] >= 0) put_value(x, i, value(q.codes, i) * value(q.scales, tile[i]));
  return x;
}

namespace {

// Delayed scaling uses the scale that it is given, and gives the next one: the magnitude of now takes the
// first place of the history, the scale comes from its largest, then the history moves on by one place.
std::vector<Tensor> delayed(const Case& c, const std::vector<Tensor>& operands) {
  const DType dtype = result(c).dtype;
  const Tensor &x = operands[0], &before = operands[1];
  const Tiles tiles = plumb::tiles(c.op);
  const double scale = value(operands[2], 0);
  Tensor inverse = zeros(DType::f32, {}), next = inverse, history = before;
  put_value(inverse, 0, 1 / scale);

  const double now = largest_magnitudes(x, tiles)[0];
  double most = now;
  const std::int64_t length = before.shape[0];
  for (std::int64_t i = 1; i < length; ++i) most = std::max(most, value(before, i));
  for (std::int64_t i = 0; i < length; ++i)
    put_value(history, i, i == 0 ? 0 : i + 1 == length ? now : value(before, i + 1));
  put_value(next, 0, next_scale(most, scale, dtype));
  return {codes(x, dtype, tile_of_each(tiles, x.shape), {scale}), inverse, history, next};
}

}  // namespace

std::vector<Tensor> quantize(const Case& c, const std::vector<Tensor>& operands) {
  if (operands.size() == 3) return delayed(c, operands);
  Quantized q = quantized(operands[0], std::get<Quantize>(c.op.kind).scheme, tiles(c.op));
  q.scales.shape = shape(c.op.chain[1]);
  return {std::move(q.codes), std::move(q.scales)};
}

}  // namespace plumb
