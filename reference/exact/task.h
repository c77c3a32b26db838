// A large product, and some rows of it, each done by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/exact/dot.h"
#include "reference/exact/exact.h"
#include "reference/exact/lines.h"

namespace plumb {

// By one dgemm; by three of halves (halves.h), where products cancel or a result holds more bits than one
// dgemm proves; by none.
enum class Method { whole, halves, bins };

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

inline constexpr std::int64_t kBlock = 256;  // columns rounded at a time

// Elements (i, j) to (i, j + count) of the result, and the ends of an interval around each.
struct Ends {
  std::int64_t i, j, count;
  double low[kBlock], high[kBlock];
};

// Stores the elements, rounded, and opens those whose ends differ; `sure` says that none does.
void round_ends(const Task&, const Ends&, bool sure, Chunk&);

// The first way of which a sample says that it proves half of the elements.
Method method_of(const Task&);

// Round the elements of a chunk and open those that are not proved. The room of the chunk holds a double for
// each element, or what doubles_for_halves says of `rows` rows.
void multiply_whole(const Task&, Chunk&);
void multiply_halves(const Task&, Chunk&);
std::int64_t doubles_for_halves(const Task&, std::int64_t rows);

// Decides what is open.
void settle_chunk(const Task&, const Chunk&);

// The element in two bins, for exact products.
Sum2 two_bins(const Task&, std::int64_t i, std::int64_t j);

// gamma_{K+3}, rounded up; the two roundings of x +- e are among the 3.
inline double gamma(std::int64_t depth) {
  const double n = static_cast<double>(depth + 3) * 0x1p-53;
  return n / (1 - n) * (1 + 0x1p-40);
}

}  // namespace plumb
