// Whole arrays and what devices hold of them.
#pragma once

#include "reference/hlo/run/elementwise.h"
#include "reference/hlo/run/move.h"

namespace plumb::hlo {

// The extents of a tile: of a dimension that does not divide, those of the first, larger ones.
inline Integers tile_dims(const Integers& dims, const Division& division) {
  Integers tile = dims;
  for (std::size_t d = 0; d < dims.size(); ++d)
    tile[d] = (dims[d] + division.tiles[d] - 1) / division.tiles[d];
  return tile;
}

// For each element of a device's tile the element of the whole, or -1 behind the end of the array.
inline Integers share_map(const Integers& dims, const Division& division, const Share& share) {
  const Integers tile = tile_dims(dims, division), strides = strides_of(dims);
  Integers map;
  each_index(tile, [&](const Integers& index) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t i = share.tile[d] * tile[d] + index[d];
      if (i >= dims[d]) return map.push_back(-1);
      element += i * strides[d];
    }
    map.push_back(element);
  });
  return map;
}

// The lanes of what devices hold of a whole array: those of one tile share one, of the same whole. `wholes`
// has the number of each device's; empty: all know the same.
inline std::pair<std::int64_t, Holders> tiles_of(const Division& division, const Integers& wholes = {}) {
  std::map<std::tuple<std::int64_t, Integers, std::int64_t>, std::int32_t> met;
  std::vector<std::int32_t> holders;
  for (std::size_t d = 0; d < division.shares.size(); ++d) {
    const Share& share = division.shares[d];
    const auto next = static_cast<std::int32_t>(met.size());
    holders.push_back(
        met.try_emplace({wholes.empty() ? 0 : wholes[d], share.tile, share.part}, next).first->second);
  }
  if (met.size() == 1) return {1, nullptr};
  return {std::ssize(met), std::make_shared<const std::vector<std::int32_t>>(std::move(holders))};
}

// What each device holds of a whole array of this shape whose element n is `at(n)`; `fill`, a scalar, behind
// its end. Of a value that is a sum of parts the first part is all of it and the others are zero.
template <typename Number, typename F>
auto cut(const Shape& shape, const Division& division, const Array<Number>& fill, F at) {
  using E = std::decay_t<decltype(at(std::int64_t{}))>;
  auto [lanes, holders] = tiles_of(division);
  std::vector<std::size_t> first(static_cast<std::size_t>(lanes));  // the first device of each lane
  for (std::size_t d = division.shares.size(); d-- > 0;)
    first[holders ? static_cast<std::size_t>((*holders)[d]) : 0] = d;
  Array<Number> result{shape.type, tile_dims(shape.dims, division), lanes, {}, {}, std::move(holders)};
  const std::int64_t size = count(result.dims);
  const auto lay = [&](auto& to, const E& filling) {
    to.resize(first.size() * static_cast<std::size_t>(size));
    if (result.lanes == 1)  // all have all of it
      return each_part(size, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n) to[static_cast<std::size_t>(n)] = at(n);
      });
    each_part(result.lanes, size, [&](std::int64_t begin, std::int64_t end) {
      E* out = to.data() + begin * size;
      for (std::int64_t lane = begin; lane < end; ++lane) {
        const Share& share = division.shares[first[static_cast<std::size_t>(lane)]];
        for (const std::int64_t n : share_map(shape.dims, division, share))
          *out++ = n < 0 ? filling : share.part > 0 ? E{} : at(n);
      }
    });
  };
  if constexpr (std::is_same_v<E, Number>)
    lay(result.reals, fill.reals.at(0));
  else
    lay(result.integers, fill.integers.at(0));
  return result;
}

// For each device its lane.
template <typename Number>
Integers lanes_of(const Array<Number>& array, std::int64_t devices) {
  Integers lanes;
  for (std::int64_t d = 0; d < devices; ++d) lanes.push_back(lane_on(array, d));
  return lanes;
}

