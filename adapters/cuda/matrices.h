// The local product of one device as products of matrices, where its letters make some.
#pragma once

#include <optional>
#include <vector>

#include "adapters/plan/plan.h"
#include "reference/words/spec.h"

namespace plumb::cuda {

// A matrix as it lies, by columns: where it begins, in elements, how far apart its columns are, and the next
// of a batch.
struct Matrix {
  std::int64_t first = 0, columns_apart = 1, next = 0;
  bool transposed = false;
};

// out[rows, columns] = left[rows, depth] right[depth, columns], for each of a batch; or added to what is
// there.
struct Gemm {
  std::int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  Matrix left, right, out;
  bool swapped = false;  // left is the second operand: what lies by rows is the transposed by columns
  bool adds = false;
};

struct Gemms {
  std::vector<Gemm> all;
  bool zeroed = false;  // elements are in none of them: the block has to begin as zeros
};

// Nothing where the letters of a block are not those of a batch, then of a matrix. Rows of a grouped product:
// each group by itself, each run of rows by itself.
struct ProductSlices {
  Slice lhs, rhs, out;
};
std::optional<Gemms> gemms_of(const LocalProduct&, const ProductSlices&);

}  // namespace plumb::cuda
