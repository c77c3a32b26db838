#include "reference/hlo/run/maps.h"

#include <algorithm>

namespace plumb::hlo {
namespace {

bool distinct_dims(const Integers& list, std::size_t rank) {
  std::vector<bool> met(rank);
  for (const std::int64_t d : list) {
    if (d < 0 || d >= std::ssize(met) || met[static_cast<std::size_t>(d)]) return false;
    met[static_cast<std::size_t>(d)] = true;
  }
  return true;
}

std::size_t at(std::int64_t d) { return static_cast<std::size_t>(d); }

}  // namespace

Integers strides_of(const Integers& dims) {
  Integers strides(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

Integers stepped(std::int64_t base, const Integers& dims, const Integers& steps) {
  Integers map;
  map.reserve(at(count(dims)));
  if (count(dims) == 0) return map;
  map.push_back(base);
  for (std::size_t d = dims.size(); d-- > 0;) {  // from the minor dimension up, each repeats what is there
    const std::size_t block = map.size();
    for (std::int64_t i = 1; i < dims[d]; ++i)
      for (std::size_t n = 0; n < block; ++n) map.push_back(map[n] + i * steps[d]);
  }
  return map;
}

namespace {

// The elements of an array in the order of memory: a layout that is told names each dimension once, others
// are refused as they are read.
Integers in_memory(const Shape& shape) {
  Integers minor_first = shape.layout;
  if (minor_first.empty())
    for (std::size_t d = shape.dims.size(); d-- > 0;) minor_first.push_back(static_cast<std::int64_t>(d));
  const Integers strides = strides_of(shape.dims);
  Integers dims, steps;
  for (std::size_t n = minor_first.size(); n-- > 0;) {
    dims.push_back(shape.dims[at(minor_first[n])]);
    steps.push_back(strides[at(minor_first[n])]);
  }
  return stepped(0, dims, steps);
}

}  // namespace

Integers bitcast_map(const Shape& operand, const Shape& result) {
  require(count(operand.dims) == count(result.dims), "as many elements");
  require(operand.tiling == result.tiling && (operand.tiling.empty() || operand.dims == result.dims),
          "unsupported: a bitcast between tilings");
  const Integers from = in_memory(operand), to = in_memory(result);
  Integers map(from.size());
  for (std::size_t n = 0; n < from.size(); ++n) map[at(to[n])] = from[n];
  return map;
}

Integers broadcast_map(const Shape& operand, const Integers& dimensions, const Shape& result) {
  require(dimensions.size() == operand.dims.size() && distinct_dims(dimensions, result.dims.size()),
          "dimensions= has a dimension of the result for each of the operand");
  const Integers strides = strides_of(operand.dims);
  Integers steps(result.dims.size());
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    require(operand.dims[i] == result.dims[at(dimensions[i])], "the operand's extents stand in the result");
    steps[at(dimensions[i])] = strides[i];
  }
  return stepped(0, result.dims, steps);
}

Integers transpose_map(const Shape& operand, const Integers& dimensions, const Shape& result) {
  const std::size_t rank = operand.dims.size();
  require(dimensions.size() == rank && result.dims.size() == rank && distinct_dims(dimensions, rank),
          "dimensions= is a permutation of the operand's");
  const Integers strides = strides_of(operand.dims);
  Integers steps(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    steps[i] = strides[at(dimensions[i])];
    require(result.dims[i] == operand.dims[at(dimensions[i])], "the result has the operand's extents");
  }
  return stepped(0, result.dims, steps);
}

Integers reverse_map(const Shape& operand, const Integers& dimensions, const Shape& result) {
  require(operand.dims == result.dims && distinct_dims(dimensions, operand.dims.size()),
          "dimensions= are some of the operand's");
  Integers steps = strides_of(operand.dims);
  std::int64_t base = 0;
  for (const std::int64_t d : dimensions) {
    base += (operand.dims[at(d)] - 1) * steps[at(d)];
    steps[at(d)] = -steps[at(d)];
  }
  return stepped(base, result.dims, steps);
}

Integers slice_map(const Shape& operand, const std::vector<Range>& ranges, const Shape& result) {
  require(ranges.size() == operand.dims.size() && result.dims.size() == ranges.size(),
          "a range for each dimension");
  const Integers strides = strides_of(operand.dims);
  Integers steps(ranges.size());
  std::int64_t base = 0;
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    const Range& r = ranges[d];
    require(0 <= r.begin && r.begin <= r.end && r.end <= operand.dims[d] && r.step > 0,
            "ranges lie in the operand");
    require(result.dims[d] == (r.end - r.begin + r.step - 1) / r.step,
            "the result has the extents of the ranges");
    base += r.begin * strides[d], steps[d] = r.step * strides[d];
  }
  return stepped(base, result.dims, steps);
}

Integers pad_map(const Shape& operand, const std::vector<Pad>& pads, const Shape& result) {
  const std::size_t rank = operand.dims.size();
  require(pads.size() == rank && result.dims.size() == rank, "a padding for each dimension");
  Integers map(at(count(result.dims)), -1);
  const Integers strides = strides_of(result.dims);
  for (std::size_t d = 0; d < rank; ++d) {
    const Pad& p = pads[d];
    const std::int64_t spread = operand.dims[d] + std::max<std::int64_t>(operand.dims[d] - 1, 0) * p.inside;
    require(p.inside >= 0 && result.dims[d] == p.low + spread + p.high, "the result has the padded extents");
  }
  std::int64_t from = 0;
  each_index(operand.dims, [&](const Integers& index) {
    std::int64_t to = 0;
    bool inside = true;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t i = pads[d].low + index[d] * (pads[d].inside + 1);
      inside = inside && 0 <= i && i < result.dims[d];
      to += i * strides[d];
    }
    if (inside) map[at(to)] = from;
    ++from;
  });
  return map;
}

