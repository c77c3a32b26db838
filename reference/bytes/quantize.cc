#include "reference/bytes/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reference/bytes/move.h"

namespace plumb {
namespace {

// How many pieces of one dimension have an index of each tile along it.
std::vector<std::int64_t> pieces_of_tiles(const Case& c, const Dim& dim,
                                          const std::vector<std::int64_t>& along, std::int64_t count) {
  std::vector<std::int64_t> pieces(count, 0), last(count, -1);
  for (std::int64_t p = 0; p < axes_size(c.mesh, dim.axes); ++p) {
    const Range range = piece(c.mesh, dim, c.rule, p);
    for (std::int64_t i = range.begin; i < range.end; ++i)
      if (along[i] >= 0 && last[along[i]] != p) last[along[i]] = p, ++pieces[along[i]];
  }
  return pieces;
}

std::int64_t copies(const Mesh& mesh, const Spec& spec) {
  std::int64_t n = devices(mesh);
  for (const Dim& dim : spec.dims) n /= axes_size(mesh, dim.axes);
  return n;
}

// The tiles along a dimension of which a range has an index.
std::set<std::int64_t> touched(const std::vector<std::int64_t>& along, Range range) {
  std::set<std::int64_t> all(along.begin() + range.begin, along.begin() + range.end);
  all.erase(-1);
  return all;
}

// Scales that the device is asked for and has no value of. A dimension that the scales lack has one tile.
std::int64_t scales_missing(const Case& c, const Tiles& tiles, std::int64_t device) {
  const Spec &x = c.op.operands[0], &scales = c.op.chain[1];
  const Slice have = block(c.mesh, x, c.rule, device), want = block(c.mesh, scales, c.rule, device);
  std::int64_t asked = 1, held = 1;
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    const Range tile = d < want.size() ? want[d] : Range{0, tiles.count[d]};
    const std::set<std::int64_t> mine = touched(tiles.along[d], have[d]);
    asked *= tile.size();
    held *= std::distance(mine.lower_bound(tile.begin), mine.lower_bound(tile.end));
  }
  return asked - held;
}

std::int64_t moved(const Case& c, const Spec& from, const Spec& to) {
  Spec source = from;
  source.dtype = to.dtype;
  return cheapest_bytes({c.mesh, source, to, c.rule}, to.dtype);
}

// Places of the old history that devices are asked for and lack: place i of the new one is i + 1 of the old,
// but for the first, which is 0, and the last, which is the magnitude of now.
std::int64_t places_missing(const Case& c) {
  const std::int64_t n = c.op.operands[1].dims[0].size;
  std::int64_t missing = 0;
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    const Range have = block(c.mesh, c.op.operands[1], c.rule, device)[0];
    const Range asked = block(c.mesh, c.op.chain[2], c.rule, device)[0];
    for (std::int64_t i = std::max<std::int64_t>(asked.begin, 1); i < std::min(asked.end, n - 1); ++i)
      missing += i + 1 < have.begin || have.end <= i + 1;
  }
  return missing;
}

// Receipts until every device knows the largest of the old history, but for the first place, which is
// forgotten.
std::int64_t largest_missing(const Case& c) {
  const Spec& history = c.op.operands[1];
  std::int64_t pieces = 0;
  for (std::int64_t p = 0; p < axes_size(c.mesh, history.dims[0].axes); ++p) {
    const Range range = piece(c.mesh, history.dims[0], c.rule, p);
    pieces += std::max<std::int64_t>(range.begin, 1) < range.end;
  }
  if (pieces == 0) return 0;
  return pieces == 1 ? devices(c.mesh) - copies(c.mesh, history) : (pieces - 1) + (devices(c.mesh) - 1);
}

// The largest magnitude of now goes to every device, also to those that have no value.
std::int64_t told_bytes(const Case& c) {
  const Spec& x = c.op.operands[0];
  std::int64_t without = 0;
  for (std::int64_t device = 0; device < devices(c.mesh); ++device)
    without += elements(block(c.mesh, x, c.rule, device)) == 0;
  return without < devices(c.mesh) ? without * format(DType::f32).bytes : 0;
}

// Every device gets the whole history, or the places that it is asked for and the largest of all.
std::int64_t history_bytes(const Case& c) {
  Spec everywhere = c.op.operands[1];
  everywhere.dims[0].axes.clear();
  return std::min(moved(c, c.op.operands[1], everywhere),
                  (places_missing(c) + largest_missing(c)) * format(DType::f32).bytes);
}

}  // namespace

std::int64_t magnitude_bytes(const Case& c, const Spec& x, const Tiles& tiles) {
  // Tiles by how many pieces they lie on.
  std::vector<std::int64_t> pieces{1};
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    const auto along = pieces_of_tiles(c, x.dims[d], tiles.along[d], tiles.count[d]);
    std::vector<std::int64_t> next;
    next.reserve(pieces.size() * along.size());
    for (std::int64_t outer : pieces)
      for (std::int64_t inner : along) next.push_back(outer * inner);
    pieces = std::move(next);
  }
  const std::int64_t replicas = copies(c.mesh, x);
  std::int64_t received = 0;
  for (std::int64_t s : pieces)
    if (s > 1) received += (s - 1) + (s * replicas - 1);
  return received * format(DType::f32).bytes;
}

BestKnown best_quantize(const Case& c) {
  const Tiles cut = tiles(c.op);
  const bool delays = c.op.operands.size() == 3;
  const std::int64_t magnitudes = magnitude_bytes(c, c.op.operands[0], cut) + (delays ? told_bytes(c) : 0);
  const std::int64_t codes = moved(c, c.op.operands[0], c.op.chain[0]);
  std::int64_t scales = 0;
  if (delays) {
    scales = history_bytes(c);
  } else {
    for (std::int64_t device = 0; device < devices(c.mesh); ++device)
      scales += scales_missing(c, cut, device) * format(c.op.chain[1].dtype).bytes;
  }
  return {
      magnitudes + codes + scales,
      fmt::format("values are quantized where they lie: the largest magnitudes move {} bytes, the codes {}, "
                  "{} {}",
                  magnitudes, codes, delays ? "the history" : "the scales", scales)};
}

}  // namespace plumb
