#include "adapters/rank/multiply.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>

#include "adapters/rank/blas.h"

namespace plumb {
namespace {

bool in(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

// Letters by the part they play, and the order of each operand's and the product's elements in which
// it is a row-major matrix product: batch or group, then m and k, k and n, m and n. The letter of the
// groups plays none of the parts.
struct Order {
  std::string batch, m, n, k;
  std::string lhs, rhs, out;
};

Order sort_letters(const LocalProduct& p) {
  Order l;
  const char group = p.grouped ? 'g' : '\0';
  for (char c : p.out) {
    const bool left = in(p.lhs, c), right = in(p.rhs, c);
    if (c != group) (left && right ? l.batch : left ? l.m : l.n) += c;
  }
  for (char c : p.lhs)
    if (!in(p.out, c)) l.k += c;
  const auto first = [&](const std::string& letters) {
    return !p.grouped ? l.batch : in(letters, group) ? std::string(1, group) : std::string();
  };
  l.lhs = first(p.lhs) + l.m + l.k;
  l.rhs = first(p.rhs) + l.k + l.n;
  l.out = first(p.out) + l.m + l.n;
  return l;
}

// Blocks of one rank as the product sees them: the range of every letter.
using At = std::map<char, Range>;

void add_ranges(const std::string& letters, const Slice& slice, At& at) {
  for (std::size_t d = 0; d < letters.size(); ++d) at[letters[d]] = slice[d];
}

std::int64_t count(const At& ranges, const std::string& letters) {
  std::int64_t n = 1;
  for (char c : letters) n *= ranges.at(c).size();
  return n;
}

// A block whose letters are turned into another order.
struct Turned {
  const At& ranges;
  const std::string &letters, &order;
};

// Calls run(i, j) for every element: i its place in the dense order of `order`, j in that of `letters`.
template <class Run>
void each_element(const Turned& turn, Run&& run) {
  const auto& [ranges, letters, order] = turn;
  std::vector<std::int64_t> sizes, steps;
  for (char c : order) {
    sizes.push_back(ranges.at(c).size());
    std::int64_t step = 1;
    for (std::size_t d = letters.size(); d-- > 0 && letters[d] != c;) step *= ranges.at(letters[d]).size();
    steps.push_back(step);
  }
  const std::int64_t n = count(ranges, order), inner = sizes.empty() ? 1 : sizes.back();
  const std::int64_t step = steps.empty() ? 0 : steps.back();
  std::vector<std::int64_t> at(sizes.size(), 0);
  for (std::int64_t i = 0, j = 0; i < n; i += inner) {
    for (std::int64_t k = 0; k < inner; ++k) run(i + k, j + k * step);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (d + 1 == sizes.size()) continue;
      j += steps[d];
      if (++at[d] < sizes[d]) break;
      j -= steps[d] * sizes[d], at[d] = 0;
    }
  }
}

double rounded_to(int digits, double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
}

// Numbers as they are added up: T, after each addition rounded to `acc`, or to so many digits, where T is
// wider.
template <class T, bool rounds>
struct Sums {
  static constexpr bool by_blas = !rounds && std::is_floating_point_v<T>;
  DType acc;
  int digits = 0;
  void add(T& sum, T a, T b) const {
    sum += a * b;
    if constexpr (rounds) sum = digits > 0 ? rounded_to(digits, sum) : decode(acc, encode(acc, sum));
  }
  T from(double value) const {
    if constexpr (std::is_unsigned_v<T>) return static_cast<T>(static_cast<std::int64_t>(value));
    return static_cast<T>(value);
  }
  double to(T value) const {
    if constexpr (std::is_unsigned_v<T>) return static_cast<std::int32_t>(value);
    return static_cast<double>(value);
  }
};

// c[m,n] += a[m,k] b[k,n]
template <class S, class T>
void matmul(const S& sums, const ProductSize& size, const std::array<MatrixRows<const T>, 2>& ab,
            MatrixRows<T> c) {
  if constexpr (S::by_blas)
    if (multiply_by_blas(size, ab[0], ab[1], c)) return;
  for (std::int64_t i = 0; i < size.m; ++i)
    for (std::int64_t k = 0; k < size.k; ++k) {
      const T a = ab[0].at[i * ab[0].step + k];
      const T* b = ab[1].at + k * ab[1].step;
      T* sum = c.at + i * c.step;
      for (std::int64_t j = 0; j < size.n; ++j) sums.add(sum[j], a, b[j]);
    }
}

template <class T, class S>
std::vector<T> pack(const S& sums, const Turned& turn, std::span<const double> values) {
  std::vector<T> packed(values.size());
  each_element(turn, [&](std::int64_t i, std::int64_t j) { packed[i] = sums.from(values[j]); });
  return packed;
}

Range meet(const Range& a, const Range& b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

template <class T>
struct Operands {
  std::vector<T> a, b;
};

template <class T, class S>
std::vector<T> einsum(const S& sums, const Order& l, const At& at, Operands<T>& in) {
  const ProductSize size{count(at, l.m), count(at, l.n), count(at, l.k)};
  std::vector<T> c(count(at, l.out), T{0});
  for (std::int64_t i = 0; i < count(at, l.batch); ++i)
    matmul(sums, size,
           std::array<MatrixRows<const T>, 2>{
               {{in.a.data() + i * size.m * size.k, size.k}, {in.b.data() + i * size.k * size.n, size.n}}
    },
           MatrixRows<T>{c.data() + i * size.m * size.n, size.n});
  return c;
}

// Rows that belong to no group meet nothing.
template <class T, class S>
std::vector<T> grouped(const S& sums, const LocalProduct& p, const At& at, Operands<T>& ab) {
  const Order l = sort_letters(p);
  const Range t = at.at('t'), groups = at.at('g');
  const std::int64_t m = count(at, l.m), n = count(at, l.n), k = count(at, l.k);
  std::vector<T> c(count(at, l.out), T{0});
  for (std::int64_t g = groups.begin; g < groups.end; ++g)
    for (const Range& run : p.rows[g]) {
      const Range rows = meet(run, t);
      const std::int64_t first = rows.begin - t.begin, group = g - groups.begin;
      if (in(l.m, 't'))
        matmul(sums,
               {
                   rows.size(), n, k
        },
               std::array<MatrixRows<const T>, 2>{
                   {{ab.a.data() + first * k, k}, {ab.b.data() + group * k * n, n}}},
               MatrixRows<T>{c.data() + first * n, n});
      else
        matmul(sums,
               {
                   m, n, rows.size()
        },
               std::array<MatrixRows<const T>, 2>{{{ab.a.data() + first, k}, {ab.b.data() + first * n, n}}},
               MatrixRows<T>{c.data() + group * m * n, n});
    }
  return c;
}

template <class T, bool rounds>
void multiply_all(const Plan& plan, const Blocks& lhs, const Blocks& rhs, Blocks& out) {
  const LocalProduct& p = *plan.product;
  const Sums<T, rounds> sums{out.stored, plan.acc_digits};
  const Order l = sort_letters(p);
  for (std::int64_t device = out.own.begin; device < out.own.end; ++device) {
    At at;
    add_ranges(p.lhs, lhs.slice(device), at), add_ranges(p.rhs, rhs.slice(device), at),
        add_ranges(p.out, out.slice(device), at);
    Operands<T> ab{pack<T>(sums, {at, p.lhs, l.lhs}, values_of(lhs, device)),
                   pack<T>(sums, {at, p.rhs, l.rhs}, values_of(rhs, device))};
    const std::vector<T> c = p.grouped ? grouped<T>(sums, p, at, ab) : einsum<T>(sums, l, at, ab);
    std::vector<double> values(c.size());
    each_element({at, p.out, l.out}, [&](std::int64_t i, std::int64_t j) { values[j] = sums.to(c[i]); });
    put_values(out, device, values);
  }
}

void add_products(const LocalProduct& p, const At& at, std::vector<ProductSize>& all) {
  const Order l = sort_letters(p);
  const std::int64_t m = count(at, l.m), n = count(at, l.n), k = count(at, l.k);
  if (!p.grouped) return void(all.insert(all.end(), count(at, l.batch), ProductSize{m, n, k}));
  const Range t = at.at('t'), groups = at.at('g');
  for (std::int64_t g = groups.begin; g < groups.end; ++g)
    for (const Range& run : p.rows[g]) {
      const std::int64_t rows = meet(run, t).size();
      all.push_back(in(l.m, 't') ? ProductSize{rows, n, k} : ProductSize{m, n, rows});
    }
}

}  // namespace

std::vector<ProductSize> plain_products(const Plan& plan, const Holder& holder) {
  std::vector<ProductSize> all;
  if (!plan.product) return all;
  const LocalProduct& p = *plan.product;
  for (std::int64_t device = holder.own.begin; device < holder.own.end; ++device) {
    At at;
    const auto add = [&](const std::string& letters, const Spec& spec) {
      add_ranges(letters, block(plan.mesh, spec, plan.rule, device), at);
    };
    add(p.lhs, p.lhs_spec), add(p.rhs, p.rhs_spec), add(p.out, p.out_spec);
    add_products(p, at, all);
  }
  return all;
}

namespace {

void multiply_elsewhere(const Plan& plan, const Blocks& lhs, const Blocks& rhs, Blocks& out) {
  Blocks left = copy_here(lhs), right = copy_here(rhs), product = copy_here(out);
  bring_here(lhs, left), bring_here(rhs, right), bring_here(out, product);
  multiply(plan, left, right, product);
  put_back(product, out);
}

}  // namespace

void multiply(const Plan& plan, const Blocks& lhs, const Blocks& rhs, Blocks& out) {
  if (out.hands != &own_hands()) return multiply_elsewhere(plan, lhs, rhs, out);
  if (plan.acc_digits > 0) return multiply_all<double, true>(plan, lhs, rhs, out);
  switch (plan.acc) {
    case DType::f32:
      return multiply_all<float, false>(plan, lhs, rhs, out);
    case DType::f64:
      return multiply_all<double, false>(plan, lhs, rhs, out);
    case DType::s32:
    case DType::s8:
      return multiply_all<std::uint32_t, false>(plan, lhs, rhs, out);
    default:
      return multiply_all<double, true>(plan, lhs, rhs, out);
  }
}

}  // namespace plumb
