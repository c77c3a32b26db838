// A product spread over ranks and reduced in a ring, with a fault by name: subjects for the tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/rounding/bound.h"

namespace plumb {

// A matrix engine as MMA-Sim models it (arXiv 2511.10909): the products of a block and the sum so far are
// aligned to the largest exponent, truncated to so many bits of fraction and added; the sum is truncated to
// `out` bits.
struct TermBlocks {
  std::string_view name;
  std::int64_t terms;
  int fraction, out;
  Engine engine;
};
inline constexpr TermBlocks kBlocks[] = {
    {"Volta",      4,  23, 23, Engine::matrix   },
    {"Ampere",     8,  24, 23, Engine::matrix   },
    {"Hopper",     16, 25, 23, Engine::matrix   },
    {"Hopper fp8", 32, 13, 13, Engine::matrix_f8},
};

inline double truncated_to(double x, int exponent) {
  return std::ldexp(std::trunc(std::ldexp(x, -exponent)), exponent);
}

inline double add_in_blocks(const TermBlocks& blocks, const float* a, const float* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t k = 0; k < count; k += blocks.terms) {
    const std::int64_t end = std::min(count, k + blocks.terms);
    int largest = sum == 0 ? -1000 : std::ilogb(sum);
    for (std::int64_t i = k; i < end; ++i)
      if (a[i] != 0 && b[i] != 0) largest = std::max(largest, std::ilogb(a[i]) + std::ilogb(b[i]));
    double block = truncated_to(sum, largest - blocks.fraction);
    for (std::int64_t i = k; i < end; ++i)
      block += truncated_to(static_cast<double>(a[i]) * b[i], largest - blocks.fraction);
    sum = block == 0 ? 0 : truncated_to(block, std::ilogb(block) - blocks.out);
  }
  return sum;
}

struct Emulated {
  std::int64_t size = 48, depth = 2048, parts = 8;  // [size, depth] [depth, size] over `parts` ranks
  double mean = 0;                                  // of the data; their deviation is 1
  DType wire = DType::bf16;
  std::string_view fault;
  std::uint64_t seed = 1;
  const TermBlocks* blocks = nullptr;  // by which engine; none: one term after the other
  std::string_view order = "ring";     // of the reduction: ring, tree, wide
};

struct Specimen {
  Reduction reduction;
  Exact exact;
  Tensor partials, got;
};

inline Tensor draw(const Emulated& of, std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Tensor t = zeros(DType::bf16, {rows, cols});
  for (std::int64_t i = 0; i < rows * cols; ++i)
    store(DType::bf16, t.bytes.data() + 2 * i, encode(DType::bf16, of.mean + normal(random)));
  return t;
}

// Toward zero, to the digits of the format.
inline double truncated(DType dtype, double x) {
  const double near = decode(dtype, encode(dtype, x));
  if (std::fabs(near) <= std::fabs(x)) return near;
  const std::uint64_t bits = encode(dtype, near);
  return decode(dtype, bits - 1);
}

inline double nearest(DType dtype, double x) { return decode(dtype, encode(dtype, x)); }

// One rank's sum in the accumulate type, in order.
inline double local_sum(const Emulated& of, const float* a, const float* b, std::int64_t rank) {
  const std::int64_t terms = of.depth / of.parts;
  if (of.blocks) return add_in_blocks(*of.blocks, a, b, terms);
  const bool truncating = of.fault == "truncating engine", narrow = of.fault == "bf16 accumulator";
  const bool one = rank == 1 && of.fault == "drop a term", many = rank == 1 && of.fault == "drop 32 terms";
  float sum = 0;
  for (std::int64_t k = 0; k < terms; ++k) {
    if ((one && k == 5) || (many && k < 32)) continue;
    if (truncating)
      sum = static_cast<float>(
          truncated(DType::f32, static_cast<double>(sum) + static_cast<double>(a[k]) * b[k]));
    else
      sum += a[k] * b[k];
    if (narrow && k % 32 == 31) sum = static_cast<float>(nearest(DType::bf16, sum));
  }
  return sum;
}

