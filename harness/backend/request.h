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
Layout layout_in_place(const Case&);  // of a table, or proofs, alone

// `seconds` are those until the deadline.
struct Hail {
  std::string arena;
  double seconds = 0;
};
std::string hello_request(const Hail&, const Mesh&);
struct Numbered {
  std::int64_t id = 0;
  double seconds = 0, run_seconds = 0;  // run_seconds: of the phase `run`, from its beginning
};
std::string run_request(const Numbered&, const Case&, std::span<const Tensor> operands, const Layout&);

// Of a program that fills: no operand, and what may follow while its results are kept.
std::string run_in_place_request(const Numbered&, const Case&, const Layout&);
std::string check_request(const Numbered&, const Layout&, std::uint64_t seed);
std::string fetch_request(const Numbered&, const Layout&);

}  // namespace plumb
