#include "reference/fill/tiled.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "reference/fill/emit.h"
#include "reference/fill/recipe.h"
#include "reference/fill/scale_witnesses.h"

namespace plumb {
namespace {

enum TiledKey : std::uint64_t { kValue = 40, kExponent, kPeak, kPosition, kHistory, kWitness };

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

// Which pieces hold some of a tile, along one dimension.
void add_holders(Tiled& t, const std::vector<std::int64_t>& tile, const std::vector<std::int64_t>& piece) {
  std::map<std::int64_t, std::set<std::int64_t>> pieces;
  for (std::size_t i = 0; i < tile.size(); ++i) pieces[tile[i]].insert(piece[i]);
  auto &all = t.holders.emplace_back(), &which = t.holder.emplace_back();
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const std::set<std::int64_t>& own = pieces[tile[i]];
    all.push_back(std::ssize(own));
    which.push_back(std::distance(own.begin(), own.find(piece[i])));
  }
}

// An element's tile, which of the pieces that hold some of it has it, and its number there: 0 is the one
// drawn.
struct Place {
  std::int64_t tile = 0, holder = 0, holders = 1, number = 0;
};

// Nothing where the element is of no tile.
std::optional<Place> peak_place(const Tiled& t, std::uint64_t key, std::int64_t index) {
  std::vector<std::int64_t> at(t.shape.size());
  for (std::size_t d = t.shape.size(); d-- > 0; index /= t.shape[d]) at[d] = index % t.shape[d];
  Place p;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const std::int64_t along = t.tiles.along[d][at[d]];
    if (along < 0) return std::nullopt;
    p.tile = p.tile * t.tiles.count[d] + along;
    p.holder = p.holder * t.holders[d][at[d]] + t.holder[d][at[d]];
    p.holders *= t.holders[d][at[d]];
  }
  const std::uint64_t here =
      mix(key + kGolden * static_cast<std::uint64_t>(p.tile)) + (in_blocks(t.scheme) ? 0 : mix(p.holder + 1));
  for (std::size_t d = 0; d < at.size(); ++d) {
    const std::int64_t count = t.members[d].count[at[d]], number = t.members[d].number[at[d]];
    const std::int64_t first = below(mix(here + kGolden * (d + 1)), count);
    p.number = p.number * count + (number - first + count) % count;
  }
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

// The largest magnitude of a piece, the n-th of those of its tile, going down: the tile's own, then numbers
// of 8 digits from the binade below.
double peak(std::int64_t n, std::uint64_t random, double amax) {
  if (n-- == 0) return amax;
  const std::int64_t top = 255 - below(random, 32);
  return std::ldexp(static_cast<double>(top - n % kPeaks),
                    std::ilogb(amax) - 8 - static_cast<int>(n / kPeaks));
}

template <class T>
const T& one_of(const std::vector<T>& all, std::uint64_t random) {
  return all[below(random, std::ssize(all))];
}

// The scale that delayed scaling is given: as if of half the largest magnitude of now, so that some are
// clipped.
const ScaleWitness& of_given_scale(const Recipe& r, const Tiled& t) {
  return one_of(scale_witnesses(r.sources[0].dtype, codes_of(t.scheme)), mix(key(r.seed, 0, kWitness)));
}

// A number in [1, 2) of f32 for which the ways to compute the next scale differ: of 13 one does.
double history_significand(Scheme scheme, std::uint64_t random) {
  for (;; random = mix(random + kGolden))
    if (const double one = significand(DType::f32, scheme, random);
        is_next_scale_witness(one, codes_of(scheme)))
      return one;
}

// The history and the scale of delayed scaling: magnitudes around those of the values, the first, which is
// to be forgotten, above all others.
void write_history(const Recipe& r, const Tiled& t, const Run& run, std::byte* out) {
  const int e = exponent(exponents(r.sources[0].dtype, t.scheme), key(r.seed, 0, kExponent), 0);
  const std::uint64_t base = key(r.seed, run.operand, kHistory);
  const float given =
      static_cast<float>(format(codes_of(t.scheme)).largest) / static_cast<float>(of_given_scale(r, t).amax);
  emit(DType::f32, run.count, out, [&](std::int64_t i) {
    if (run.operand == 2) return std::ldexp(static_cast<double>(given), 1 - e);
    const std::uint64_t random = mix(base + kGolden * static_cast<std::uint64_t>(run.begin + i));
    return std::ldexp(history_significand(t.scheme, random),
                      run.begin + i == 0 ? e + 4 : e - 3 + static_cast<int>(mix(random) % 6));
  });
}

// An element of a tile with one scale, its magnitude. `e` is the exponent of the tile.
double scaled_value(const Recipe& r, const Tiled& t, const Place& p, std::uint64_t random,
                    std::uint64_t of_tile, int e) {
  const DType dtype = r.sources[0].dtype, codes = codes_of(t.scheme);
  const bool delayed = r.sources.size() > 1;
  const ScaleWitness& known =
      delayed ? of_given_scale(r, t) : one_of(scale_witnesses(dtype, codes), mix(of_tile + kWitness));
  const std::int64_t pieces = std::min(p.holders, kPeaks * kBinades);
  if (p.number == 0) {
    const double amax = delayed ? one_of(next_scale_witnesses(codes), mix(of_tile + kWitness)) : known.amax;
    return peak((p.holder + below(mix(of_tile), pieces)) % pieces, of_tile, std::ldexp(amax, e));
  }
  const std::uint64_t more = remix(random, of_tile);
  if (p.number <= 2 || more % 16 == 0)
    return std::ldexp(one_of(p.number == 1 ? known.quotient : known.narrow, mix(more)), delayed ? e - 1 : e);
  const int under = e - (pieces > 1 ? 2 + static_cast<int>((pieces - 2) / kPeaks) : 1);
  return std::ldexp(significand(dtype, t.scheme, mix(random)),
                    under - static_cast<int>(below(more, exponents(dtype, t.scheme).spread)));
}

}  // namespace

Tiled tiled(const Case& c) {
  Tiled t;
  t.scheme = std::get<Quantize>(c.op.kind).scheme;
  t.tiles = tiles(c.op);
  const Spec& x = c.op.operands[0];
  t.shape = shape(x);
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    const std::vector<std::int64_t> piece = pieces_along(c, x.dims[d]);
    add_holders(t, t.tiles.along[d], piece);
    t.members.push_back(members(t.tiles.along[d], in_blocks(t.scheme) ? std::vector<std::int64_t>{} : piece));
    t.differing *= axes_size(c.mesh, x.dims[d].axes);
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
  emit(dtype, run.count, out, [&](std::int64_t i) {
    const std::optional<Place> p = peak_place(t, positions, run.begin + i);
    if (!p) return std::nan("");
    const std::uint64_t random = mix(values + kGolden * static_cast<std::uint64_t>(run.begin + i));
    const std::uint64_t of_tile = mix(peaks + kGolden * static_cast<std::uint64_t>(p->tile));
    const int e = exponent(range, of_exponent, p->tile);
    const double sign = static_cast<double>(sign_of(random));
    if (in_blocks(t.scheme)) {
      const double one = significand(dtype, t.scheme, mix(random));
      if (p->number == 0) return sign * std::ldexp(one, e);
      return sign * std::ldexp(one, e - 2 - static_cast<int>(below(remix(random, of_tile), range.spread)));
    }
    return sign * scaled_value(r, t, *p, random, of_tile, e);
  });
}

}  // namespace plumb
