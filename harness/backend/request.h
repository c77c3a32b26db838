// Requests as lines, and where a case's arrays lie in the arena.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reference/words/op.h"
#include "reference/words/tensor.h"

namespace plumb {

struct Layout {
  std::vector<std::uint64_t> offsets;  // of the operands
  std::uint64_t free = 0;              // from here on the arena is the backend's
  std::uint64_t arena = 0;             // bytes: room for the operands and a whole result on every device
  std::uint64_t due = 0;               // bytes of the blocks that are asked, in a table
};
Layout layout_of(const Case&, std::span<const Tensor> operands);

std::string hello_request(const std::string& arena, const Mesh&);
std::string run_request(std::int64_t id, const Case&, std::span<const Tensor> operands, const Layout&);

}  // namespace plumb
