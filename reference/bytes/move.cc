#include "reference/bytes/move.h"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace plumb {
namespace {

std::int64_t digits(const Mesh& mesh, const std::vector<AxisId>& axes, const std::vector<std::int64_t>& at) {
  std::int64_t index = 0;
  for (AxisId axis : axes) index = index * mesh.axes[axis].size + at[axis];
  return index;
}

// Steps `at` through all coordinates along `axes`; false when it is back at the start.
bool next(const Mesh& mesh, const std::vector<AxisId>& axes, std::vector<std::int64_t>& at) {
  for (AxisId axis : axes) {
    if (++at[axis] < mesh.axes[axis].size) return true;
    at[axis] = 0;
  }
  return false;
}

// The numbers of the source's pieces of a dimension from the first that ends after the range begins to the
// last that begins before it ends: pieces ascend with their number.
Range pieces_met(const Move& move, std::size_t dim, const Range& range) {
  const Dim& from = move.from.dims[dim];
  const auto numbers = std::views::iota(std::int64_t{0}, axes_size(move.mesh, from.axes));
  const auto at = [&](std::int64_t number) { return piece(move.mesh, from, move.rule, number); };
  const auto ends_by = [&](std::int64_t i) { return at(i).end <= range.begin; };
  const auto begins_within = [&](std::int64_t i) { return at(i).begin < range.end; };
  const auto count_while = [&](auto holds) {
    return static_cast<std::int64_t>(std::ranges::partition_point(numbers, holds) - numbers.begin());
  };
  const std::int64_t first = count_while(ends_by);
  return {first, std::max(first, count_while(begins_within))};
}

// The coordinates with those along these axes as the digits of a number.
std::vector<std::int64_t> place_of(const Mesh& mesh, const std::vector<AxisId>& axes, std::int64_t number,
                                   std::vector<std::int64_t> at) {
  for (std::size_t i = axes.size(); i-- > 0; number /= mesh.axes[axes[i]].size)
    at[axes[i]] = number % mesh.axes[axes[i]].size;
  return at;
}

// How many of the source's parts no fibre of the target holds together.
std::int64_t foreign_parts(const Move& move) {
  std::int64_t n = 1;
  for (AxisId axis : move.from.unfinished)
    if (!contains(move.to.unfinished, axis)) n *= move.mesh.axes[axis].size;
  return n;
}

// Dimensions bound together by the axes that they share, and those axes.
struct Bundle {
  std::vector<std::size_t> dims;
  std::vector<AxisId> axes;
};

std::vector<Bundle> bundles(const Move& move, const std::vector<AxisId>& along) {
  std::vector<Bundle> all;
  for (std::size_t d = 0; d < move.to.dims.size(); ++d) {
    Bundle bundle{{d}, {}};
    for (const Dim* dim : {&move.from.dims[d], &move.to.dims[d]})
      for (AxisId axis : dim->axes)
        if (!contains(along, axis) && !contains(bundle.axes, axis)) bundle.axes.push_back(axis);
    const auto shared = [&](AxisId axis) { return contains(bundle.axes, axis); };
    const auto apart = [&](const Bundle& other) { return std::ranges::none_of(other.axes, shared); };
    const auto bound = std::partition(all.begin(), all.end(), apart);
    for (auto other = bound; other != all.end(); ++other) {
      bundle.dims.insert(bundle.dims.end(), other->dims.begin(), other->dims.end());
      for (AxisId axis : other->axes)
        if (!shared(axis)) bundle.axes.push_back(axis);
    }
    all.erase(bound, all.end());
    all.push_back(std::move(bundle));
  }
  return all;
}

// The elements that lie where they are needed, summed over the coordinates along every axis that
// splits the source or the target but those `along`, whose pieces of the source are joined.
struct Stay {
  std::int64_t elements = 1, coordinates = 1;
};
Stay stay(const Move& move, const std::vector<AxisId>& along) {
  Stay all;
  std::vector<std::int64_t> at(move.mesh.axes.size(), 0);
  for (const Bundle& bundle : bundles(move, along)) {
    std::int64_t sum = 0;
    do {
      std::int64_t elements = 1;
      for (std::size_t d : bundle.dims) elements *= overlap(move, d, at, along);
      sum += elements;
    } while (next(move.mesh, bundle.axes, at));
    all.elements *= sum;
    all.coordinates *= axes_size(move.mesh, bundle.axes);
  }
  return all;
}

}  // namespace

