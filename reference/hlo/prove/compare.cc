#include "reference/hlo/prove/compare.h"

#include <cmath>
#include <map>

#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/manual.h"

namespace plumb::hlo {
namespace {

constexpr double kApart = 0x1p-20;

// The largest of an array of floats.
double largest(const Array<Twin>& a) {
  double most = 0;
  for (const Twin& x : a.reals)
    if (std::isfinite(x.real)) most = std::max(most, std::fabs(x.real));
  return most;
}

// What one lane holds of one tile.
struct Tile {
  std::int64_t elements = 0, wrong = 0, first = 0;
  bool reals_differ = false;
};

struct Comparison {
  Pairs& pairs;
  const Sides& sides;
  double near = 0;

  bool other(std::size_t of, std::size_t at) const {
    const auto &whole = sides.whole, &held = sides.held;
    return is_real(whole.type) ? !pairs.same(whole.reals[of], held.reals[at])
                               : whole.integers[of] != held.integers[at];
  }

  bool far(std::size_t of, std::size_t at) const {
    if (sides.whole.type == Type::pred)
      return !is_undecided(sides.whole.integers[of] | sides.held.integers[at]);
    if (!is_real(sides.whole.type)) return sides.whole.integers[of] != sides.held.integers[at];
    const Twin &a = sides.whole.reals[of], &b = sides.held.reals[at];
    const double difference = a.real - b.real;
    return !(std::fabs(difference) <= near) && !(sides.by_errors && !is_apart(difference, a.error + b.error));
  }

  // `map`: for each element of the lane that of the result, -1 behind its end.
  Tile tile(const Integers& map, std::int64_t lane) const {
    Tile tile;
    for (std::int64_t n = 0; n < std::ssize(map); ++n) {
      if (map[static_cast<std::size_t>(n)] < 0) continue;
      ++tile.elements;
      const auto of = static_cast<std::size_t>(map[static_cast<std::size_t>(n)]),
                 at = static_cast<std::size_t>(lane * std::ssize(map) + n);
      if (!other(of, at)) continue;
      tile.reals_differ = tile.reals_differ || far(of, at);
      if (tile.wrong++ == 0) tile.first = n;
    }
    return tile;
  }
};

Integers index_of(std::int64_t element, const Integers& dims) {
  const Integers strides = strides_of(dims);
  Integers index;
  for (std::size_t i = 0; i < dims.size(); ++i) index.push_back(element / strides[i] % dims[i]);
  return index;
}

}  // namespace

Compared compare_sides(Pairs& pairs, const Sides& sides, const Division& division) {
  const Array<Twin>&whole = sides.whole, &held = sides.held;
  require(whole.lanes == 1, "a result that all devices know whole");
  Compared c;
  c.largest = largest(whole);
  const Comparison comparison{pairs, sides, std::max(c.largest, sides.usual) * kApart};
  c.difference.shape = {whole.type, whole.dims, {}, {}, {}};
  for (const Twin& x : whole.reals) c.finite = c.finite && std::isfinite(x.real);
  std::map<std::pair<std::int64_t, Integers>, Tile> met;
  for (std::int64_t device = 0; device < std::ssize(division.shares); ++device) {
    const Share& share = division.shares[static_cast<std::size_t>(device)];
    const std::int64_t lane = lane_on(held, device);
    const auto [found, is_new] = met.try_emplace({lane, share.tile});
    Tile& tile = found->second;
    if (is_new) tile = comparison.tile(share_map(whole.dims, division, share), lane);
    c.elements += tile.elements;
    if (tile.wrong == 0) continue;
    Difference& d = c.difference;
    if (d.elements == 0) d.device = device, d.index = index_of(tile.first, held.dims);
    d.elements += tile.wrong, ++d.devices;
    c.reals_differ = c.reals_differ || tile.reals_differ;
  }
  return c;
}

}  // namespace plumb::hlo
