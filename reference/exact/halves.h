// Dot products by three exact dgemms of halves.
//
// The elements of a row are multiples of its unit u: x = u (2^20 h + l) with h and l integers, |l| <= 2^19.
// Of two rows whose reaches (below) multiply to less than 2^51, every partial sum of products of h, of l or
// of h + l is an integer below 2^51, so that a dgemm rounds nothing. With H, L and M these three products, by
// Karatsuba's identity,
//
//   sum x y / (u v) = 2^40 H + 2^20 (M - H - L) + L,
//
// where M - H - L is below 2^53 and what the first sum cuts off is at most 2^38: the result is exact in two
// doubles. Rows of 8192 elements and more reach too far.
#pragma once

#include <cstdint>
#include <span>

namespace plumb {

enum class Half { high, low, both };

// At least the 2-norms of the three halves of a row, in units: `ratio` is at least its norm / its unit.
double reach(double ratio, std::int64_t length);
inline constexpr double kProved = 0x1p51;

// Half of each element of a row, times its unit.
void halve(std::span<const double> row, double unit, Half half, double* to);

// sum[j] + rest[j] = 2^40 high[j] + 2^20 (both[j] - high[j] - low[j]) + low[j], sum[j] being its nearest
// double.
struct Products {
  const double *high, *low, *both;
};
void join(const Products& products, std::int64_t count, double* sum, double* rest);

}  // namespace plumb
