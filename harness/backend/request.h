// Requests as lines, and where a case's arrays lie in the arena.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adapters/protocol/timing.h"
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
// Of the operands, a table, and a clock for each device.
Layout layout_of_bench(const Case&, const Timing&, std::span<const Tensor> operands);

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
struct Given {  // of a case's operands, whole, and where they lie
  std::span<const Tensor> operands;
  Layout layout;
};
std::string run_request(const Numbered&, const Case&, std::span<const Tensor> operands, const Layout&);

// Of a program that fills: no operand, and what may follow while its results are kept.
std::string run_in_place_request(const Numbered&, const Case&, const Layout&);
// `first`: of a case that was timed, the results of the first iteration, not of the last.
std::string check_request(const Numbered&, const Layout&, std::uint64_t seed, bool first);
std::string fetch_request(const Numbered&, const Layout&, bool first);

// Of a program that times. The operands travel where there are any: one that fills makes them itself.
std::string bench_request(const Numbered&, const Case&, const Timing&, const Given&);

// What a rank could do at best: of bytes that are copied or sent, or the library's own call. An iteration is
// `batch` of them.
struct LimitAsked {
  std::string what;
  std::int64_t bytes = 0, iterations = 1, batch = 1;
};
std::string limit_request(const Numbered&, const Layout&, const LimitAsked&);

}  // namespace plumb
