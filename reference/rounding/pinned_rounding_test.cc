// Law: bounds and statistics of a line stay what they are. golden/rounding.txt has blocks of drawn lines,
// each block with a digest.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "reference/exact/testing/hard_inputs.h"
#include "reference/rounding/bound.h"
#include "reference/rounding/statistics.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"

namespace plumb {
namespace {

// As many digits as no library of mathematics changes.
std::string number(double x) { return fmt::format("{:.10g}", x); }

std::string said(const Reduction& r) {
  std::string text =
      fmt::format("{} {} {} terms {} parts {} engine {} stored {}", format(r.acc).name, format(r.wire).name,
                  format(r.out).name, r.terms, r.parts, static_cast<int>(r.engine), format(r.stored).name);
  for (const DType d : step_formats(r)) text += fmt::format(" {}", format(d).name);
  return text + fmt::format(" step {} {} {}\n", number(step_unit(r)), number(step_least(r)),
                            number(step_largest(r)));
}

std::string said(const Statistics& s) {
  std::string text = fmt::format("  {} {} {} {} {}", s.elements, number(s.rms), number(s.rms_limit),
                                 number(s.bias), number(s.limit));
  for (const double x : s.slope) text += " " + number(x);
  for (const double x : s.slope_score) text += " " + number(x);
  return text + fmt::format(" {}\n", fmt::join(s.alarms, "; "));
}

double draw_number(Random& random) {
  const double sign = random.one_in(2) ? 1 : -1;
  if (random.one_in(12)) return random.of(std::vector{0.0, 1e308, 3e38, 65504.0, 0x1p-126, 0x1p-24, 448.0});
  return sign * std::ldexp(1 + static_cast<double>(random.below(1 << 20)) / (1 << 20),
                           static_cast<int>(random.below(40)) - 20);
}

// A sum of the parts of a tensor, in which some elements are not rounded well, and one part may be left out.
std::string of_sum(Random& random, Reduction r) {
  const std::int64_t n = 40;
  if (r.parts > 64) return "";
  Tensor parts = zeros(DType::f64, {r.parts, n});
  for (std::int64_t i = 0; i < r.parts * n; ++i)
    store(DType::f64, parts.bytes.data() + 8 * i, encode(DType::f64, draw_number(random)));
  const Exact exact = exact_sum(parts);
  Tensor got = zeros(r.out, {n});
  const std::int64_t fault = random.below(4);
  std::string text;
  for (std::int64_t i = 0; i < n; ++i) {
    const double c = value(exact.value, i);
    const double off = fault == 0 ? 0 : fault == 1 ? value(parts, i) : c * step_unit(r) * (fault - 2.5);
    store(r.out, got.bytes.data() + i * format(r.out).bytes, encode(r.out, c - off));
    if (i % 8) continue;
    const Interval range = interval(r, exact, i);
    text += fmt::format("  {} [{}, {}] {} {}\n{}\n", number(c), number(range.low), number(range.high),
                        range.any, inside(range, value(got, i)), bound_derivation(r, exact, i));
  }
  return text + said(statistics(r, exact, got, parts)) +
         said(statistics(r, exact, got, zeros(DType::f64, {0, n})));
}

std::string block_of_lines(const std::string& number_of_block) {
  Random random{std::mt19937_64(std::stoull(number_of_block))};
  std::string text;
  for (int i = 0; i < 6; ++i) {
    const Case c = draw_to_run(random);
    if (is_quantize(c) || format(result(c).dtype).integer || result(c).dtype == DType::e8m0) continue;
    Reduction r = reduction(c);
    r.engine = random.of(kEngines).engine;
    text += print(c) + "\n" + said(r);
    for (int n = 0; n < 4; ++n) {
      const double magnitude = std::fabs(draw_number(random)), partial = std::fabs(draw_number(random));
      const BoundTerms b = bound(r, magnitude, partial, draw_number(random));
      text += fmt::format("  {} {} {} {}\n", number(b.local), number(b.reduction), number(b.reference),
                          number(b.total()));
    }
    text += of_sum(random, r);
  }
  return text;
}

TEST(Rounding, IsJudgedAsItWas) {
  expect_pinned(PLUMB_GOLDEN "/rounding.txt", numbered(300), block_of_lines);
}

}  // namespace
}  // namespace plumb
