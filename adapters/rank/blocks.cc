#include "adapters/rank/blocks.h"

#include <algorithm>
#include <new>

namespace plumb {
namespace {

constexpr std::size_t kApart = 64;  // alignment of a block, and the least poison after it

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
    next += (block_bytes(blocks, blocks.own.begin + i) + kApart - 1) / kApart * kApart + kApart;
  }
  blocks.offsets.back() = next;
  blocks.memory = aligned(next, *blocks.hands);
}

}  // namespace

AlignedMemory aligned(std::size_t bytes, const Hands& hands) {
  AlignedMemory memory(hands.memory.allocate(bytes), {hands.memory.free});
  if (!memory) throw std::bad_alloc();
  return memory;
}

void lay(Blocks& blocks, Contents contents) {
  if (contents == Contents::poison) {
    blocks.hands->memory.set(blocks.memory.get(), kPoison, blocks.offsets.back());
    return;
  }
  for (std::int64_t device = blocks.own.begin; device < blocks.own.end; ++device) {
    const std::size_t bytes = block_bytes(blocks, device);
    if (contents == Contents::zeros) blocks.hands->memory.set(blocks.block(device), 0, bytes);
    blocks.hands->memory.set(blocks.block(device) + bytes, kPoison,
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
  Blocks blocks{.spec = spec,
                .stored = stored,
                .own = holder.own,
                .bounds = {},
                .offsets = {},
                .memory = nullptr,
                .hands = holder.hands};
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
                .memory = nullptr,
                .hands = like.hands};
  place(blocks);
  lay(blocks, contents);
  return blocks;
}

Blocks copy_here(const Blocks& there) {
  Blocks blocks{.spec = there.spec,
                .stored = there.stored,
                .own = there.own,
                .bounds = there.bounds,
                .offsets = there.offsets,
                .memory = nullptr,
                .hands = &own_hands()};
  place(blocks);
  return blocks;
}

void bring_here(const Blocks& there, Blocks& here) {
  there.hands->memory.get(here.memory.get(), there.memory.get(), here.offsets.back());
}

void put_back(const Blocks& here, Blocks& there) {
  there.hands->memory.put(there.memory.get(), here.memory.get(), here.offsets.back());
}

std::vector<double> values_of(const Blocks& r, std::int64_t device) {
  std::vector<double> values(r.elements(device));
  std::vector<std::byte> bytes(block_bytes(r, device));
  r.hands->memory.get(bytes.data(), r.block(device), bytes.size());
  decode(r.stored, bytes.data(), std::ssize(values), values.data());
  return values;
}

void put_values(Blocks& r, std::int64_t device, const std::vector<double>& values) {
  std::vector<std::byte> bytes(block_bytes(r, device));
  encode(r.stored, values.data(), std::ssize(values), bytes.data());
  r.hands->memory.put(r.block(device), bytes.data(), bytes.size());
}

bool intact(const Blocks& blocks) {
  std::vector<std::byte> between;
  for (std::int64_t device = blocks.own.begin; device < blocks.own.end; ++device) {
    const std::byte* end = blocks.block(device) + block_bytes(blocks, device);
    between.resize(end_of(blocks, device) - end);
    blocks.hands->memory.get(between.data(), end, between.size());
    if (std::ranges::count(between, std::byte{kPoison}) != std::ssize(between)) return false;
  }
  return true;
}

void recast_all(const Blocks& from, Blocks& to, double divisor, double most) {
  for (std::int64_t device = from.own.begin; device < from.own.end; ++device)
    from.hands->recast({from.stored, to.stored, divisor, most}, from.block(device), to.block(device),
                       from.elements(device));
}

void cast(const Blocks& from, Blocks& to) { recast_all(from, to, 1, 0); }

}  // namespace plumb
