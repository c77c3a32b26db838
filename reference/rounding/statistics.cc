#include "reference/rounding/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace plumb {
namespace {

double square(double x) { return x * x; }

// One element that counts.
struct Element {
  std::int64_t at;
  double c, error, variance;
};

double squares_of_partials(const Exact& e, const Tensor& partials, std::int64_t i) {
  if (partials.bytes.empty()) return square(value(e.partial, i));
  const std::int64_t size = elements(e.value.shape);
  double sum = 0;
  for (std::int64_t p = 0; p < partials.shape[0]; ++p) sum += square(value(partials, p * size + i));
  return sum;
}

// The largest relative drift of an engine that truncates every term; none where rounding is to nearest.
double allowed_drift(const Reduction& r) {
  if (r.engine == Engine::ieee) return 0;
  return std::expm1(static_cast<double>(r.terms) * std::log1p(model(r.engine).factor * half_unit(r.acc)));
}

double variance(const Reduction& r, const Exact& e, double q, std::int64_t i) {
  const double c2 = square(value(e.value, i)), s2 = square(value(e.magnitude, i));
  const double parts = static_cast<double>(r.parts);
  double v = square(half_unit(r.out)) * c2;
  if (r.parts > 1) v += square(half_unit(r.wire)) * (q + (parts + 1) * (q / 6 + c2 / 3));
  if (r.terms > 0) v += square(model(r.engine).factor * half_unit(r.acc)) * static_cast<double>(r.terms) * s2;
  return kMeanSquare * v + square(allowed_drift(r)) * s2;
}

std::vector<Element> elements_that_count(const Reduction& r, const Exact& e, const Tensor& got,
                                         const Tensor& partials) {
  std::vector<Element> all;
  for (std::int64_t i = 0; i < elements(got.shape); ++i) {
    const double c = value(e.value, i), g = value(got, i);
    const double v = variance(r, e, squares_of_partials(e, partials, i), i);
    if (std::isfinite(c) && std::isfinite(g) && v > 0 && std::isfinite(v)) all.push_back({i, c, g - c, v});
  }
  return all;
}

// A sum of weighted errors against the root of its sum of squares, after a drift of `allowed` times the
// sum of weights is forgiven; and the slope, where weights are x / variance.
struct Score {
  double sum = 0, squares = 0, weight = 0;
  void add(double w, double error, double x) {
    sum += w * error;
    squares += square(w * error);
    weight += std::fabs(w * x);
  }
  double score(double allowed) const {
    const double beyond = std::max(0.0, std::fabs(sum) - allowed * weight);
    return squares > 0 ? std::copysign(beyond / std::sqrt(squares), sum) : 0;
  }
  double slope() const { return weight > 0 ? sum / weight : 0; }
};

void note_rms(const std::vector<Element>& all, std::int64_t tests, Statistics& s) {
  double sum = 0;
  for (const Element& e : all) sum += square(e.error) / e.variance;
  const double n = static_cast<double>(all.size()), x = std::log(static_cast<double>(tests) / kFalseAlarm);
  s.rms = std::sqrt(sum / n);
  s.rms_limit = std::sqrt(1 + 2 * std::sqrt(x / n) + 2 * x / n);
  if (s.rms > s.rms_limit)
    s.alarms.push_back(fmt::format("errors are {:.3g} times what {} elements allow ({:.3g})", s.rms,
                                   all.size(), s.rms_limit));
}

void note_bias(const std::vector<Element>& all, double drift, Statistics& s) {
  Score bias;
  for (const Element& e : all) bias.add(std::copysign(1 / std::sqrt(e.variance), e.c), e.error, e.c);
  s.bias = bias.score(drift);
  if (std::fabs(s.bias) > s.limit)
    s.alarms.push_back(fmt::format("errors lean {} zero: {:.1f} against a limit of {:.1f}",
                                   s.bias < 0 ? "towards" : "away from", std::fabs(s.bias), s.limit));
}

void note_slopes(const std::vector<Element>& all, const Tensor& partials, double drift, Statistics& s) {
  const std::int64_t size = partials.shape[0] ? elements(partials.shape) / partials.shape[0] : 0;
  std::int64_t worst = 0;
  double most = -1;
  for (std::int64_t p = 0; p < partials.shape[0]; ++p) {
    Score score;
    for (const Element& e : all) {
      const double x = value(partials, p * size + e.at);
      score.add(x / e.variance, e.error, x);
    }
    s.slope.push_back(score.slope());
    s.slope_score.push_back(score.score(drift));
    // What a rank explains: slope^2 times its weight.
    const double explained = score.slope() * score.sum;
    if (std::fabs(s.slope_score.back()) > s.limit && explained > most) most = explained, worst = p;
  }
  if (most >= 0)
    s.alarms.push_back(
        fmt::format("errors follow the sum of rank {}: slope {:.4f}, {:.1f} against a limit of {:.1f}", worst,
                    s.slope[worst], std::fabs(s.slope_score[worst]), s.limit));
}

}  // namespace

Statistics statistics(const Reduction& r, const Exact& e, const Tensor& got, const Tensor& partials) {
  Statistics s;
  const std::vector<Element> all = elements_that_count(r, e, got, partials);
  s.elements = static_cast<std::int64_t>(all.size());
  const std::int64_t ranks = partials.bytes.empty() ? 0 : partials.shape[0], tests = 2 + ranks;
  s.limit = alarm_limit(tests);
  if (all.empty()) return s;
  note_rms(all, tests, s);
  note_bias(all, allowed_drift(r), s);
  if (ranks > 0) note_slopes(all, partials, allowed_drift(r), s);
  return s;
}

}  // namespace plumb
