#include "adapters/rank/blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <new>

namespace plumb {
namespace {

constexpr std::size_t kLine = 64;  // alignment of a block, and the least poison after it
constexpr std::size_t kHuge = std::size_t{2} << 20;

constexpr int kPoison = 0xff;

std::size_t block_bytes(const Blocks& blocks, std::int64_t device) {
  return static_cast<std::size_t>(blocks.elements(device) * format(blocks.stored).bytes);
}

// Where the poison after a block ends.
const std::byte* end_of(const Blocks& blocks, std::int64_t device) {
  return blocks.memory.get() + blocks.offsets[device - blocks.own.begin + 1];
}

// Gives every block its place. A block is followed by poison to the end of its line and one line more.
void place(Blocks& blocks) {
  std::size_t next = 0;
  for (std::int64_t i = 0; i < blocks.own.size(); ++i) {
    blocks.offsets[i] = next;
    next += (block_bytes(blocks, blocks.own.begin + i) + kLine - 1) / kLine * kLine + kLine;
  }
  blocks.offsets.back() = next;
  blocks.memory = aligned(next);
}

}  // namespace

AlignedMemory aligned(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHuge ? kHuge : kLine;
  const std::size_t size = (bytes + alignment) / alignment * alignment;
  AlignedMemory memory(static_cast<std::byte*>(std::aligned_alloc(alignment, size)));
  if (!memory) throw std::bad_alloc();
  if (alignment == kHuge) madvise(memory.get(), size, MADV_HUGEPAGE);
  return memory;
}

void lay(Blocks& blocks, Contents contents) {
  if (contents == Contents::poison) {
    std::memset(blocks.memory.get(), kPoison, blocks.offsets.back());
    return;
  }
  for (std::int64_t device = blocks.own.begin; device < blocks.own.end; ++device) {
    const std::size_t bytes = block_bytes(blocks, device);
    if (contents == Contents::zeros) std::memset(blocks.block(device), 0, bytes);
    std::memset(blocks.block(device) + bytes, kPoison,
                static_cast<std::size_t>(end_of(blocks, device) - blocks.block(device)) - bytes);
  }
}

Slice Blocks::slice(std::int64_t device) const {
  Slice all;
  for (int d = 0; d < rank(); ++d) all.push_back({box(device)[2 * d], box(device)[2 * d + 1]});
  return all;
}

std::int64_t Blocks::elements(std::int64_t device) const {
  std::int64_t n = 1;
  for (int d = 0; d < rank(); ++d) n *= box(device)[2 * d + 1] - box(device)[2 * d];
  return n;
}

Blocks allocate(const Holder& holder, const Spec& spec, DType stored, Contents contents) {
  Blocks blocks{
      .spec = spec, .stored = stored, .own = holder.own, .bounds = {}, .offsets = {}, .memory = nullptr};
  blocks.offsets.resize(holder.own.size() + 1);
  blocks.bounds.reserve(holder.own.size() * 2 * blocks.rank());
  for (std::int64_t device = holder.own.begin; device < holder.own.end; ++device)
    for (const Range& range : block(*holder.mesh, spec, holder.rule, device)) {
      blocks.bounds.push_back(range.begin);
      blocks.bounds.push_back(range.end);
    }
  place(blocks);
  lay(blocks, contents);
  return blocks;
}

Blocks allocate_like(const Blocks& like, DType stored, Contents contents) {
  Blocks blocks{.spec = like.spec,
                .stored = stored,
                .own = like.own,
                .bounds = like.bounds,
                .offsets = like.offsets,
                .memory = nullptr};
  place(blocks);
  lay(blocks, contents);
  return blocks;
}

std::vector<double> values_of(const Blocks& r, std::int64_t device) {
  std::vector<double> values(r.elements(device));
  decode(r.stored, r.block(device), std::ssize(values), values.data());
  return values;
}

bool intact(const Blocks& blocks) {
  for (std::int64_t device = blocks.own.begin; device < blocks.own.end; ++device) {
    const std::byte* end = blocks.block(device) + block_bytes(blocks, device);
    if (!std::all_of(end, end_of(blocks, device), [&](std::byte b) { return b == std::byte{kPoison}; }))
      return false;
  }
  return true;
}

void cast(const Blocks& from, Blocks& to) {
  std::array<double, 256> values;
  const int in = format(from.stored).bytes, out = format(to.stored).bytes;
  for (std::int64_t device = from.own.begin; device < from.own.end; ++device) {
    const std::int64_t n = from.elements(device);
    for (std::int64_t i = 0; i < n; i += std::ssize(values)) {
      const std::int64_t count = std::min<std::int64_t>(std::ssize(values), n - i);
      decode(from.stored, from.block(device) + i * in, count, values.data());
      encode(to.stored, values.data(), count, to.block(device) + i * out);
    }
  }
}

}  // namespace plumb
