// The blocks that a process holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "adapters/rank/hands.h"
#include "reference/words/spec.h"

namespace plumb {

struct AlignedFree {
  void (*free)(std::byte*) = own_hands().memory.free;
  void operator()(std::byte* p) const { free(p); }
};

// Memory as blocks have it: aligned to a line of the cache, or in huge pages where it is large. Throws
// std::bad_alloc.
using AlignedMemory = std::unique_ptr<std::byte[], AlignedFree>;
AlignedMemory aligned(std::size_t bytes, const Hands& = own_hands());

// Which blocks those are: of the devices of a mesh whose ids lie in a range. A backend of virtual devices
// holds them all, a rank of MPI those of one device or a few. They lie where its hands reach.
struct Holder {
  const Mesh* mesh = nullptr;
  Rule rule = Rule::flat;
  Range own;
  const Hands* hands = &own_hands();
};
inline Holder holder_of_all(const Mesh& mesh, Rule rule) {
  return {
      &mesh, rule, {0, devices(mesh)}
  };
}

// One value laid out over the devices of a holder: each owns a dense block, apart from every other's, with
// poison between them. `stored` may be wider than the dtype of the spec while a sum is unfinished.
struct Blocks {
  Spec spec;
  DType stored = DType::f32;
  Range own;                         // the devices
  std::vector<std::int64_t> bounds;  // of each block in the global array: begin, end per dimension
  std::vector<std::size_t> offsets;  // of each block in the memory, one more for the end
  AlignedMemory memory;
  const Hands* hands = &own_hands();

  int rank() const { return static_cast<int>(spec.dims.size()); }
  const std::int64_t* box(std::int64_t device) const {
    return bounds.data() + (device - own.begin) * 2 * rank();
  }
  std::int64_t devices() const { return own.size(); }
  Slice slice(std::int64_t device) const;
  std::int64_t elements(std::int64_t device) const;
  std::byte* block(std::int64_t device) { return memory.get() + offsets[device - own.begin]; }
  const std::byte* block(std::int64_t device) const { return memory.get() + offsets[device - own.begin]; }
};

// Blocks that lie elsewhere have a copy here, made once; what is in it comes by `bring_here` and goes by
// `put_back`, the poison between them, too.
Blocks copy_here(const Blocks&);
void bring_here(const Blocks& there, Blocks& here);
void put_back(const Blocks& here, Blocks& there);

// Poison is all ones: NaN in every floating-point format.
enum class Contents : std::uint8_t { poison, zeros, any };

Blocks allocate(const Holder&, const Spec&, DType stored, Contents);
Blocks allocate_like(const Blocks&, DType stored, Contents);

// The values of a device's block, here; and back, each rounded once.
std::vector<double> values_of(const Blocks&, std::int64_t device);
void put_values(Blocks&, std::int64_t device, const std::vector<double>&);

// Whether the poison between the blocks is as it was laid.
bool intact(const Blocks&);

// Writes what is due between the blocks, and `contents` into them.
void lay(Blocks&, Contents);

// Every element becomes one of `to`, of the format in which that is stored; both may be the same blocks.
void recast_all(const Blocks& from, Blocks& to, double divisor, double most);

// The same value in the format of `to`, each element rounded once.
void cast(const Blocks& from, Blocks& to);

}  // namespace plumb
