#include "reference/hlo/prove/laid.h"

#include <algorithm>
#include <set>
#include <tuple>

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

// The axes of each mesh of so many devices, the innermost first: one for each order of the prime factors.
std::vector<std::vector<Axis>> meshes_of(std::int64_t devices) {
  constexpr std::size_t kMost = 64;
  Integers factors;
  for (std::int64_t left = devices, factor = 2; left > 1;) {
    if (left % factor == 0)
      factors.push_back(factor), left /= factor;
    else
      ++factor;
  }
  std::vector<std::vector<Axis>> all;
  do {
    std::vector<Axis>& axes = all.emplace_back();
    std::int64_t step = 1;
    for (const std::int64_t factor : factors) axes.push_back({step, factor}), step *= factor;
  } while (all.size() < kMost && std::ranges::next_permutation(factors).found);
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

// Whether all hold the same along it.
bool is_replicated(const Axis& axis, const std::vector<Residue>& held) {
  for (std::int64_t device = 0; device < std::ssize(held); ++device)
    if (held[static_cast<std::size_t>(device)] !=
        held[static_cast<std::size_t>(device - axis.place(device) * axis.step)])
      return false;
  return true;
}

// Some of the axes of a mesh: any; of more than 12 those that stand side by side.
std::vector<std::vector<Axis>> choices_of(const std::vector<Axis>& axes) {
  constexpr std::size_t kAny = 12;
  std::vector<std::vector<Axis>> all;
  const std::size_t n = axes.size();
  if (n > kAny) {
    for (std::size_t first = 0; first < n; ++first)
      for (std::size_t last = first + 1; last <= n; ++last)
        all.emplace_back(axes.begin() + static_cast<std::ptrdiff_t>(first),
                         axes.begin() + static_cast<std::ptrdiff_t>(last));
  } else {
    for (std::size_t chosen = 1; chosen < std::size_t{1} << n; ++chosen) {
      all.emplace_back();
      for (std::size_t a = 0; a < n; ++a)
        if (chosen >> a & 1) all.back().push_back(axes[a]);
    }
  }
  return all;
}

// Axes of a mesh along which parts may add up.
struct Choice {
  std::vector<Axis> mesh, along;
};

// Of each mesh, the fewest axes first, and of these where most others hold the same; those along which devices
// hold the same, who may hold equal parts, are last.
std::vector<Choice> choices_of(const std::vector<std::vector<Axis>>& meshes, const std::vector<Residue>& held) {
  std::vector<Choice> all;
  for (const std::vector<Axis>& mesh : meshes)
    for (std::vector<Axis>& along : choices_of(mesh)) all.push_back({mesh, std::move(along)});
  std::set<std::pair<std::int64_t, std::int64_t>> replicated;  // step, size
  for (const std::vector<Axis>& mesh : meshes)
    for (const Axis& axis : mesh)
      if (is_replicated(axis, held)) replicated.insert({axis.step, axis.size});
  std::ranges::stable_sort(all, {}, [&](const Choice& one) {
    const auto same = [&](const Axis& axis) { return replicated.contains({axis.step, axis.size}); };
    const auto own = std::ranges::count_if(one.along, same);
    return std::tuple(own, one.along.size(), own - std::ranges::count_if(one.mesh, same));
  });
  return all;
}

// The first device and those that differ from it along these axes, ascending.
Integers devices_along(const std::vector<Axis>& axes) {
  Integers all = {0};
  for (const Axis& axis : axes) {
    const Integers before = all;
    for (std::int64_t n = 1; n < axis.size; ++n)
      for (const std::int64_t device : before) all.push_back(device + n * axis.step);
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

bool may_be_tile(const Array<Twin>& whole, Type type, const Integers& dims) {
  if (whole.lanes > 1 || whole.type != type || whole.dims.size() != dims.size()) return false;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] == 0 || whole.dims[d] % dims[d] != 0) return false;
  return true;
}

std::optional<Integers> parts_of_first(const Pairs& pairs, const Array<Twin>& whole, const Sums& held) {
  if (held.of.empty() || !may_be_tile(whole, held.type, held.dims)) return std::nullopt;
  const auto other = [&](std::size_t n) {
    return is_real(whole.type) ? pairs.identity(whole.reals[n]) != pairs.identity(whole.reals[0])
                               : whole.integers[n] != whole.integers[0];
  };
  std::size_t n = 1;
  const auto all = static_cast<std::size_t>(count(whole.dims));
  while (n < all && !other(n)) ++n;
  const bool is_number =
      whole.dims.empty() && is_real(whole.type) && pairs.identity(whole.reals[0]) != Residue{};
  if (n >= all && !is_number) return std::nullopt;
  const Tiles tiles = tiles_of(pairs, whole, held.dims);
  const std::vector<std::vector<Axis>> meshes = meshes_of(std::ssize(held.of));
  if (std::ranges::any_of(meshes, [&](const std::vector<Axis>& mesh) { return is_regular(tiles, mesh, held.of); }))
    return Integers{0};
  if (!is_real(whole.type)) return std::nullopt;
  for (const auto& [mesh, along] : choices_of(meshes, held.of)) {
    const Integers first = devices_along(along);
    Residue sum;
    for (const std::int64_t device : first) sum = sum + held.of[static_cast<std::size_t>(device)];
    if (sum != tiles.of[0]) continue;
    std::vector<Residue> sums = held.of;
    for (const Axis& axis : along) sums = added_along(axis, sums);
    if (is_regular(tiles, mesh, sums)) return first;
  }
  return std::nullopt;
}

bool is_laid_out(const Pairs& pairs, const Array<Twin>& whole, const Sums& held) {
  return parts_of_first(pairs, whole, held).has_value();
}

}  // namespace plumb::hlo
