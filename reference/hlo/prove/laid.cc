#include "reference/hlo/prove/laid.h"

#include <algorithm>

#include "reference/hlo/run/maps.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {
namespace {

constexpr std::uint64_t kPlace = 1005;  // the name of an element's weight, apart from functions

// Of the places of a tile.
std::vector<Residue> weights(const Pairs& pairs, std::int64_t size) {
  std::vector<Residue> all;
  for (std::int64_t place = 0; place < size; ++place)
    all.push_back(hashed(pairs.key, kPlace, Residue{static_cast<std::uint64_t>(place)}));
  return all;
}

Residue identity_of(const Pairs& pairs, const Array<Twin>& a, std::size_t element) {
  return is_real(a.type) ? pairs.identity(a.reals[element]) : residue(a.integers[element]);
}

// An axis of prime size: devices whose places along it are one apart are `step` apart.
struct Axis {
  std::int64_t step = 1, size = 1;
  std::int64_t place(std::int64_t device) const { return device / step % size; }
};

std::vector<Axis> axes_of(std::int64_t devices) {
  std::vector<Axis> all;
  for (std::int64_t step = 1, factor = 2; step < devices;) {
    if (devices / step % factor == 0)
      all.push_back({step, factor}), step *= factor;
    else
      ++factor;
  }
  return all;
}

// The tiles of a value, each with its number, and how many there are along each dimension.
struct Tiles {
  Integers count;
  std::vector<Residue> of;
};

Tiles tiles_of(const Pairs& pairs, const Array<Twin>& whole, const Integers& dims) {
  Tiles tiles;
  std::int64_t all = 1;
  for (std::size_t d = 0; d < dims.size(); ++d)
    tiles.count.push_back(whole.dims[d] / dims[d]), all *= tiles.count.back();
  tiles.of.resize(static_cast<std::size_t>(all));
  const std::vector<Residue> weight = weights(pairs, count(dims));
  std::size_t element = 0;
  each_index(whole.dims, [&](const Integers& index) {
    std::int64_t tile = 0, place = 0;
    for (std::size_t d = 0; d < dims.size(); ++d)
      tile = tile * tiles.count[d] + index[d] / dims[d], place = place * dims[d] + index[d] % dims[d];
    Residue& sum = tiles.of[static_cast<std::size_t>(tile)];
    sum = sum + weight[static_cast<std::size_t>(place)] * identity_of(pairs, whole, element++);
  });
  return tiles;
}

// Where along each dimension a tile stands.
Integers place_of(const Tiles& tiles, std::int64_t tile) {
  Integers place(tiles.count.size());
  for (std::size_t d = place.size(); d-- > 0; tile /= tiles.count[d]) place[d] = tile % tiles.count[d];
  return place;
}

bool is_regular(const Tiles& tiles, const std::vector<Axis>& axes, const std::vector<Residue>& held) {
  if (held[0] != tiles.of[0]) return false;
  std::vector<Integers> steps;  // what a place along each axis adds
  for (const Axis& axis : axes) {
    const auto at = std::ranges::find(tiles.of, held[static_cast<std::size_t>(axis.step)]);
    if (at == tiles.of.end()) return false;
    steps.push_back(place_of(tiles, at - tiles.of.begin()));
  }
  for (std::size_t device = 0; device < held.size(); ++device) {
    std::int64_t tile = 0;
    for (std::size_t d = 0; d < tiles.count.size(); ++d) {
      std::int64_t place = 0;
      for (std::size_t a = 0; a < axes.size(); ++a)
        place += axes[a].place(static_cast<std::int64_t>(device)) * steps[a][d];
      if (place >= tiles.count[d]) return false;
      tile = tile * tiles.count[d] + place;
    }
    if (held[device] != tiles.of[static_cast<std::size_t>(tile)]) return false;
  }
  return true;
}

// What is held with the parts along an axis added up.
std::vector<Residue> added_along(const Axis& axis, const std::vector<Residue>& held) {
  std::vector<Residue> all(held.size());
  for (std::int64_t device = 0; device < std::ssize(held); ++device)
    for (std::int64_t n = 0; n < axis.size; ++n) {
      const std::int64_t other = device + (n - axis.place(device)) * axis.step;
      Residue& sum = all[static_cast<std::size_t>(device)];
      sum = sum + held[static_cast<std::size_t>(other)];
    }
  return all;
}

}  // namespace

Sums sums_of(const Pairs& pairs, const Array<Twin>& a, std::int64_t devices) {
  const std::int64_t size = count(a.dims);
  const std::vector<Residue> weight = weights(pairs, size);
  std::vector<Residue> lanes(static_cast<std::size_t>(a.lanes));
  each_part(a.lanes, size, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t lane = begin; lane < end; ++lane) {
      Residue sum;
      for (std::int64_t n = 0; n < size; ++n)
        sum = sum + weight[static_cast<std::size_t>(n)] *
                        identity_of(pairs, a, static_cast<std::size_t>(lane * size + n));
      lanes[static_cast<std::size_t>(lane)] = sum;
    }
  });
  Sums sums{a.type, a.dims, {}};
  for (std::int64_t device = 0; device < devices; ++device)
    sums.of.push_back(lanes[static_cast<std::size_t>(lane_on(a, device))]);
  return sums;
}

bool is_laid_out(const Pairs& pairs, const Array<Twin>& whole, const Sums& held) {
  if (whole.lanes > 1 || whole.type != held.type || whole.dims.size() != held.dims.size()) return false;
  if (held.of.empty()) return false;
  for (std::size_t d = 0; d < held.dims.size(); ++d)
    if (held.dims[d] == 0 || whole.dims[d] % held.dims[d] != 0) return false;
  const auto other = [&](std::size_t n) {
    return is_real(whole.type) ? pairs.identity(whole.reals[n]) != pairs.identity(whole.reals[0])
                               : whole.integers[n] != whole.integers[0];
  };
  std::size_t n = 1;
  const auto all = static_cast<std::size_t>(count(whole.dims));
  while (n < all && !other(n)) ++n;
  const bool is_number =
      whole.dims.empty() && is_real(whole.type) && pairs.identity(whole.reals[0]) != Residue{};
  if (n >= all && !is_number) return false;
  const Tiles tiles = tiles_of(pairs, whole, held.dims);
  const std::vector<Axis> axes = axes_of(std::ssize(held.of));
  if (is_regular(tiles, axes, held.of)) return true;
  for (std::size_t first = 0; first < axes.size() && is_real(whole.type); ++first) {
    std::vector<Residue> sums = held.of;
    for (std::size_t last = first; last < axes.size(); ++last) {
      sums = added_along(axes[last], sums);
      if (is_regular(tiles, axes, sums)) return true;
    }
  }
  return false;
}

}  // namespace plumb::hlo
