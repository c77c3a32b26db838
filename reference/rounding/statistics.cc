#include "reference/rounding/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace plumb {
namespace {

double square(double x) { return x * x; }

// One element that counts. Those of one kind round alike.
struct Element {
  std::int64_t at;
  double c, error, variance;
  std::size_t kind;
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

// What rounding to nearest leans by, relatively: a half goes to the even neighbour, and where fewer of the
// data lie further out, more of the halves go towards zero. Over a binade of 1 / 2u numbers, between which as
// many halves lie, that is an alternating sum of the order of half its first, which holds 2u of them: u of
// half a unit. Once for each sum that is rounded on its way.
double lean(const Reduction& r) {
  return static_cast<double>(std::max<std::int64_t>(r.parts - 1, 0)) * square(step_unit(r)) +
         static_cast<double>(r.terms) * square(half_unit(r.acc));
}

double variance(const Reduction& r, const Exact& e, double q, std::int64_t i) {
  const double c2 = square(value(e.value, i)), s2 = square(value(e.magnitude, i));
  const double parts = static_cast<double>(r.parts), terms = static_cast<double>(r.terms);
  double v = 4 * (square(half_unit(r.out)) * c2 + square(half_least(r.out)));
  if (!e.common.bytes.empty()) v += value(e.common, i);
  if (r.parts > 1) v += variance_of_sum(r, q, c2);
  if (r.terms > 0)
    v += terms * (square(model(r.engine).factor * half_unit(r.acc)) * s2 + parts * square(half_least(r.acc)));
  return v + square(allowed_drift(r)) * s2;
}

// The same for elements that round alike.
std::size_t kind_of(const Exact& e, const Tensor& partials, std::int64_t i) {
  const double c = value(e.value, i);
  int exponent = 0;
  std::frexp(c, &exponent);
  std::size_t kind = 0;
  const auto mix = [&](double x) {
    kind = kind * 0x9e3779b97f4a7c15 ^ std::hash<double>()(std::ldexp(std::copysign(1, c) * x, -exponent));
  };
  mix(c), mix(std::copysign(value(e.magnitude, i), c));
  const std::int64_t size = elements(e.value.shape), ranks = partials.bytes.empty() ? 0 : partials.shape[0];
  for (std::int64_t p = 0; p < ranks; ++p) mix(value(partials, p * size + i));
  return kind;
}

std::vector<Element> elements_that_count(const Reduction& r, const Exact& e, const Tensor& got,
                                         const Tensor& partials) {
  std::vector<Element> all;
  for (std::int64_t i = 0; i < elements(got.shape); ++i) {
    const double c = value(e.value, i), g = value(got, i);
    const double v = variance(r, e, squares_of_partials(e, partials, i), i);
    const double wanted = decode(r.out, encode(r.out, c));
    if (std::isfinite(wanted) && std::isfinite(g) && std::isfinite(v))
      all.push_back({i, c, g - wanted, v, kind_of(e, partials, i)});
  }
  std::ranges::stable_sort(all, {}, &Element::kind);
  return all;
}

// A sum of weighted errors against the root of its sum of squares, after a drift of `allowed` times the
// sum of weights is forgiven; and the slope, where weights are x / variance. Elements of one kind, which
// follow each other, are one term. To the squares comes the variance of what they have in common.
struct Score {
  double squares = 0, sum = 0, weight = 0, term = 0;
  std::size_t kind = 0;
  void add(const Element& e, double w, double x) {
    if (e.kind != kind) squares += square(std::exchange(term, 0)), kind = e.kind;
    term += w * e.error;
    sum += w * e.error;
    weight += std::fabs(w * x);
  }
  double score(double allowed) const {
    const double beyond = std::max(0.0, std::fabs(sum) - allowed * weight);
    const double all = squares + square(term);
    return all > 0 ? std::copysign(beyond / std::sqrt(all), sum) : 0;
  }
  double slope() const { return weight > 0 ? sum / weight : 0; }
};

// The sums over the elements of each class.
struct OfClasses {
  const std::vector<std::int64_t>& classes;
  std::vector<double> sums;