std::int64_t overlap(const Move& move, std::size_t dim, const std::vector<std::int64_t>& at,
                     const std::vector<AxisId>& along) {
  const Dim &from = move.from.dims[dim], &to = move.to.dims[dim];
  const Range want = piece(move.mesh, to, move.rule, digits(move.mesh, to.axes, at));
  const auto covered = [&](const std::vector<std::int64_t>& there) {
    return both(want, piece(move.mesh, from, move.rule, digits(move.mesh, from.axes, there))).size();
  };
  const auto joins = [&](AxisId axis) { return contains(along, axis); };
  if (std::ranges::none_of(from.axes, joins)) return covered(at);
  if (std::ranges::all_of(from.axes, joins)) return want.size();  // the pieces tile the dimension
  std::vector<AxisId> joined;
  std::ranges::copy_if(from.axes, std::back_inserter(joined), joins);
  const Range met = pieces_met(move, dim, want);
  std::int64_t sum = 0;
  if (met.size() < axes_size(move.mesh, joined)) {
    for (std::int64_t number = met.begin; number < met.end; ++number)
      if (std::vector<std::int64_t> there = place_of(move.mesh, from.axes, number, at);
          std::ranges::all_of(from.axes, [&](AxisId axis) { return joins(axis) || there[axis] == at[axis]; }))
        sum += covered(there);
    return sum;
  }
  std::vector<std::int64_t> there = at;
  for (AxisId axis : joined) there[axis] = 0;
  do sum += covered(there);
  while (next(move.mesh, joined, there));
  return sum;
}

Need need(const Move& move, std::int64_t device) {
  const std::vector<std::int64_t> at = coordinates(move.mesh, device);
  Need n;
  for (AxisId axis : move.to.unfinished) n.counted = n.counted && at[axis] == 0;
  n.needs = n.holds = 1;
  for (std::size_t d = 0; d < move.to.dims.size(); ++d) {
    n.needs *=
        piece(move.mesh, move.to.dims[d], move.rule, digits(move.mesh, move.to.dims[d].axes, at)).size();
    n.holds *= overlap(move, d, at, move.to.unfinished);
  }
  if (foreign_parts(move) > 1) n.holds = 0;
  return n;
}

std::vector<std::int64_t> fewest_elements(const Move& move) {
  std::vector<std::int64_t> fewest(devices(move.mesh), 0);
  for (std::size_t device = 0; device < fewest.size(); ++device) {
    const Need n = need(move, static_cast<std::int64_t>(device));
    if (n.counted) fewest[device] = n.needs - n.holds;
  }
  return fewest;
}

// P parts; Q of them foreign to a fibre of the target; `fibres` of those need each element.
//   P = 1      an element goes to every fibre that lacks it
//   Q = 1      where a fibre lacks it, either its P parts go to each that does, or P-1 values add it up and
//              one goes to every other fibre: all hold the same, for they are replicas
//   Q > 1      P-1 values add it up at one fibre (P where no fibre in need holds a part), and one goes
//              to each other; or so within each of the P/Q parts that the target keeps apart
std::int64_t cheapest_bytes(const Move& move, DType wire) {
  const std::vector<AxisId>& along = move.to.unfinished;
  const std::int64_t added = format(wire).bytes, moved = format(move.to.dtype).bytes;
  std::int64_t cut = 1;
  for (const Dim& dim : move.to.dims) cut *= axes_size(move.mesh, dim.axes);
  const std::int64_t whole = elements(move.to), P = parts(move.mesh, move.from), Q = foreign_parts(move);
  const std::int64_t all_fibres = devices(move.mesh) / axes_size(move.mesh, along), fibres = all_fibres / cut;
  if (Q > 1) {
    const std::int64_t rooted = stay(move, {}).elements, spread_out = whole * (fibres - 1) * moved;
    return std::min(P / Q * ((whole * Q - rooted) * added + spread_out),
                    (whole * P - rooted) * added + spread_out);
  }
  const Stay held = stay(move, along);
  const std::int64_t holding = all_fibres / held.coordinates;  // fibres that hold an element, if one does
  const auto each = [&](std::int64_t lacking) {
    if (P == 1 || lacking == 0) return lacking * moved;
    const std::int64_t others = lacking == fibres ? fibres : fibres - 1;
    return std::min(P * lacking * moved, (P - 1) * added + others * moved);
  };
  return held.elements * each(fibres - holding) + (whole - held.elements) * each(fibres);
}

}  // namespace plumb
