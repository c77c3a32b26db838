// Gather and scatter: which elements the index vectors mean.
#include <algorithm>

#include "reference/hlo/run/maps.h"

namespace plumb::hlo {
namespace {

std::size_t at(std::int64_t d) { return static_cast<std::size_t>(d); }
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
