// Sums of products: dot, convolution.
#pragma once

#include "reference/hlo/run/convolution.h"
#include "reference/hlo/run/elementwise.h"
#include "reference/hlo/run/lanes.h"

namespace plumb::hlo {

// The sum of n products; integers wrap.
template <typename Numbers>
typename Numbers::Number sum_of_products(Numbers& numbers, const typename Numbers::Number* a,
                                         const typename Numbers::Number* b, std::int64_t n) {
  return numbers.dot(a, b, n);
}
template <typename Numbers>
std::int64_t sum_of_products(Numbers&, const std::int64_t* a, const std::int64_t* b, std::int64_t n) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i)
    sum += static_cast<std::uint64_t>(a[i]) * static_cast<std::uint64_t>(b[i]);
  return static_cast<std::int64_t>(sum);
}

// A batch of matrices: lhs [batch, rows, inner] times rhs [batch, columns, inner], each in the order of its
// map.
struct Product {
  Integers lhs, rhs;
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
  p.lhs = matrix_map(lhs, listed({lb, lf}), lc), p.rhs = matrix_map(rhs, listed({rb, rf}), rc);
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

template <typename Numbers, typename E>
void multiply(Numbers& numbers, const Product& p, const E* lhs, const E* rhs, std::vector<E>& to) {
  const std::size_t begin = to.size();
  to.resize(begin + static_cast<std::size_t>(p.batch * p.rows * p.columns));
  E* out = to.data() + begin;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t c = 0; c < p.columns; ++c)
        *out++ = sum_of_products(numbers, lhs + (b * p.rows + r) * p.inner,
                                 rhs + (b * p.columns + c) * p.inner, p.inner);
}

template <typename Numbers>
auto dot(const Machine<Numbers>& machine, const Instruction& i, const Array<typename Numbers::Number>& lhs,
         const Array<typename Numbers::Number>& rhs) {
  using Number = typename Numbers::Number;
  require(is_real(lhs.type) == is_real(rhs.type) && is_real(lhs.type) == is_real(i.shape.type),
          "floats, or integers");
  const Product p = dot_product(i, lhs.dims, rhs.dims, i.shape.dims);
  const Joint joint = joined<Number>({&lhs, &rhs});
  Array<Number> result{i.shape.type, i.shape.dims, joint.lanes, {}, {}, joint.holders};
  visit(result, [&](const auto& kind) {
    using E = typename std::decay_t<decltype(kind)>::value_type;
    std::vector<E> a, b;
    const auto arrange = [](const std::vector<E>& from, const Integers& map, std::int64_t begin,
                            std::vector<E>& to) {
      to.resize(map.size());
      for (std::size_t n = 0; n < map.size(); ++n) to[n] = from[static_cast<std::size_t>(begin + map[n])];
    };
    auto& to = elements_of(result, kind);
    to.reserve(static_cast<std::size_t>(result.lanes * elements(i.shape)));
    for (std::int64_t lane = 0; lane < result.lanes; ++lane) {
      if (lane == 0 || lhs.lanes > 1)
        arrange(elements_of(lhs, kind), p.lhs, begin_of(joint, 0, lhs, lane, std::ssize(p.lhs)), a);
      if (lane == 0 || rhs.lanes > 1)
        arrange(elements_of(rhs, kind), p.rhs, begin_of(joint, 1, rhs, lane, std::ssize(p.rhs)), b);
      multiply(machine.numbers, p, a.data(), b.data(), to);
    }
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
  const Terms terms = convolution_terms(i, input.dims, kernel.dims, i.shape.dims);
  auto result = like<Number>(i.shape, common_lanes({&input, &kernel}));
  visit(result, [&](const auto& kind) {
    using E = typename std::decay_t<decltype(kind)>::value_type;
    std::vector<E> a, b;
    for (std::int64_t lane = 0; lane < result.lanes; ++lane) {
      const E* x = elements_of(input, kind).data() + begin_of(input, lane, count(input.dims));
      const E* y = elements_of(kernel, kind).data() + begin_of(kernel, lane, count(kernel.dims));
      for (std::size_t n = 0; n + 1 < terms.begin.size(); ++n) {
        a.clear(), b.clear();
        for (auto t = static_cast<std::size_t>(terms.begin[n]);
             t < static_cast<std::size_t>(terms.begin[n + 1]); ++t)
          a.push_back(x[terms.input[t]]), b.push_back(y[terms.kernel[t]]);
        elements_of(result, kind)
            .push_back(sum_of_products(machine.numbers, a.data(), b.data(), std::ssize(a)));
      }
    }
    if constexpr (std::is_same_v<E, std::int64_t>)
      for (E& x : result.integers) x = wrap(i.shape.type, x);
  });
  return result;
}

}  // namespace plumb::hlo
