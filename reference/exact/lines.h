// The rows of a matrix as doubles, with what the proofs need to know of each row.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reference/exact/exact.h"

namespace plumb {

// Row i is values[i * stride .. + depth), padded with zeros to the stride, a multiple of 8.
struct Lines {
  std::int64_t count = 0, depth = 0, stride = 0;
  std::unique_ptr<double[]> values;
  std::vector<double> norm;   // at least the 2-norm of the row; not finite where an element is not
  std::vector<double> ratio;  // at least norm / the largest power of two that divides every element
  std::vector<double> least;  // at most the least magnitude that is not zero

  const double* row(std::int64_t i) const { return values.get() + i * stride; }
};

// Room for the rows of `m`; nothing is read yet.
Lines lines_for(const Matrix& m);

// Reads rows [begin, end) of `m`, and their facts.
void read_rows(const Matrix& m, std::int64_t begin, std::int64_t end, Lines& lines);

}  // namespace plumb