// The ranks' sums for one element, faults of whole ranks included.
inline void spoil(const Emulated& of, std::int64_t element, std::vector<double>& sums) {
  const std::int64_t i = element / of.size, j = element % of.size;
  if (of.fault == "drop a rank") sums[1] = 0;
  if (of.fault == "count a rank twice") sums[1] *= 2;
  if (of.fault == "scale a rank") sums[1] *= 1 + 0x1p-6;
  if (of.fault == "drop a rank in a tile" && i < 16 && j < 16) sums[1] = 0;
}

inline double ring(const Emulated& of, std::int64_t element, const std::vector<double>& sums) {
  const bool cut = of.fault == "truncating wire";
  const auto put = [&](double x) { return cut ? truncated(of.wire, x) : nearest(of.wire, x); };
  double sum = put(sums[element % of.parts]);
  for (std::int64_t step = 1; step < of.parts; ++step) sum = put(sum + sums[(element + step) % of.parts]);
  return sum;
}

// In pairs, and pairs of pairs.
inline double in_pairs(DType wire, std::vector<double> sums) {
  for (double& sum : sums) sum = nearest(wire, sum);
  while (sums.size() > 1) {
    for (std::size_t i = 0; i < sums.size() / 2; ++i)
      sums[i] = nearest(wire, nearest(DType::f32, sums[2 * i] + sums[2 * i + 1]));
    if (sums.size() % 2) sums[sums.size() / 2] = sums.back();
    sums.resize((sums.size() + 1) / 2);
  }
  return sums[0];
}

// As a switch does: in f32, rounded once.
inline double in_accumulator(DType wire, const std::vector<double>& sums) {
  float sum = 0;
  for (double part : sums) sum += static_cast<float>(nearest(wire, part));
  return nearest(wire, sum);
}

inline double reduced(const Emulated& of, std::int64_t element, const std::vector<double>& sums) {
  if (of.order == "tree") return in_pairs(of.wire, sums);
  return of.order == "wide" ? in_accumulator(of.wire, sums) : ring(of, element, sums);
}

inline Specimen emulate(const Emulated& of) {
  const Tensor a = draw(of, of.size, of.depth, of.seed * 2), b = draw(of, of.size, of.depth, of.seed * 2 + 1);
  const Matrix left = matrix(a), right = transpose(matrix(b));
  Specimen run{
      {DType::f32, of.wire, of.wire, of.depth / of.parts, of.parts},
      exact_product(left, right), { },
      { }
  };
  const std::int64_t terms = of.depth / of.parts, count = of.size * of.size;
  run.partials = zeros(DType::f64, {of.parts, of.size, of.size});
  for (std::int64_t p = 0; p < of.parts; ++p) {
    const Matrix ap{a.bytes.data() + 2 * p * terms, DType::bf16, of.size, terms, of.depth, 1};
    const Matrix bp{b.bytes.data() + 2 * p * terms, DType::bf16, terms, of.size, 1, of.depth};
    matmul(ap, bp, DType::f64,
           {run.partials.bytes.data() + 8 * p * count, DType::f64, of.size, of.size, of.size, 1});
  }
  run.exact.partial = sum_parts(absolute(run.partials), DType::f64);
  std::vector<float> x(of.size * of.depth), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(value(a, static_cast<std::int64_t>(i))),
    y[i] = static_cast<float>(value(b, static_cast<std::int64_t>(i)));
  run.got = zeros(of.wire, {of.size, of.size});
  std::vector<double> sums(of.parts);
  for (std::int64_t e = 0; e < count; ++e) {
    for (std::int64_t p = 0; p < of.parts; ++p) {
      std::int64_t row = e / of.size;
      if (p == 1 && of.fault == "swap two rows" && row < 2) row = 1 - row;
      if (p == 1 && of.fault == "stale shard") row = (row + 7) % of.size;
      sums[p] = local_sum(of, x.data() + row * of.depth + p * terms,
                          y.data() + e % of.size * of.depth + p * terms, p);
    }
    spoil(of, e, sums);
    store(of.wire, run.got.bytes.data() + e * format(of.wire).bytes, encode(of.wire, reduced(of, e, sums)));
  }
  return run;
}

// How many elements lie outside of the bound.
inline std::int64_t outside(const Reduction& r, const Exact& e, const Tensor& got) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < elements(got.shape); ++i) count += !inside(interval(r, e, i), value(got, i));
  return count;
}

}  // namespace plumb
