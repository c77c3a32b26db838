// A table of what a device is asked, in its memory.
#pragma once

#include <span>

#include "adapters/rank/blocks.h"

namespace plumb::cuda {

template <class Row>
struct Laid {
  AlignedMemory memory;
  const Row* rows() const { return reinterpret_cast<const Row*>(memory.get()); }
};

template <class Row>
Laid<Row> lay(const Hands& hands, std::span<const Row> rows) {
  Laid<Row> laid{aligned(rows.size_bytes(), hands)};
  hands.memory.put(laid.memory.get(), reinterpret_cast<const std::byte*>(rows.data()), rows.size_bytes());
  return laid;
}

}  // namespace plumb::cuda
