// The rows of a matrix as doubles, with what the proofs need to know of each row.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "reference/exact/exact.h"

namespace plumb {

// Row i is values[i * stride .. + depth), padded with zeros to the stride, a multiple of 8.
struct Lines {
  std::int64_t count = 0, depth = 0, stride = 0;
  double* values = nullptr;
  std::vector<double> norm;   // at least the 2-norm of the row; infinite where an element is not finite
  std::vector<double> unit;   // a power of two that divides every element; 0 where none is known or needed
  std::vector<double> ratio;  // at least norm / unit; 0 where all are zero, infinite where no unit is known
  std::unique_ptr<double[]> own;

  const double* row(std::int64_t i) const { return values + i * stride; }
};

struct Freed {
  void operator()(double* room) const { std::free(room); }
};

// Doubles that are kept between calls, for a thread: fresh pages cost as much as a product of a few
// hundred rows. Beyond 256 MiB nothing is kept. They lie on large pages where the system has some: rows a
// small page apart would each want an entry of the processor's page table.
struct Scratch {
  std::unique_ptr<double[], Freed> room;
  std::int64_t size = 0;
};
double* reserve(Scratch&, std::int64_t size);

// Room for the rows of `m`, in `room` if there is one; nothing is read yet.
std::int64_t doubles_for(const Matrix& m);
Lines lines_for(const Matrix& m, double* room = nullptr);

// Reads rows [begin, end) of `m`, and their facts.
void read_lines(const Matrix& m, std::int64_t begin, std::int64_t end, Lines& lines);

}  // namespace plumb
