// The memory of the virtual ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "reference/words/spec.h"

namespace plumb {

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

// One value laid out over the ranks: each owns a dense block, apart from every other's, with poison
// between them. `stored` may be wider than the dtype of the spec while a sum is unfinished.
struct Ranks {
  Spec spec;
  DType stored = DType::f32;
  std::vector<std::int64_t> bounds;  // of each block in the global array: begin, end per dimension
  std::vector<std::size_t> offsets;  // of each block in the memory, one more for the end
  std::unique_ptr<std::byte[], Free> memory;

  int rank() const { return static_cast<int>(spec.dims.size()); }
  std::int64_t devices() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  const std::int64_t* box(std::int64_t device) const { return bounds.data() + device * 2 * rank(); }
  Slice slice(std::int64_t device) const;
  std::int64_t elements(std::int64_t device) const;
  std::byte* block(std::int64_t device) { return memory.get() + offsets[device]; }
  const std::byte* block(std::int64_t device) const { return memory.get() + offsets[device]; }
};

// Poison is all ones: NaN in every floating-point format.
enum class Contents : std::uint8_t { poison, zeros, any };

// Where blocks lie; several values may share a layout.
struct Layout {
  const Mesh* mesh = nullptr;
  Rule rule = Rule::flat;
};

Ranks allocate(const Layout&, const Spec&, DType stored, Contents);
Ranks allocate_like(const Ranks&, DType stored, Contents);

// The values of a device's block.
std::vector<double> values_of(const Ranks&, std::int64_t device);

// Whether the poison between the blocks is as it was laid.
bool intact(const Ranks&);

// The same value in another format, each element rounded once.
Ranks cast(Ranks, DType stored);

}  // namespace plumb
