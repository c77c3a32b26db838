// Sums of products: dot, convolution.
#pragma once

#include "reference/hlo/run/convolution.h"
#include "reference/hlo/run/elementwise.h"
#include "reference/hlo/run/lanes.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {

// What a sum of n products needs of the numbers on its left and on its right.
template <typename Numbers>
auto left(Numbers& numbers, const typename Numbers::Number& x) {
  return numbers.left(x);
}
template <typename Numbers>
auto right(Numbers& numbers, const typename Numbers::Number& x, std::int64_t n) {
  return numbers.right(x, n);
}
template <typename Numbers>
std::int64_t left(Numbers&, const std::int64_t& x) {
  return x;
}
template <typename Numbers>
std::int64_t right(Numbers&, const std::int64_t& x, std::int64_t) {
  return x;
}

// The sum; integers wrap.
template <typename Numbers>
auto sum_of_products(Numbers& numbers, const typename Numbers::Factor* a, const typename Numbers::Factor* b,
                     std::int64_t n) {
  return numbers.dot(a, b, n);
}
template <typename Numbers>
std::int64_t sum_of_products(Numbers&, const std::int64_t* a, const std::int64_t* b, std::int64_t n) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i)
    sum += static_cast<std::uint64_t>(a[i]) * static_cast<std::uint64_t>(b[i]);
  return static_cast<std::int64_t>(sum);
}

// A batch of products: lhs [batch, rows, inner] times rhs [batch, columns, inner].
struct Product {
  Matrices lhs, rhs;
  std::int64_t batch = 1, rows = 1, columns = 1, inner = 1;
};

inline std::int64_t extent(const Integers& dims, const Integers& list) {
  std::int64_t n = 1;
  for (const std::int64_t d : list) n *= dims[static_cast<std::size_t>(d)];
  return n;
}

// The result is [batch, rows, columns].
inline Product dot_product(const Instruction& i, const Integers& lhs, const Integers& rhs,
                           const Integers& result) {
  const auto lb = get<Integers>(i, Key::lhs_batch_dims), rb = get<Integers>(i, Key::rhs_batch_dims),
             lc = get<Integers>(i, Key::lhs_contracting_dims),
             rc = get<Integers>(i, Key::rhs_contracting_dims);
  const Integers lf = others(lhs.size(), {&lb, &lc}), rf = others(rhs.size(), {&rb, &rc});
  Product p;
  p.lhs = matrices(lhs, listed({lb, lf}), lc), p.rhs = matrices(rhs, listed({rb, rf}), rc);
  p.batch = extent(lhs, lb), p.rows = extent(lhs, lf), p.columns = extent(rhs, rf), p.inner = extent(lhs, lc);
  require(lb.size() == rb.size() && lc.size() == rc.size(), "dimensions in pairs");
  Integers want;
  for (std::size_t d = 0; d < lb.size(); ++d) {
    want.push_back(lhs[static_cast<std::size_t>(lb[d])]);
    require(want.back() == rhs[static_cast<std::size_t>(rb[d])], "batch dimensions of one extent");
  }
  for (std::size_t d = 0; d < lc.size(); ++d)
    require(lhs[static_cast<std::size_t>(lc[d])] == rhs[static_cast<std::size_t>(rc[d])],
            "contracted dimensions of one extent");
  for (const std::int64_t d : lf) want.push_back(lhs[static_cast<std::size_t>(d)]);
  for (const std::int64_t d : rf) want.push_back(rhs[static_cast<std::size_t>(d)]);
  require(want == result, "the result has the batch, the rows and the columns");
  return p;
}

// One operand of a product in the lanes of the result.
template <typename E>
struct Side {
  const E* elements;
  Integers begins;  // of each lane of the result where its elements begin
};

// Rows of the left side that are read at once, term by term: their elements may lie side by side.
constexpr std::int64_t kRowsAtOnce = 4;

