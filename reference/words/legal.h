// What a line must obey beyond its grammar; private to the words room. Each throws BadInput at the
// offending character.
#pragma once

#include <vector>

#include "reference/words/scan.h"

namespace plumb {

constexpr std::int64_t most_devices = std::int64_t{1} << 24;
constexpr std::int64_t most_bytes = std::int64_t{1} << 62;

// A letter of one operand alone stands in the result; a letter of the result stands in an operand.
void check_letters(const Einsum&, const Scan&, std::size_t out_at);

// Every operand and result has the dtype and sizes that the op gives it; operands come first.
void check_shapes(const Op&, const std::vector<Placed>&, const Scan&);

// One size for each group in each list; no block of rows is overfull. `at` is the first size.
void check_sizes(const Op&, const Scan&, std::size_t at);
void check_rows(const Op&, const std::vector<std::vector<std::int64_t>>& sizes, const Scan&, std::size_t at);

void check_acc(const Op&, DType, const Scan&, std::size_t at);
void check_wire(const Op&, DType, const Scan&, std::size_t at);
void check_fill(const Op&, Fill, const Scan&, std::size_t at);

}  // namespace plumb