// The same of arrays that devices know whole, each its own.
template <typename Number>
Array<Number> cut_own(const Array<Number>& wholes, const Division& division, const Array<Number>& fill) {
  auto [lanes, holders] = tiles_of(division, lanes_of(wholes, std::ssize(division.shares)));
  Array<Number> result{wholes.type, tile_dims(wholes.dims, division), lanes, {}, {}, holders};
  const std::int64_t size = count(wholes.dims);
  const auto lay = [&](const auto& from, const auto& filling) {
    auto& to = elements_of(result, from);
    for (std::int64_t d = 0, next = 0; next < lanes; ++d) {
      if (lane_on(result, d) != next) continue;
      ++next;
      const Share& share = division.shares[static_cast<std::size_t>(d)];
      const auto* own = from.data() + begin_on(wholes, d, size);
      for (const std::int64_t n : share_map(wholes.dims, division, share))
        to.push_back(n < 0 ? filling : share.part > 0 ? std::decay_t<decltype(filling)>{} : own[n]);
    }
  };
  if (is_real(wholes.type))
    lay(wholes.reals, fill.reals.at(0));
  else
    lay(wholes.integers, fill.integers.at(0));
  return result;
}

// The same of either.
template <typename Number>
auto cut(const Array<Number>& whole, const Division& division, const Array<Number>& fill) {
  if (whole.lanes > 1) return cut_own(whole, division, fill);
  return visit(whole, [&](const auto& from) {
    return cut({whole.type, whole.dims, {}, {}, {}}, division, fill,
               [&](std::int64_t n) { return from[static_cast<std::size_t>(n)]; });
  });
}

// A whole and the devices that hold it together.
struct Together {
  const Division& division;
  const Integers& devices;
};

// The whole of what devices hold. Throws Disagreement where two that should hold the same do not.
template <typename Numbers>
auto assemble(Numbers& numbers, const Array<typename Numbers::Number>& held, const Integers& dims,
              const Together& together) {
  using Number = typename Numbers::Number;
  const Division& division = together.division;
  require(held.dims == tile_dims(dims, division), "tiles of the array");
  Array<Number> whole{held.type, dims, 1, {}, {}};
  const std::int64_t size = count(dims), tile = count(held.dims);
  const auto lay = [&](const auto& from, const auto& same, const auto& add, const auto& zero) {
    auto& to = elements_of(whole, from);
    const auto parts = static_cast<std::size_t>(division.parts);
    std::vector<std::decay_t<decltype(zero)>> all(parts * static_cast<std::size_t>(size), zero);
    Integers holder(all.size(), -1);
    for (const std::int64_t device : together.devices) {
      const Share& share = division.shares[static_cast<std::size_t>(device)];
      const Integers map = share_map(dims, division, share);
      const auto* mine = from.data() + begin_on(held, device, tile);
      for (std::size_t n = 0; n < map.size(); ++n) {
        if (map[n] < 0) continue;
        const auto slot = static_cast<std::size_t>(share.part * size + map[n]);
        if (holder[slot] >= 0 && !same(all[slot], mine[n]))
          throw Disagreement("device " + std::to_string(holder[slot]) + " and device " +
                             std::to_string(device) + " should hold the same and do not");
        if (holder[slot] < 0) holder[slot] = device, all[slot] = mine[n];
      }
    }
    for (std::size_t n = 0; n < static_cast<std::size_t>(size); ++n) {
      to.push_back(all[n]);
      for (std::size_t p = 1; p < parts; ++p)
        to.back() = add(to.back(), all[p * static_cast<std::size_t>(size) + n]);
    }
  };
  if (is_real(held.type))
    lay(
        held.reals, [&](const Number& a, const Number& b) { return numbers.same(a, b); },
        [&](const Number& a, const Number& b) { return numbers.binary(Opcode::add, a, b); },
        numbers.constant(0));
  else
    lay(
        held.integers, std::equal_to<>(),
        [&](std::int64_t a, std::int64_t b) { return integer_binary(Opcode::add, held.type, a, b); },
        std::int64_t{0});
  return whole;
}

// The scalar that stands where an array has no element.
template <typename Numbers>
auto poison(Numbers& numbers, Type type) {
  Array<typename Numbers::Number> scalar{type, {}, 1, {}, {}};
  if (is_real(type))
    scalar.reals = {numbers.constant(0x1.8badp90)};
  else
    scalar.integers = {wrap(type, 0x5bad5bad5bad5bad)};
  return scalar;
}

}  // namespace plumb::hlo
