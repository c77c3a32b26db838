#include "adapters/local/ranks.h"

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

std::size_t block_bytes(const Ranks& ranks, std::int64_t device) {
  return static_cast<std::size_t>(ranks.elements(device) * format(ranks.stored).bytes);
}

// Gives every block its place. A block is followed by poison to the end of its line and one line more.
void place(Ranks& ranks) {
  const auto n = static_cast<std::int64_t>(ranks.offsets.size()) - 1;
  std::size_t next = 0;
  for (std::int64_t device = 0; device < n; ++device) {
    ranks.offsets[device] = next;
    next += (block_bytes(ranks, device) + kLine - 1) / kLine * kLine + kLine;
  }
  ranks.offsets[n] = next;
  const std::size_t alignment = next >= kHuge ? kHuge : kLine;
  const std::size_t size = (next + alignment) / alignment * alignment;
  ranks.memory.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, size)));
  if (!ranks.memory) throw std::bad_alloc();
  if (alignment == kHuge) madvise(ranks.memory.get(), size, MADV_HUGEPAGE);
}

void lay(Ranks& ranks, Contents contents) {
  if (contents == Contents::poison) {
    std::memset(ranks.memory.get(), kPoison, ranks.offsets.back());
    return;
  }
  for (std::int64_t device = 0; device < ranks.devices(); ++device) {
    const std::size_t bytes = block_bytes(ranks, device);
    if (contents == Contents::zeros) std::memset(ranks.block(device), 0, bytes);
    std::memset(ranks.block(device) + bytes, kPoison,
                ranks.offsets[device + 1] - ranks.offsets[device] - bytes);
  }
}

}  // namespace

Slice Ranks::slice(std::int64_t device) const {
  Slice all;
  for (int d = 0; d < rank(); ++d) all.push_back({box(device)[2 * d], box(device)[2 * d + 1]});
  return all;
}

std::int64_t Ranks::elements(std::int64_t device) const {
  std::int64_t n = 1;
  for (int d = 0; d < rank(); ++d) n *= box(device)[2 * d + 1] - box(device)[2 * d];
  return n;
}

Ranks allocate(const Layout& layout, const Spec& spec, DType stored, Contents contents) {
  const std::int64_t n = devices(*layout.mesh);
  Ranks ranks{.spec = spec, .stored = stored, .bounds = {}, .offsets = {}, .memory = nullptr};
  ranks.offsets.resize(n + 1);
  ranks.bounds.reserve(n * 2 * ranks.rank());
  for (std::int64_t device = 0; device < n; ++device)
    for (const Range& range : block(*layout.mesh, spec, layout.rule, device)) {
      ranks.bounds.push_back(range.begin);
      ranks.bounds.push_back(range.end);
    }
  place(ranks);
  lay(ranks, contents);
  return ranks;
}

Ranks allocate_like(const Ranks& like, DType stored, Contents contents) {
  Ranks ranks{
      .spec = like.spec, .stored = stored, .bounds = like.bounds, .offsets = like.offsets, .memory = nullptr};
  place(ranks);
  lay(ranks, contents);
  return ranks;
}

std::vector<double> values_of(const Ranks& r, std::int64_t device) {
  std::vector<double> values(r.elements(device));
  decode(r.stored, r.block(device), std::ssize(values), values.data());
  return values;
}

bool intact(const Ranks& ranks) {
  for (std::int64_t device = 0; device < ranks.devices(); ++device) {
    const std::byte* end = ranks.block(device) + block_bytes(ranks, device);
    const std::byte* next = ranks.memory.get() + ranks.offsets[device + 1];
    if (!std::all_of(end, next, [&](std::byte b) { return b == std::byte{kPoison}; })) return false;
  }
  return true;
}

Ranks cast(Ranks ranks, DType stored) {
  if (ranks.stored == stored) return ranks;
  Ranks to = allocate_like(ranks, stored, Contents::any);
  std::array<double, 256> values;
  const int in = format(ranks.stored).bytes, out = format(stored).bytes;
  for (std::int64_t device = 0; device < ranks.devices(); ++device) {
    const std::int64_t n = ranks.elements(device);
    for (std::int64_t i = 0; i < n; i += std::ssize(values)) {
      const std::int64_t count = std::min<std::int64_t>(std::ssize(values), n - i);
      decode(ranks.stored, ranks.block(device) + i * in, count, values.data());
      encode(stored, values.data(), count, to.block(device) + i * out);
    }
  }
  return to;
}

}  // namespace plumb
