#include "reference/rounding/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace plumb {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double smallest_normal(DType dtype) { return std::ldexp(1.0, format(dtype).min_exponent); }

// (1 + u)^n - 1, rounded up by more than the rounding of the magnitudes that it multiplies.
double growth(double u, std::int64_t n) {
  return std::expm1(static_cast<double>(n) * std::log1p(u)) * (1 + 0x1p-40);
}

}  // namespace

namespace {

// What the reduction multiplies by: of any order, and of the one that is said.
struct Growths {
  double any, said;
};
Growths growths(const Reduction& r) {
  const double any = growth(step_unit(r), r.parts);
  if (!r.order) return {any, any};
  const std::vector<DType> formats = step_formats(r);
  double logarithm =
      static_cast<double>(std::min(r.order->additions + 1, r.parts)) * std::log1p(half_unit(formats[0]));
  for (std::size_t i = 1; i < formats.size(); ++i)
    logarithm +=
        static_cast<double>(std::min(r.order->roundings, r.parts)) * std::log1p(half_unit(formats[i]));
  return {any, std::min(any, std::expm1(logarithm) * (1 + 0x1p-40))};
}

}  // namespace

std::vector<DType> step_formats(const Reduction& r) {
  std::vector<DType> all{r.acc};
  for (DType next : {r.stored, r.wire})
    if (std::ranges::none_of(all, [&](DType before) { return holds(next, before); })) all.push_back(next);
  return all;
}

double step_unit(const Reduction& r) {
  double unit = 0;
  for (DType dtype : step_formats(r)) unit += half_unit(dtype) + unit * half_unit(dtype);
  return unit;
}

double step_least(const Reduction& r) {
  double least = 0;
  for (DType dtype : step_formats(r)) least = std::max(least, smallest_normal(dtype));
  return least;
}

double step_largest(const Reduction& r) {
  double largest = kInf;
  for (DType dtype : step_formats(r)) largest = std::min(largest, format(dtype).largest);
  return largest;
}

Tensor absolute(Tensor t) {
  const int size = format(t.dtype).bytes;
  assert(!format(t.dtype).integer);
  if (t.dtype == DType::e8m0) return t;
  for (std::size_t top = size - 1; top < t.bytes.size(); top += size) t.bytes[top] &= std::byte{0x7f};
  return t;
}

Exact exact_product(const Matrix& a, const Matrix& b) {
  const auto dense = [](const Matrix& m) {
    Tensor t = zeros(m.dtype, {m.rows, m.cols});
    const int size = format(m.dtype).bytes;
    for (std::int64_t i = 0; i < m.rows * m.cols; ++i)
      store(m.dtype, t.bytes.data() + i * size,
            load(m.dtype, m.data + (i / m.cols * m.row_stride + i % m.cols * m.col_stride) * size));
    return absolute(std::move(t));
  };
  const Tensor left = dense(a), right = dense(b);
  Exact e{zeros(DType::f64, {a.rows, b.cols}), zeros(DType::f64, {a.rows, b.cols}), {}};
  matmul(a, b, DType::f64, mutable_matrix(e.value));
  matmul(matrix(left), matrix(right), DType::f64, mutable_matrix(e.magnitude));
  e.partial = e.magnitude;
  return e;
}

Exact exact_sum(const Tensor& parts) {
  Exact e{sum_parts(parts, DType::f64), sum_parts(absolute(parts), DType::f64), {}};
  e.partial = e.magnitude;
  return e;
}

BoundTerms bound(const Reduction& r, double magnitude, double partial, double c) {
  const double terms = static_cast<double>(r.terms), parts = static_cast<double>(r.parts);
  BoundTerms t;
  if (r.terms > 0)
    t.local = growth(model(r.engine).factor * half_unit(r.acc), r.terms) * magnitude +
              parts * terms * smallest_normal(r.acc);
  if (r.parts > 1) t.reduction = growths(r).said * (partial + t.local) + parts * step_least(r);
  t.reference = std::fabs(c) * 0x1p-52;
  if (r.terms > 0 && magnitude + t.local > format(r.acc).largest) t.local = kInf;
  if (r.parts > 1 && partial + t.local + t.reduction > step_largest(r)) t.reduction = kInf;
  return t;
}

