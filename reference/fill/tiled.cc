#include "reference/fill/tiled.h"

#include <algorithm>
#include <cmath>

#include "reference/fill/by_index.h"
#include "reference/fill/emit.h"

namespace plumb {
namespace {

enum Purpose : std::uint64_t { kValue = 40, kExponent, kPeak, kPosition, kHistory };

// Peaks of pieces: so many differ within one binade, so many binades are used.
constexpr std::int64_t kPeaks = 96, kBinades = 8;

std::vector<std::int64_t> pieces_along(const Case& c, const Dim& dim) {
  std::vector<std::int64_t> of(dim.size);
  for (std::int64_t p = 0; p < axes_size(c.mesh, dim.axes); ++p) {
    const Range range = piece(c.mesh, dim, c.rule, p);
    std::fill(of.begin() + range.begin, of.begin() + range.end, p);
  }
  return of;
}

// An element's tile and piece.
struct Place {
  std::int64_t tile = 0, piece = 0;
  bool drawn = true;
};

Place place(const Tiled& t, std::uint64_t key, std::int64_t index) {
  std::vector<std::int64_t> at(t.shape.size());
  for (std::size_t d = t.shape.size(); d-- > 0; index /= t.shape[d]) at[d] = index % t.shape[d];
  Place p;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const std::int64_t along = t.tiles.along[d][at[d]];
    if (along < 0) return {-1, 0, false};
    p.tile = p.tile * t.tiles.count[d] + along;
    p.piece = p.piece * t.pieces[d] + t.piece[d][at[d]];
  }
  const std::uint64_t here =
      mix(key + kGolden * static_cast<std::uint64_t>(p.tile)) + (in_blocks(t.scheme) ? 0 : mix(p.piece + 1));
  for (std::size_t d = 0; d < at.size(); ++d)
    p.drawn = p.drawn && drawn(t.members[d], at[d], mix(here + kGolden * (d + 1)));
  return p;
}

// Exponents that all three formats have: those of f16 are few.
struct Exponents {
  int low, count;  // of the largest magnitude of a tile
  int spread;      // of the other values, below
};
Exponents exponents(DType dtype, Scheme scheme) {
  const int spread = codes_of(scheme) == DType::f8e4m3 ? 18 : 34;
  if (dtype == DType::f16) return {6, 7, 16};
  return in_blocks(scheme) ? Exponents{-40, 80, spread} : Exponents{-7, 15, spread};
}

int exponent(const Exponents& e, std::uint64_t key, std::int64_t tile) {
  return e.low + static_cast<int>(below(mix(key + kGolden * static_cast<std::uint64_t>(tile)), e.count));
}

// A significand in [1, 2) with more digits than a code has; one in eight half way between two codes.
double significand(DType dtype, Scheme scheme, std::uint64_t random) {
  const int all = format(dtype).digits - 1, kept = format(codes_of(scheme)).digits - 1;
  const std::int64_t below_code = std::int64_t{1} << (all - kept);
  const std::int64_t high = below(random, std::int64_t{1} << kept);
  const std::uint64_t more = mix(random);
  const std::int64_t low = more % 8 == 0 ? below_code / 2 : 1 + below(more, below_code - 1);
  return 1 + std::ldexp(static_cast<double>(high * below_code + low), -all);
}

// The largest magnitude of a piece, the n-th of those of its tile, as 8-digit numbers going down.
double peak(std::int64_t n, std::uint64_t random, int exponent) {
  n %= kPeaks * kBinades;
  const std::int64_t top = 255 - below(random, 32);
  return std::ldexp(static_cast<double>(top - n % kPeaks), exponent - 7 - static_cast<int>(n / kPeaks));
}

// The history and the scale of delayed scaling: magnitudes around those of the values, the first, which is
// to be forgotten, above all others; a scale with which some values are clipped.
void write_history(const Recipe& r, const Tiled& t, const Run& run, std::byte* out) {
  const int e = exponent(exponents(r.sources[0].dtype, t.scheme), key(r.seed, 0, kExponent), 0);
  const std::uint64_t base = key(r.seed, run.operand, kHistory);
  emit(DType::f32, run.count, out, [&](std::int64_t i) {
    const std::uint64_t random = mix(base + kGolden * static_cast<std::uint64_t>(run.begin + i));
    const double unit = significand(DType::f32, t.scheme, random);
    if (run.operand == 2) return std::ldexp(unit, std::ilogb(format(codes_of(t.scheme)).largest) - e);
    return std::ldexp(unit, run.begin + i == 0 ? e + 4 : e - 3 + static_cast<int>(mix(random) % 6));
  });
}

}  // namespace

Tiled tiled(const Case& c) {
  Tiled t;
  t.scheme = std::get<Quantize>(c.op.kind).scheme;
  t.tiles = tiles(c.op);
  const Spec& x = c.op.operands[0];
  t.shape = shape(x);
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    t.piece.push_back(pieces_along(c, x.dims[d]));
    t.pieces.push_back(axes_size(c.mesh, x.dims[d].axes));
    t.members.push_back(
        members(t.tiles.along[d], in_blocks(t.scheme) ? std::vector<std::int64_t>{} : t.piece[d]));
    t.differing *= t.pieces[d];
  }
  t.differing = std::min(t.differing, kPeaks * kBinades);
  return t;
}

void write_run(const Recipe& r, const Tiled& t, const Run& run, std::byte* out) {
  if (run.operand > 0) return write_history(r, t, run, out);
  const DType dtype = r.sources[0].dtype;
  const Exponents range = exponents(dtype, t.scheme);
  const std::uint64_t values = key(r.seed, 0, kValue), of_exponent = key(r.seed, 0, kExponent),
                      peaks = key(r.seed, 0, kPeak), positions = key(r.seed, 0, kPosition);
  const std::int64_t pieces = std::max<std::int64_t>(1, t.differing);
  emit(dtype, run.count, out, [&](std::int64_t i) {
    const Place p = place(t, positions, run.begin + i);
    if (p.tile < 0) return std::nan("");
    const std::uint64_t random = mix(values + kGolden * static_cast<std::uint64_t>(run.begin + i));
    const std::uint64_t of_tile = mix(peaks + kGolden * static_cast<std::uint64_t>(p.tile));
    const int e = exponent(range, of_exponent, p.tile);
    const double sign = static_cast<double>(sign_of(random));
    if (in_blocks(t.scheme)) {
      const double one = significand(dtype, t.scheme, mix(random));
      if (p.drawn) return sign * std::ldexp(one, e);
      return sign * std::ldexp(one, e - 2 - static_cast<int>(below(remix(random, of_tile), range.spread)));
    }
    if (p.drawn) return sign * peak((p.piece + below(mix(of_tile), pieces)) % pieces, of_tile, e);
    const int under = e - 1 - static_cast<int>((pieces - 1) / kPeaks);
    return sign * std::ldexp(significand(dtype, t.scheme, mix(random)),
                             under - static_cast<int>(below(remix(random, of_tile), range.spread)));
  });
}

}  // namespace plumb
