// The one fast product of doubles that the exact ones rest on.
#pragma once

#include <cstdint>
#include <string>

namespace plumb {

// Rows of doubles, `stride` apart.
struct Rows {
  const double* data;
  std::int64_t count, depth, stride;
};

// c[i * stride + j] = the dot product of row i of a and row j of b, summed in some order in double.
using Dgemm = void (*)(const Rows& a, const Rows& b, double* c, std::int64_t stride);

// The fastest dgemm of this machine, or null where there is none that can be trusted. It runs on the
// calling thread and may run on several at once.
Dgemm dgemm();

// What dgemm() is: "OpenBLAS 0.3.21 SkylakeX, sums exact products", for the record of a run.
std::string dgemm_name();

// How many threads a single call uses (1 unless a benchmark wants its baseline).
void dgemm_threads(int count);

// Whether `candidate` adds up exact products of doubles: random data for which every partial sum of
// products is a double, in any order, while sums of elements of a row or of a column are not. Fails for
// algorithms of Strassen's kind and for emulations of double by narrower types.
bool sums_exact_products(Dgemm candidate, std::int64_t size);

}  // namespace plumb
