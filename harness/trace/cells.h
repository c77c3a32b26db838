// The cells into which the edges of blocks cut an array.
#pragma once

#include <optional>
#include <vector>

#include "reference/words/spec.h"

namespace plumb {

// All cells, and the devices whose block at the end holds each.
struct Cells {
  std::vector<Slice> boxes;
  std::vector<std::vector<std::int64_t>> needers;  // devices
};

bool contains(const Slice& outer, const Slice& inner);

// Nullopt where there are more than `most` of them, times the devices.
std::optional<Cells> cells_of(const std::vector<Slice>& begins, const std::vector<Slice>& ends,
                              std::int64_t most);

}  // namespace plumb
