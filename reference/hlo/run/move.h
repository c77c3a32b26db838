// Operations that move elements: each is a map (maps.h), applied to every lane.
#pragma once

#include "reference/hlo/run/lanes.h"
#include "reference/hlo/run/maps.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {

// The elements that the map names, of each lane; `fill` stands where it has -1.
template <typename Number>
Array<Number> taken(const Array<Number>& a, const Integers& map, const Shape& shape,
                    const Array<Number>* fill = nullptr) {
  require(std::ssize(map) == elements(shape) && a.type == shape.type, "the result has the operand's type");
  auto result = like<Number>(shape, fill ? common_lanes({&a, fill}) : a.lanes);
  const std::int64_t size = count(a.dims);
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    to.resize(map.size() * static_cast<std::size_t>(result.lanes));
    require(fill || std::ranges::none_of(map, [](std::int64_t i) { return i < 0; }),
            "an element that is not there");
    each_part(std::ssize(to), 2, [&](std::int64_t begin, std::int64_t end) {
      each_lane(begin, end, std::ssize(map), [&](std::int64_t lane, std::int64_t first, std::int64_t last) {
        const auto* elements = from.data() + begin_of(a, lane, size);
        const auto* filling = fill ? elements_of(*fill, from).data() + begin_of(*fill, lane, 1) : nullptr;
        auto* out = to.data() + lane * std::ssize(map);
        for (std::int64_t n = first; n < last; ++n) {
          const std::int64_t at = map[static_cast<std::size_t>(n)];
          out[n] = at >= 0 ? elements[at] : *filling;
        }
      });
    });
  });
  return result;
}

// The same elements in other extents.
template <typename Number>
Array<Number> reshaped(const Array<Number>& a, const Shape& shape) {
  require(count(a.dims) == elements(shape) && a.type == shape.type, "as many elements, of one type");
  Array<Number> result = a;
  result.dims = shape.dims;
  return result;
}

template <typename Number>
Array<Number> concatenate(const std::vector<const Array<Number>*>& operands, std::int64_t dimension,
                          const Shape& shape) {
  std::int64_t lanes = 1, offset = 0;
  for (const Array<Number>* operand : operands) {
    require(operand->type == shape.type, "operands of one type");
    lanes = std::max(lanes, common_lanes({operand}));
  }
  auto result = like<Number>(shape, lanes);
  const std::int64_t size = elements(shape);
  visit(result,
        [&](const auto& kind) { elements_of(result, kind).resize(static_cast<std::size_t>(size * lanes)); });
  for (const Array<Number>* operand : operands) {
    const Shape part{operand->type, operand->dims, {}, {}, {}};
    const Integers map = concatenate_map(part, dimension, offset, shape);
    offset += operand->dims[static_cast<std::size_t>(dimension)];
    visit(*operand, [&](const auto& from) {
      auto& to = elements_of(result, from);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const auto* elements = from.data() + begin_of(*operand, lane, std::ssize(map));
        for (std::size_t i = 0; i < map.size(); ++i)
          to[static_cast<std::size_t>(lane * size + map[i])] = elements[i];
      }
    });
  }
  require(offset == shape.dims[static_cast<std::size_t>(dimension)],
          "the result holds the operands and no more");
  return result;
}

template <typename Number>
Pointers<Number> together(Pointers<Number> all, const Pointers<Number>& others) {
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

// The start of a block in one lane, from a scalar for each dimension: the operands from `first` on.
template <typename Number>
Integers start_of(const Joint& joint, const Pointers<Number>& operands, std::size_t first,
                  std::int64_t lane) {
  Integers start;
  for (std::size_t d = first; d < operands.size(); ++d) {
    const Array<Number>& s = *operands[d];
    const std::int64_t n = s.integers[static_cast<std::size_t>(begin_of(joint, d, s, lane, 1))];
    start.push_back(s.type == Type::u64 && n < 0 ? INT64_MAX : n);
  }
  return start;
}

template <typename Number>
void check_starts(const Integers& dims, const Pointers<Number>& starts) {
  require(starts.size() == dims.size(), "a start for each dimension");
  for (const Array<Number>* s : starts)
    require(is_integer(s->type) && s->dims.empty(), "starts are integers");
}

template <typename Number>
Array<Number> dynamic_slice(const Array<Number>& a, const Pointers<Number>& starts, const Shape& shape) {
  require(a.type == shape.type, "the result has the operand's type");
  const Integers map = block_map(a.dims, shape.dims);
  const Pointers<Number> both = together({&a}, starts);
  const Joint joint = joined(both);
  check_starts(a.dims, starts);
  Array<Number> result{shape.type, shape.dims, joint.lanes, {}, {}, joint.holders};
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    to.reserve(map.size() * static_cast<std::size_t>(result.lanes));
    for (std::int64_t lane = 0; lane < result.lanes; ++lane) {
      const auto* base = from.data() + begin_of(joint, 0, a, lane, count(a.dims)) +
                         block_offset(a.dims, shape.dims, start_of(joint, both, 1, lane));
      for (const std::int64_t i : map) to.push_back(base[i]);
    }
  });
  return result;
}

template <typename Number>
Array<Number> dynamic_update_slice(const Array<Number>& a, const Array<Number>& update,
                                   const Pointers<Number>& starts) {
  require(a.type == update.type, "an update of the operand's type");
  const Integers map = block_map(a.dims, update.dims);
  const Pointers<Number> all = together({&a, &update}, starts);
  const Joint joint = joined(all);
  check_starts(a.dims, starts);
  Array<Number> result{a.type, a.dims, joint.lanes, {}, {}, joint.holders};
  const std::int64_t size = count(a.dims);
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    const auto& block = elements_of(update, from);
    to.reserve(static_cast<std::size_t>(size * result.lanes));
    for (std::int64_t lane = 0; lane < result.lanes; ++lane) {
      const auto* old = from.data() + begin_of(joint, 0, a, lane, size);
      to.insert(to.end(), old, old + size);
      auto* base = to.data() + lane * size + block_offset(a.dims, update.dims, start_of(joint, all, 2, lane));
      const auto* put = block.data() + begin_of(joint, 1, update, lane, std::ssize(map));
      for (std::size_t i = 0; i < map.size(); ++i) base[map[i]] = put[i];
    }
  });
  return result;
}

template <typename Number>
Array<Number> gather(const Instruction& i, const Array<Number>& a, const Array<Number>& indices) {
  require(is_integer(indices.type) && a.type == i.shape.type, "integers that index, and the operand's type");
  const Indexing indexing =
      gather_indexing(i, {a.type, a.dims, {}, {}, {}}, {indices.type, indices.dims, {}, {}, {}});
  const Joint joint = joined<Number>({&a, &indices});
  Array<Number> result{i.shape.type, i.shape.dims, joint.lanes, {}, {}, joint.holders};
  const std::int64_t size = count(a.dims), length = count(indices.dims);
  Integers map;
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    for (std::int64_t lane = 0; lane < result.lanes; ++lane) {
      if (lane == 0 || indices.lanes > 1)
        map =
            indexed_map(indexing, indices.integers.data() + begin_of(joint, 1, indices, lane, length), true);
      const auto* elements = from.data() + begin_of(joint, 0, a, lane, size);
      for (const std::int64_t n : map) to.push_back(elements[n]);
    }
  });
  return result;
}

}  // namespace plumb::hlo