  explicit OfClasses(const std::vector<std::int64_t>& of) : classes(of), sums(std::ranges::max(of) + 1) {}
  void add(std::int64_t element, double x) { sums[classes[element]] += x; }
};

// Each kind counts by the mean of its elements.
void note_rms(const std::vector<Element>& all, const Exact& e, std::int64_t tests, Statistics& s) {
  double sum = 0, together = 1;
  std::vector<OfClasses> shares(e.classes.begin(), e.classes.end());
  for (auto at = all.begin(); at != all.end(); ++s.elements) {
    const auto end = std::find_if(at, all.end(), [&](const Element& one) { return one.kind != at->kind; });
    const auto size = static_cast<double>(end - at);
    for (; at != end; ++at) {
      sum += square(at->error) / at->variance / size;
      for (OfClasses& of : shares) of.add(at->at, value(e.common, at->at) / at->variance / size);
    }
  }
  for (const OfClasses& of : shares) together += std::ranges::max(of.sums);
  const double n = static_cast<double>(s.elements) / together;
  const double x = std::log(static_cast<double>(tests) / kFalseAlarm);
  s.rms = std::sqrt(sum / static_cast<double>(s.elements));
  s.rms_limit = std::sqrt(1 + 2 * std::sqrt(x / n) + 2 * x / n);
  s.chance = s.rms > 1 ? std::exp(-n * square((std::sqrt(2 * square(s.rms) - 1) - 1) / 2)) : 1;
  if (s.rms > s.rms_limit)
    s.alarms.push_back(fmt::format("errors are {:.3g} times what {} elements allow ({:.3g})", s.rms,
                                   s.elements, s.rms_limit));
}

// The variance of a weighted sum of the errors that elements have in common: in each class they add up.
template <typename Weight>
double summed_in_common(const std::vector<Element>& all, const Exact& exact, Weight weight) {
  double sum = 0;
  for (const auto& classes : exact.classes) {
    OfClasses of(classes);
    for (const Element& e : all) of.add(e.at, std::fabs(weight(e)) * std::sqrt(value(exact.common, e.at)));
    for (double x : of.sums) sum += square(x);
  }
  return sum;
}

void note_bias(const std::vector<Element>& all, const Exact& exact, double drift, Statistics& s) {
  const auto weight = [](const Element& e) { return std::copysign(1 / std::sqrt(e.variance), e.c); };
  Score bias{summed_in_common(all, exact, weight)};
  for (const Element& e : all) bias.add(e, weight(e), e.c);
  s.bias = bias.score(drift);
  if (std::fabs(s.bias) > s.limit)
    s.alarms.push_back(fmt::format("errors lean {} zero: {:.1f} against a limit of {:.1f}",
                                   s.bias < 0 ? "towards" : "away from", std::fabs(s.bias), s.limit));
}

void note_slopes(const std::vector<Element>& all, const Exact& exact, const Tensor& partials, double drift,
                 Statistics& s) {
  const std::int64_t size = partials.shape[0] ? elements(partials.shape) / partials.shape[0] : 0;
  std::int64_t worst = 0;
  double most = -1;
  for (std::int64_t p = 0; p < partials.shape[0]; ++p) {
    const auto share = [&](const Element& e) { return value(partials, p * size + e.at); };
    const auto weight = [&](const Element& e) { return share(e) / e.variance; };
    Score score{summed_in_common(all, exact, weight)};
    for (const Element& e : all) score.add(e, weight(e), share(e));
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

double variance_of_sum(const Reduction& r, double q, double c2) {
  const auto parts = static_cast<double>(r.parts);
  double least = 0;
  for (DType dtype : step_formats(r)) least = std::max(least, half_least(dtype));
  return square(step_unit(r)) * (q + (parts + 1) * (q / 6 + c2 / 3)) + parts * square(least);
}

Statistics statistics(const Reduction& r, const Exact& e, const Tensor& got, const Tensor& partials) {
  Statistics s;
  const std::vector<Element> all = elements_that_count(r, e, got, partials);
  const std::int64_t ranks = partials.bytes.empty() ? 0 : partials.shape[0], tests = 2 + ranks;
  s.limit = alarm_limit(tests);
  if (all.empty()) return s;
  note_rms(all, e, tests, s);
  const double drift = allowed_drift(r) + lean(r);
  note_bias(all, e, drift, s);
  if (ranks > 0) note_slopes(all, e, partials, drift, s);
  return s;
}

}  // namespace plumb
