#include "harness/judge/in_common.h"

#include "reference/exact/exact.h"
#include "reference/meaning/meaning.h"
#include "reference/rounding/statistics.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

bool is_finished_first(const Case& c, std::size_t operand) {
  return !is_reshard(c) && parts(c.mesh, c.op.operands[operand]) > 1;
}

// Whether an operand has values that the accumulator does not hold.
bool is_cast_first(const Wanted& wanted, std::size_t operand, DType acc) {
  const Tensor& given = wanted.operands[operand];
  if (is_reshard(wanted.c) || holds(acc, given.dtype)) return false;
  for (std::int64_t i = 0; i < elements(given.shape); ++i)
    if (const double x = value(given, i); decode(acc, encode(acc, x)) != x) return true;
  return false;
}

// The case with finished operands in f64.
Case of_finished(Case c) {
  for (Spec& spec : c.op.operands) spec = finished(spec), spec.dtype = DType::f64;
  c.op.chain = {c.op.chain.back()};
  c.op.chain.front().dtype = c.acc = DType::f64;
  return c;
}

double square(double x) { return x * x; }

// Of each element of a finished operand its square, and the same with the variance that finishing it, and
// rounding it to the accumulator, give it.
struct Moments {
  Tensor square, second;
};
Moments moments(const Wanted& wanted, std::size_t operand, Reduction r) {
  const Spec& spec = wanted.c.op.operands[operand];
  const Tensor& given = wanted.operands[operand];
  const bool first = is_finished_first(wanted.c, operand), cast = is_cast_first(wanted, operand, r.acc);
  const Tensor sums = first ? sum_parts(given, DType::f64) : Tensor{};
  Moments all{zeros(DType::f64, shape(spec)), zeros(DType::f64, shape(spec))};
  const std::int64_t count = elements(spec), n = parts(wanted.c.mesh, spec);
  r.parts = n;
  for (std::int64_t i = 0; i < count; ++i) {
    double squares = 0;
    for (std::int64_t p = 0; p < n; ++p) squares += square(value(given, p * count + i));
    const double c2 = first ? square(value(sums, i)) : squares;
    double variance = first ? variance_of_sum(r, squares, c2) : 0;
    if (cast) variance += square(half_unit(r.acc)) * c2 + square(half_least(r.acc));
    store(DType::f64, all.square.bytes.data() + 8 * i, encode(DType::f64, c2));
    store(DType::f64, all.second.bytes.data() + 8 * i, encode(DType::f64, c2 + variance));
  }
  return all;
}

InCommon in_common(const Case& c, std::size_t operand) {
  const Letters words = letters(c.op);
  const std::vector<std::int64_t> extents = shape(result(c));
  InCommon all{{0}, elements(c.op.operands[operand])};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const bool of_operand = words.operand[operand].find(words.out[d]) != std::string::npos;
    std::vector<std::int64_t> next;
    for (std::int64_t before : all.classes)
      for (std::int64_t i = 0; i < extents[d]; ++i)
        next.push_back(of_operand ? before * extents[d] + i : before);
    all.classes = std::move(next);
    if (of_operand && extents[d] > 0) all.errors /= extents[d];
  }
  return all;
}

}  // namespace

std::vector<InCommon> errors_in_common(const Wanted& wanted, const Reduction& r) {
  std::vector<InCommon> all;
  for (std::size_t i = 0; i < wanted.operands.size(); ++i)
    if (is_finished_first(wanted.c, i) || is_cast_first(wanted, i, r.acc))
      all.push_back(in_common(wanted.c, i));
  return all;
}

Tensor variance_in_common(const Wanted& wanted, const Reduction& r) {
  const Case c = of_finished(wanted.c);
  std::vector<Tensor> squares, seconds;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    Moments of = moments(wanted, i, r);
    squares.push_back(std::move(of.square)), seconds.push_back(std::move(of.second));
  }
  Tensor variance = evaluate(c, seconds);
  const Tensor exact = evaluate(c, squares);
  for (std::int64_t i = 0; i < elements(variance.shape); ++i)
    store(DType::f64, variance.bytes.data() + 8 * i,
          encode(DType::f64, value(variance, i) - value(exact, i)));
  return variance;
}

}  // namespace plumb
