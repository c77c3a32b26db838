// A product whose rows, or whose contracted elements, belong to groups of given sizes.
#pragma once

#include "reference/hlo/run/product.h"

namespace plumb::hlo {

// lhs [batch, rows, inner] and rhs [group, batch, columns, inner], each in the order of its map. The ragged
// dimension of lhs is one of
//   a batch dimension   the sizes change nothing
//   one of the rows     a row is multiplied by the matrix of its group: [batch, rows, columns]
//   one of inner        a group is a product of its own terms: [group, batch, rows, columns]
// What lies past the last group is in none: zero, or no term.
struct Ragged {
  enum class Mode : std::uint8_t { batch, rows, inner };
  Mode mode = Mode::batch;
  Product product;
  std::int64_t groups = 1;
  // Place p of the rows (or of inner) has the coordinate along[p] in the ragged dimension, and the sizes of
  // its groups begin at sizes[batch][p].
  Integers along;
  std::vector<Integers> sizes;
};
Ragged ragged_product(const Instruction&, const Integers& lhs, const Integers& rhs, const Integers& sizes);

// The group to which a coordinate belongs; -1: none. Sizes are not negative.
std::int64_t group_of(const std::int64_t* sizes, std::int64_t groups, std::int64_t coordinate);

// What one lane gives, of the factors of its operands.
template <typename Numbers, typename F, typename Results>
void multiply(const Machine<Numbers>& machine, const Ragged& r, const F* lhs, const F* rhs,
              const std::int64_t* sizes, Results& to) {
  Numbers& numbers = machine.numbers;
  Pace pace{machine.pulse.pause};
  const Product& p = r.product;
  const auto group = [&](std::int64_t b, std::int64_t place) -> std::int64_t {
    if (r.mode == Ragged::Mode::batch) return 0;
    const std::int64_t begin = r.sizes[static_cast<std::size_t>(b)][static_cast<std::size_t>(place)];
    return group_of(sizes + begin, r.groups, r.along[static_cast<std::size_t>(place)]);
  };
  const auto row = [&](std::int64_t b, std::int64_t n) { return lhs + (b * p.rows + n) * p.inner; };
  const auto column = [&](std::int64_t matrix, std::int64_t n) {
    return rhs + (matrix * p.columns + n) * p.inner;
  };
  if (r.mode != Ragged::Mode::inner) {
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < p.rows; ++n) {
        const std::int64_t g = group(b, n);
        for (std::int64_t c = 0; c < p.columns; ++c)
          to.push_back(sum_of_products(numbers, row(b, n),
                                       column(std::max<std::int64_t>(g, 0) * p.batch + b, c),
                                       g < 0 ? 0 : p.inner));
        pace(p.columns * p.inner);
      }
    return;
  }
  std::vector<F> x, y;  // the terms of one group
  for (std::int64_t g = 0; g < r.groups; ++g)
    for (std::int64_t b = 0; b < p.batch; ++b) {
      Integers own;
      for (std::int64_t k = 0; k < p.inner; ++k)
        if (group(b, k) == g) own.push_back(k);
      for (std::int64_t n = 0; n < p.rows; ++n)
        for (std::int64_t c = 0; c < p.columns; ++c) {
          x.clear(), y.clear();
          for (const std::int64_t k : own) x.push_back(row(b, n)[k]), y.push_back(column(b, c)[k]);
          to.push_back(sum_of_products(numbers, x.data(), y.data(), std::ssize(x)));
          pace(std::ssize(x));
        }
    }
}

template <typename Numbers>
auto ragged_dot(const Machine<Numbers>& machine, const Instruction& i,
                const Pointers<typename Numbers::Number>& operands) {
  Numbers& numbers = machine.numbers;
  const auto &lhs = *operands[0], &rhs = *operands[1], &sizes = *operands[2];
  require(is_real(lhs.type) == is_real(rhs.type) && is_real(lhs.type) == is_real(i.shape.type),
          "floats, or integers");
  require(is_integer(sizes.type), "integers are sizes");
  const Ragged r = ragged_product(i, lhs.dims, rhs.dims, sizes.dims);
  const Integers left_map = listed(r.product.lhs), right_map = listed(r.product.rhs);
  auto result = like<typename Numbers::Number>(i.shape, common_lanes({&lhs, &rhs, &sizes}));
  visit(result, [&](const auto& kind) {
    using E = typename std::decay_t<decltype(kind)>::value_type;
    std::vector<decltype(left(numbers, kind[0]))> a, b;
    for (std::int64_t lane = 0; lane < result.lanes; ++lane) {
      const E* x = elements_of(lhs, kind).data() + begin_of(lhs, lane, std::ssize(left_map));
      const E* y = elements_of(rhs, kind).data() + begin_of(rhs, lane, std::ssize(right_map));
      a.clear(), b.clear();
      for (const std::int64_t n : left_map) a.push_back(left(numbers, x[n]));
      for (const std::int64_t n : right_map) b.push_back(right(numbers, y[n], r.product.inner));
      multiply(machine, r, a.data(), b.data(),
               sizes.integers.data() + begin_of(sizes, lane, count(sizes.dims)), elements_of(result, kind));
    }
    if constexpr (std::is_same_v<E, std::int64_t>)
      for (E& x : result.integers) x = wrap(i.shape.type, x);
  });
  return result;
}

}  // namespace plumb::hlo