namespace {

// bf16: u = 2^-8    f32 and bf16: 1 + u = (1 + 2^-24) (1 + 2^-8)
std::string step_text(const Reduction& r) {
  const std::vector<DType> all = step_formats(r);
  if (all.size() == 1) return fmt::format("{}: u = 2^-{}", format(all[0]).name, format(all[0]).digits);
  std::string names, product;
  for (DType dtype : all) {
    names += fmt::format("{}{}", names.empty() ? "" : " and ", format(dtype).name);
    product += fmt::format(" (1 + 2^-{})", format(dtype).digits);
  }
  return fmt::format("{}: 1 + u ={}", names, product);
}

// ((1 + u)^8 - 1), or of an order that is said ((1 + 2^-24)^8 (1 + 2^-8)^2 - 1)
std::string growth_text(const Reduction& r) {
  if (!r.order) return fmt::format("((1 + u)^{} - 1)", r.parts);
  const std::vector<DType> all = step_formats(r);
  std::string product;
  for (std::size_t i = 0; i < all.size(); ++i)
    product += fmt::format("{}(1 + 2^-{})^{}", i ? " " : "", format(all[i]).digits,
                           std::min(i ? r.order->roundings : r.order->additions + 1, r.parts));
  return fmt::format("({} - 1)", product);
}

// What was said of the order, and what it takes off the bound.
std::string order_text(const Reduction& r) {
  if (!r.order) return "";
  const Growths g = growths(r);
  return fmt::format(
      ", as the trace says: of a part at most {} additions and {} roundings, {:.3g} of any order's",
      r.order->additions, r.order->roundings, g.said / g.any);
}

}  // namespace

std::string bound_derivation(const Reduction& r, const Exact& e, std::int64_t i) {
  const double s = value(e.magnitude, i), p = value(e.partial, i), c = value(e.value, i);
  const BoundTerms t = bound(r, s, p, c);
  const Format& acc = format(r.acc);
  std::string text = fmt::format("c = {}, S = sum |ab| = {}, T = sum |c_p| = {}\n", c, s, p);
  if (r.terms > 0)
    text += fmt::format("local {:.6g} = ((1 + {:g} u)^{} - 1) S + {} * {} eta, {}: u = 2^-{}, eta = 2^{}\n",
                        t.local, model(r.engine).factor, r.terms, r.parts, r.terms, acc.name, acc.digits,
                        acc.min_exponent);
  if (r.parts > 1)
    text += fmt::format("reduction {:.6g} = {} (T + local) + {} eta, {}, eta = 2^{}{}\n", t.reduction,
                        growth_text(r), r.parts, step_text(r), std::ilogb(step_least(r)), order_text(r));
  const Interval range = interval(r, e, i);
  text += fmt::format("reference {:.6g} = 2^-52 |c|\n", t.reference);
  text += fmt::format("E = {:.6g}: any {} in [{}, {}]", t.total(), format(r.out).name, range.low, range.high);
  return text;
}

Interval interval(const Reduction& r, const Exact& e, std::int64_t i) {
  const double c = value(e.value, i);
  if (!std::isfinite(c)) {
    const double only = decode(r.out, encode(r.out, c));
    return {only, only, std::isnan(only)};
  }
  const double error = bound(r, value(e.magnitude, i), value(e.partial, i), c).total();
  return {decode(r.out, encode(r.out, c - error)), decode(r.out, encode(r.out, c + error)),
          !std::isfinite(error)};
}

bool inside(const Interval& range, double got) {
  if (std::isnan(range.low)) return std::isnan(got);
  return range.any || (range.low <= got && got <= range.high);
}

}  // namespace plumb
