// The table of blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "adapters/protocol/outcome.h"

namespace plumb {

// As its int64 words, and back: of each block device, result, offset, bytes, ndim, then per dimension
// nranges and its ranges. parse throws Malformed on a table that ends early or has rows left
// over.
std::vector<std::int64_t> table(const std::vector<Block>&);
std::vector<Block> parse_table(std::span<const std::int64_t> words, std::int64_t rows);

}  // namespace plumb