// All results: the rows of all matrices of all lanes, each by itself.
template <typename Numbers, typename E>
void multiply(const Machine<Numbers>& machine, const Product& p, const Side<E>& lhs, const Side<E>& rhs,
              E* to) {
  Numbers& numbers = machine.numbers;
  using Left = decltype(left(numbers, *to));
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    std::vector<Left> row(static_cast<std::size_t>(kRowsAtOnce * p.inner)), columns;
    columns.reserve(static_cast<std::size_t>(p.columns * p.inner));
    std::pair<std::int64_t, std::int64_t> laid{-1, -1};  // the matrix whose columns they are
    Pace pace{machine.pulse.pause};
    each_lane(begin, end, p.rows, [&](std::int64_t matrix, std::int64_t first, std::int64_t last) {
      const std::int64_t b = matrix % p.batch;
      const auto lane = static_cast<std::size_t>(matrix / p.batch);
      if (const std::pair held{rhs.begins[lane], b}; held != laid) {
        columns.clear(), laid = held;
        for (std::int64_t c = b * p.columns; c < (b + 1) * p.columns; ++c)
          for (const std::int64_t term : p.rhs.terms)
            columns.push_back(
                right(numbers, rhs.elements[held.first + p.rhs.lines[static_cast<std::size_t>(c)] + term],
                      p.inner));
      }
      const E* own = lhs.elements + lhs.begins[lane];
      const std::int64_t* lines = p.lhs.lines.data() + b * p.rows;
      E* results = to + matrix * p.rows * p.columns;
      for (std::int64_t some; first < last; first += some) {
        some = std::min(kRowsAtOnce, last - first);
        for (std::int64_t k = 0; k < p.inner; ++k)
          for (std::int64_t r = 0; r < some; ++r)
            ::new (&row[static_cast<std::size_t>(r * p.inner + k)])
                Left(left(numbers, own[lines[first + r] + p.lhs.terms[static_cast<std::size_t>(k)]]));
        for (std::int64_t c = 0; c < p.columns; ++c)
          for (std::int64_t r = 0; r < some; ++r)
            ::new (results + (first + r) * p.columns + c) E(sum_of_products(
                numbers, row.data() + r * p.inner, columns.data() + c * p.inner, p.inner));
        pace(some * p.columns * p.inner);
      }
    });
  };
  each_part(std::ssize(lhs.begins) * p.batch * p.rows, p.columns * p.inner, rows);
}

template <typename Numbers>
auto dot(const Machine<Numbers>& machine, const Instruction& i, const Array<typename Numbers::Number>& lhs,
         const Array<typename Numbers::Number>& rhs) {
  using Number = typename Numbers::Number;
  require(is_real(lhs.type) == is_real(rhs.type) && is_real(lhs.type) == is_real(i.shape.type),
          "floats, or integers");
  doubt_undecided(machine.numbers, lhs), doubt_undecided(machine.numbers, rhs);
  const Product p = dot_product(i, lhs.dims, rhs.dims, i.shape.dims);
  const Joint joint = joined<Number>({&lhs, &rhs});
  Array<Number> result{i.shape.type, i.shape.dims, joint.lanes, {}, {}, joint.holders};
  visit(result, [&](const auto& kind) {
    using E = typename std::decay_t<decltype(kind)>::value_type;
    auto& to = elements_of(result, kind);
    to.resize(static_cast<std::size_t>(joint.lanes * elements(i.shape)));
    const auto side = [&](std::size_t n, const Array<Number>& a) {
      Side<E> all{elements_of(a, kind).data(), {}};
      for (std::int64_t lane = 0; lane < joint.lanes; ++lane)
        all.begins.push_back(begin_of(joint, n, a, lane, count(a.dims)));
      return all;
    };
    multiply(machine, p, side(0, lhs), side(1, rhs), to.data());
    if constexpr (std::is_same_v<E, std::int64_t>)
      for (E& x : to) x = wrap(i.shape.type, x);
  });
  return result;
}

template <typename Numbers>
auto convolution(const Machine<Numbers>& machine, const Instruction& i,
                 const Array<typename Numbers::Number>& input,
                 const Array<typename Numbers::Number>& kernel) {
  using Number = typename Numbers::Number;
  require(is_real(input.type) == is_real(kernel.type) && is_real(input.type) == is_real(i.shape.type),
          "floats, or integers");
  doubt_undecided(machine.numbers, input), doubt_undecided(machine.numbers, kernel);
  const Terms terms = convolution_terms(i, input.dims, kernel.dims, i.shape.dims);
  auto result = like<Number>(i.shape, common_lanes({&input, &kernel}));
  visit(result, [&](const auto& kind) {
    using E = typename std::decay_t<decltype(kind)>::value_type;
    std::vector<decltype(left(machine.numbers, kind[0]))> a, b;
    Pace pace{machine.pulse.pause};
    for (std::int64_t lane = 0; lane < result.lanes; ++lane) {
      const E* x = elements_of(input, kind).data() + begin_of(input, lane, count(input.dims));
      const E* y = elements_of(kernel, kind).data() + begin_of(kernel, lane, count(kernel.dims));
      for (std::size_t n = 0; n + 1 < terms.begin.size(); ++n) {
        a.clear(), b.clear();
        const std::int64_t begin = terms.begin[n], end = terms.begin[n + 1];
        for (auto t = static_cast<std::size_t>(begin); t < static_cast<std::size_t>(end); ++t) {
          a.push_back(left(machine.numbers, x[terms.input[t]]));
          b.push_back(right(machine.numbers, y[terms.kernel[t]], end - begin));
        }
        elements_of(result, kind)
            .push_back(sum_of_products(machine.numbers, a.data(), b.data(), std::ssize(a)));
        pace(end - begin);
      }
    }
    if constexpr (std::is_same_v<E, std::int64_t>)
      for (E& x : result.integers) x = wrap(i.shape.type, x);
  });
  return result;
}

}  // namespace plumb::hlo
