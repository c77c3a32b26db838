// Memory of a device for a while. What is given back is kept, up to some, for who asks next: a card takes
// longer to find memory than to prove a block.
#pragma once

#include <algorithm>
#include <new>
#include <vector>

#include "reference/device/memory.h"

namespace plumb {

struct KeptMemory {
  static constexpr std::size_t kKept = std::size_t{96} << 20;
  struct Piece {
    const DeviceMemory* of;
    std::byte* at;
    std::size_t bytes;
  };
  std::vector<Piece> pieces;
  std::size_t bytes = 0;

  KeptMemory() = default;
  KeptMemory(const KeptMemory&) = delete;
  ~KeptMemory() { give_back(); }

  // The smallest that is large enough, and not much larger.
  std::byte* taken(const DeviceMemory& of, std::size_t& size) {
    const auto fits = [&](const Piece& p) { return p.of == &of && p.bytes >= size && p.bytes / 4 <= size; };
    auto best = pieces.end();
    for (auto p = pieces.begin(); p != pieces.end(); ++p)
      if (fits(*p) && (best == pieces.end() || p->bytes < best->bytes)) best = p;
    if (best == pieces.end()) return nullptr;
    std::byte* at = best->at;
    size = best->bytes, bytes -= size;
    pieces.erase(best);
    return at;
  }
  void give_back() {
    for (const Piece& p : pieces) p.of->free(p.at);
    pieces.clear(), bytes = 0;
  }
  void keep(const Piece& piece) {
    if (bytes + piece.bytes > kKept) return piece.of->free(piece.at);
    pieces.push_back(piece), bytes += piece.bytes;
  }
};

// Of one thread, which gives a device its work in order: what the next one is told to do comes after.
inline KeptMemory& kept_memory() {
  static thread_local KeptMemory all;
  return all;
}

struct There {
  const DeviceMemory* memory;
  std::size_t size;
  std::byte* at;

  There(const DeviceMemory& m, std::int64_t bytes)
      : memory(&m),
        size(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))),
        at(kept_memory().taken(m, size)) {
    if (!at) at = m.allocate(size);
    if (!at) kept_memory().give_back(), at = m.allocate(size);
    if (!at) throw std::bad_alloc();
  }
  There(const There&) = delete;
  ~There() { kept_memory().keep({memory, at, size}); }
  std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(at); }
};

}  // namespace plumb
