// The operands of a request, as a backend gets them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// An operand lies whole in the arena; one with unfinished axes has a leading dimension for its parts.
struct Operand {
  std::span<const std::byte> bytes;
  std::vector<std::int64_t> shape;
};

// Writes what a device has of an operand: a slice of one part, dense.
using Write = std::function<void(std::size_t operand, std::int64_t part, const Slice&, std::byte* to)>;

// From operands in the arena; and from the recipe of the data, where there are none. To this processor's
// memory, or to that of a device.
struct DeviceCheck;
Write cutting(const Case&, const std::vector<Operand>&, const DeviceCheck* there = nullptr);
Write filling(const Case&, const DeviceCheck* there = nullptr);

}  // namespace plumb