Integers concatenate_map(const Shape& operand, std::int64_t dimension, std::int64_t offset,
                         const Shape& result) {
  const std::size_t rank = result.dims.size();
  require(operand.dims.size() == rank && dimension >= 0 && at(dimension) < rank,
          "dimensions= is one of the operands'");
  for (std::size_t d = 0; d < rank; ++d)
    require(
        d == at(dimension) ? offset + operand.dims[d] <= result.dims[d] : operand.dims[d] == result.dims[d],
        "the result holds the operands side by side");
  const Integers strides = strides_of(result.dims);
  return stepped(offset * strides[at(dimension)], operand.dims, strides);
}

Integers block_map(const Integers& dims, const Integers& sizes) {
  require(dims.size() == sizes.size(), "an extent of the block for each dimension");
  for (std::size_t d = 0; d < dims.size(); ++d)
    require(0 <= sizes[d] && sizes[d] <= dims[d], "a block that is no larger than what it is cut of: XLA refuses such a module, too");
  return stepped(0, sizes, strides_of(dims));
}

std::int64_t block_offset(const Integers& dims, const Integers& sizes, const Integers& start) {
  const Integers strides = strides_of(dims);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < dims.size(); ++d)
    offset += std::clamp<std::int64_t>(start[d], 0, dims[d] - sizes[d]) * strides[d];
  return offset;
}

Matrices matrices(const Integers& dims, const Integers& lines, const Integers& terms) {
  const Integers strides = strides_of(dims);
  const auto places = [&](const Integers& list) {
    Integers extents, steps;
    for (const std::int64_t d : list) {
      require(d >= 0 && at(d) < dims.size(), "a dimension that the operand has");
      extents.push_back(dims[at(d)]), steps.push_back(strides[at(d)]);
    }
    return stepped(0, extents, steps);
  };
  Matrices all{places(lines), places(terms)};
  require(lines.size() + terms.size() == dims.size(), "each dimension of the operand once");
  return all;
}

Integers listed(const Matrices& matrices) {
  Integers all;
  all.reserve(matrices.lines.size() * matrices.terms.size());
  for (const std::int64_t line : matrices.lines)
    for (const std::int64_t term : matrices.terms) all.push_back(line + term);
  return all;
}

