#include "harness/measure/require.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "reference/words/text.h"

namespace plumb {
namespace {

struct Metric {
  std::string_view name, unit;
};
constexpr std::array<Metric, 9> metrics{
    {
     {"busbw", "GB/s"},
     {"algbw", "GB/s"},
     {"gflops", "GFLOP/s"},
     {"median", "us"},
     {"min", "us"},
     {"p95", "us"},
     {"p99", "us"},
     {"IQR", "us"},
     {"skew", "us"},
     }
};
constexpr std::array<std::string_view, 4> relations{">=", "<=", ">", "<"};  // the longer first

std::string names() {
  std::string all;
  for (const Metric& m : metrics) all += (all.empty() ? "" : ", ") + std::string(m.name);
  return all;
}

bool has_a_limit(std::string_view metric) {
  return unit_of(metric) != "us" || metric == "median";
}

bool compares(const std::string& relation, double a, double b) {
  if (relation == ">=") return a >= b;
  if (relation == "<=") return a <= b;
  return relation == ">" ? a > b : a < b;
}

// It may be any time down to none, and a rate any up to no end.
bool below_a_step(const Figured& figured) {
  const auto median = figured.metrics.find("median");
  return median != figured.metrics.end() && median->second < figured.step;
}

Met at_both_ends(const Requirement& r, const Between& interval) {
  const bool low = compares(r.relation, interval.low, r.number),
             high = compares(r.relation, interval.high, r.number);
  return low != high ? Met::unsure : low ? Met::yes : Met::no;
}

// " (0.135 to 19.81 over 5 repetitions)"
std::string interval_in_words(const Requirement& r, const Figured& figured) {
  const auto at = figured.between.find(r.metric);
  const bool one = figured.repetitions == 1;
  if (at == figured.between.end())
    return one ? ", and one repetition has no interval" : ", and nobody knows an interval of it";
  const std::string ends = fmt::format(" ({:.4g} to {:.4g}", at->second.low, at->second.high);
  return one ? ends + " by its samples, and one repetition has no interval)"
             : fmt::format("{} over {} repetitions)", ends, figured.repetitions);
}

// ", and the limit 10, of which it is 0.800 (0.790 to 0.810)"
std::string limit_in_words(const Requirement& r, const Figured& figured) {
  const Limit* limit = limit_of(figured, r.metric);
  if (!limit) return ", and nobody knows a limit of it";
  const auto& share = limit->share;
  if (!figured.shared.empty())
    return fmt::format(", and which share of a limit that is nobody can say: {}", figured.shared);
  const std::string over = limit->factor == 1 ? "" : fmt::format(" over the factor {:.4g}", limit->factor);
  const std::string known = fmt::format(", and the limit {:.4g} ({}{})", limit->value.value_or(0), limit->of, over);
  if (!share) return known + ", with fewer than four repetitions";
  return fmt::format("{}, of which it is {:.3f} ({:.3f} to {:.3f}){}", known, share->middle,
                     share->interval.low, share->interval.high,
                     may_be_beaten(r.metric, *share) ? ": it may be beaten, and is none" : "");
}

}  // namespace

std::string metrics_help() {
  std::string all;
  for (const Metric& m : metrics) all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", m.name, m.unit);
  return all;
}

std::string_view unit_of(std::string_view metric) {
  for (const Metric& m : metrics)
    if (m.name == metric) return m.unit;
  return "";
}

Requirement parse_requirement(std::string_view text) {
  Requirement r;
  r.text = text;
  std::size_t at = 0;
  const auto blanks = [&] { at = std::min(text.find_first_not_of(' ', at), text.size()); };
  blanks();
  const std::size_t begin = at;
  at = std::min(text.find_first_of("<>= ", begin), text.size());
  r.metric = text.substr(begin, at - begin);
  if (unit_of(r.metric).empty()) throw bad_input(fmt::format("expected a metric: {}", names()), text, begin);
  blanks();
  for (std::string_view relation : relations)
    if (r.relation.empty() && text.substr(at).starts_with(relation)) r.relation = relation;
  if (r.relation.empty()) throw bad_input("expected >=, <=, > or <", text, at);
  at += r.relation.size(), blanks();
  const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), r.number);
  if (error != std::errc() || !std::isfinite(r.number) || r.number < 0)
    throw bad_input("expected a number", text, at);
  at = static_cast<std::size_t>(rest - text.data()), blanks();
  const std::size_t after = at;
  if (text.substr(at).starts_with('*')) {
    ++at, blanks();
    r.of_limit = text.substr(at).starts_with("limit");
    if (r.of_limit && !has_a_limit(r.metric))
      throw bad_input(fmt::format("{} has no limit, which are of busbw, algbw, gflops and median", r.metric), text, at);
    if (r.of_limit) at += std::string_view("limit").size(), blanks();
  }
  const bool whole = at == text.size() && (at == after || r.of_limit);
  if (!whole) throw bad_input("expected *limit, or the end", text, after);
  return r;
}

// Of a time less is better.
bool may_be_beaten(std::string_view metric, const Ratio& share) {
  return unit_of(metric) == "us" ? share.interval.low < 1 - near_enough
                                 : share.interval.high > 1 + near_enough;
}

Met met(const Requirement& r, const Figured& figured) {
  if (figured.unsure.contains(r.metric)) return Met::unsure;
  if (!figured.metrics.contains(r.metric)) return Met::no_metric;
  if (below_a_step(figured)) return Met::unsure;
  if (!r.of_limit) {
    const auto between = figured.between.find(r.metric);
    return between == figured.between.end() ? Met::unsure : at_both_ends(r, between->second);
  }
  const Limit* limit = limit_of(figured, r.metric);
  if (!limit) return Met::no_limit;
  const auto& share = limit->share;
  return !share || may_be_beaten(r.metric, *share) ? Met::unsure : at_both_ends(r, share->interval);
}

std::string unmet(const Requirement& r, const Figured& figured) {
  if (const auto why = figured.unsure.find(r.metric); why != figured.unsure.end())
    return fmt::format("{} is UNSURE: {}: required is {}", r.metric, why->second, r.text);
  if (below_a_step(figured))
    return fmt::format("{} is UNSURE: the median, {:.4g} us, is below one step of the clock, {:.4g}; --batch K makes one "
                       "iteration of K runs: required is {}", r.metric, figured.metrics.at("median"), figured.step, r.text);
  return fmt::format("{} is {:.4g}{}: required is {}", r.metric, figured.metrics.at(r.metric),
                     r.of_limit ? limit_in_words(r, figured) : interval_in_words(r, figured), r.text);
}

}  // namespace plumb
