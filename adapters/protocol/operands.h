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

// From operands in the arena; and from the recipe of the data, where there are none.
Write cutting(const Case&, const std::vector<Operand>&);
Write filling(const Case&);

}  // namespace plumb
