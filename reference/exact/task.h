// A large product, and some rows of it, each done by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/exact/dot.h"
#include "reference/exact/exact.h"
#include "reference/exact/lines.h"

namespace plumb {

inline constexpr std::int64_t kBlock = 256;  // columns rounded at a time
inline constexpr std::int64_t kPanel = 64;   // columns that stay in cache while all rows pass

// By one dgemm; where products cancel, by three of halves (halves.h); by none.
enum class Way { whole, halves, bins };

struct Task {
  const Lines& left;
  const Lines& right;
  const MutableMatrix& c;
  bool exact_products;  // in double, for every pair of elements
  bool may_overflow;
  Way way = Way::whole;
  std::vector<double> most_ratio;  // of each block of columns
};

// Rows of the result, room for doubles, and for each 4 rows and a column which are not yet decided.
struct Chunk {
  std::int64_t begin, end;
  double* room;
  std::vector<std::uint8_t> open;
};

// Elements (i, j) to (i, j + count) of the result, and the ends of an interval around each.
struct Ends {
  std::int64_t i, j, count;
  double low[kBlock], high[kBlock];
};

// Stores the elements, rounded, and opens those whose ends differ; `sure` says that none does.
void round_ends(const Task&, const Ends&, bool sure, Chunk&);

// Decides what is open.
void settle_chunk(const Task&, const Chunk&);

// gamma_{K+3}, rounded up; the two roundings of x +- e are among the 3.
double gamma(std::int64_t depth);

// The way that leaves the fewest elements open, as a sample says.
Way best_way(const Task&);

// Rounds the elements of a chunk by three dgemms, and opens those that they do not prove. The room of the
// chunk holds as many doubles as the other says.
void multiply_halves(const Task&, Chunk&);
std::int64_t doubles_for_halves(const Matrix& a, const Matrix& columns);

}  // namespace plumb