Integers listed(std::initializer_list<Integers> lists) {
  Integers all;
  for (const Integers& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Integers others(std::size_t rank, std::initializer_list<const Integers*> lists) {
  Integers rest;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d)
    if (std::ranges::none_of(lists, [&](const Integers* list) { return std::ranges::count(*list, d) > 0; }))
      rest.push_back(d);
  return rest;
}

Integers windows_of(const Integers& operand, const std::vector<WindowDim>& window) {
  require(window.size() == operand.size(), "a window for each dimension");
  Integers windows;
  for (std::size_t d = 0; d < operand.size(); ++d) {
    const WindowDim& w = window[d];
    require(!w.reversed, "a window that is not reversed");
    const std::int64_t based = operand[d] == 0 ? 0 : (operand[d] - 1) * w.base_dilation + 1;
    const std::int64_t room = based + w.low + w.high - ((w.size - 1) * w.dilation + 1);
    windows.push_back(room < 0 ? 0 : room / w.stride + 1);
  }
  return windows;
}

Integers window_map(const Integers& operand, const std::vector<WindowDim>& window, const Integers& result,
                    const Integers& place) {
  const std::size_t rank = operand.size();
  const Integers strides = strides_of(operand);
  Integers map;
  map.reserve(at(count(result)));
  each_index(result, [&](const Integers& index) {
    std::int64_t from = 0;
    bool inside = true;
    for (std::size_t d = 0; d < rank && inside; ++d) {
      const WindowDim& w = window[d];
      const std::int64_t i = index[d] * w.stride + place[d] * w.dilation - w.low;
      inside = i >= 0 && i % w.base_dilation == 0 && i / w.base_dilation < operand[d];
      from += i / w.base_dilation * strides[d];
    }
    map.push_back(inside ? from : -1);
  });
  return map;
}

// Gather and scatter: which elements the index vectors mean.
namespace {

bool has(const Integers& list, std::int64_t d) { return std::ranges::count(list, d) > 0; }
bool all_below(const Integers& list, std::size_t rank) {
  return std::ranges::all_of(list, [&](std::int64_t d) { return at(d) < rank; });
}

// The dimensions of the indices without that of the index vectors.
Integers batch_extents(const Indexing& x) {
  Integers extents;
  for (std::size_t d = 0; d < x.indices.size(); ++d)
    if (static_cast<std::int64_t>(d) != x.vector_dim) extents.push_back(x.indices[d]);
  return extents;
}

std::int64_t vector_length(const Indexing& x) {
  return at(x.vector_dim) < x.indices.size() ? x.indices[at(x.vector_dim)] : 1;
}

const Indexing& checked(const Indexing& x) {
  const std::size_t rank = x.operand.size();
  require(x.vector_dim >= 0 && at(x.vector_dim) <= x.indices.size(),
          "index_vector_dim= is one of the indices'");
  require(all_below(x.collapsed, rank) && all_below(x.start_map, rank) && all_below(x.operand_batch, rank) &&
              all_below(x.offset_dims, x.slices.size()) && all_below(x.indices_batch, x.indices.size()),
          "dimensions that are there");
  require(std::ssize(x.start_map) == vector_length(x), "an index for each dimension that is indexed");
  require(x.operand_batch.size() == x.indices_batch.size(), "batch dimensions in pairs");
  require(x.window.size() == rank, "an extent of the window for each dimension of the operand");
  const Integers inner = others(rank, {&x.collapsed, &x.operand_batch});
  const Integers outer = others(x.slices.size(), {&x.offset_dims}), batch = batch_extents(x);
  require(inner.size() == x.offset_dims.size() && outer.size() == batch.size(),
          "the slices have as many dimensions");
  for (std::size_t i = 0; i < inner.size(); ++i)
    require(x.window[at(inner[i])] == x.slices[at(x.offset_dims[i])], "the slices have the window's extents");
  for (std::size_t i = 0; i < outer.size(); ++i)
    require(batch[i] == x.slices[at(outer[i])], "the slices have the indices' extents");
  for (std::size_t d = 0; d < rank; ++d) {
    const bool single =
        has(x.collapsed, static_cast<std::int64_t>(d)) || has(x.operand_batch, static_cast<std::int64_t>(d));
    require(x.window[d] >= 0 && x.window[d] <= x.operand[d] && (!single || x.window[d] <= 1),
            "a window that fits");
  }
  return x;
}

}  // namespace

Indexing gather_indexing(const Instruction& i, const Shape& operand, const Shape& indices) {
  Indexing x{operand.dims,
             get<Integers>(i, Key::slice_sizes),
             get<Integers>(i, Key::offset_dims),
             get<Integers>(i, Key::collapsed_slice_dims),
             get<Integers>(i, Key::start_index_map),
             get<Integers>(i, Key::operand_batching_dims),
             get<Integers>(i, Key::start_indices_batching_dims),
             get<std::int64_t>(i, Key::index_vector_dim),
             indices.dims,
             i.shape.dims};
  return checked(x);
}

Indexing scatter_indexing(const Instruction& i, const Shape& operand, const Shape& indices,
                          const Shape& updates) {
  Indexing x{operand.dims,
             Integers(operand.dims.size(), 1),
             get<Integers>(i, Key::update_window_dims),
             get<Integers>(i, Key::inserted_window_dims),
             get<Integers>(i, Key::scatter_dims_to_operand_dims),
             get<Integers>(i, Key::input_batching_dims),
             get<Integers>(i, Key::scatter_indices_batching_dims),
             get<std::int64_t>(i, Key::index_vector_dim),
             indices.dims,
             updates.dims};
  const Integers inner = others(x.operand.size(), {&x.collapsed, &x.operand_batch});
  require(inner.size() == x.offset_dims.size() && all_below(x.offset_dims, x.slices.size()),
          "update_window_dims= has one for each dimension of the window");
  for (std::size_t d = 0; d < inner.size(); ++d) x.window[at(inner[d])] = x.slices[at(x.offset_dims[d])];
  return checked(x);
}

Integers indexed_map(const Indexing& x, const std::int64_t* indices, bool clamped) {
  const std::size_t rank = x.operand.size();
  const Integers strides = strides_of(x.operand), index_strides = strides_of(x.indices);
  const Integers inner = others(rank, {&x.collapsed, &x.operand_batch});
  const Integers outer = others(x.slices.size(), {&x.offset_dims});
  const std::int64_t length = vector_length(x);
  const bool has_vector = at(x.vector_dim) < x.indices.size();
  Integers map;
  map.reserve(at(count(x.slices)));
  Integers start(rank);
  each_index(x.slices, [&](const Integers& slice) {
    std::int64_t vector_at = 0;
    for (std::size_t i = 0, d = 0; d < x.indices.size(); ++d) {
      if (static_cast<std::int64_t>(d) == x.vector_dim) continue;
      const std::int64_t batch = slice[at(outer[i++])];
      vector_at += batch * index_strides[d];
      const auto pair = std::ranges::find(x.indices_batch, static_cast<std::int64_t>(d));
      if (pair != x.indices_batch.end())
        start[at(x.operand_batch[at(pair - x.indices_batch.begin())])] = batch;
    }
    for (std::int64_t v = 0; v < length; ++v)
      start[at(x.start_map[at(v)])] =
          indices[vector_at + (has_vector ? v * index_strides[at(x.vector_dim)] : 0)];
    bool inside = true;
    std::int64_t from = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t last = x.operand[d] - x.window[d];
      inside = inside && 0 <= start[d] && start[d] <= last;
      from += (clamped ? std::clamp<std::int64_t>(start[d], 0, last) : start[d]) * strides[d];
    }
    if (!clamped && !inside) return map.push_back(-1);
    for (std::size_t i = 0; i < inner.size(); ++i)
      from += slice[at(x.offset_dims[i])] * strides[at(inner[i])];
    map.push_back(from);
  });
  return map;
}

}  // namespace plumb::hlo
