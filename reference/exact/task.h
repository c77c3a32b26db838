// A large product, and some rows of it, each done by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/exact/exact.h"
#include "reference/exact/lines.h"

namespace plumb {

struct Task {
  const Lines& left;
  const Lines& right;
  const MutableMatrix& c;
  bool exact_products;  // in double, for every pair of elements
  bool may_overflow;
};

// Rows of the result, room for doubles, and for each 4 rows and a column which are not yet decided.
struct Chunk {
  std::int64_t begin, end;
  double* room;
  std::vector<std::uint8_t> open;
};

}  // namespace plumb
