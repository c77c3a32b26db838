#include "harness/measure/require.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <functional>

#include "reference/words/text.h"

namespace plumb {
namespace {

struct Metric {
  std::string_view name, unit;
};
constexpr std::array<Metric, 8> metrics{
    {
     {"busbw", "GB/s"},
     {"algbw", "GB/s"},
     {"gflops", "GFLOP/s"},
     {"median", "us"},
     {"min", "us"},
     {"p95", "us"},
     {"p99", "us"},
     {"skew", "us"},
     }
};
constexpr std::array<std::string_view, 4> relations{">=", "<=", ">", "<"};  // the longer first

std::string names() {
  std::string all;
  for (const Metric& m : metrics) all += (all.empty() ? "" : ", ") + std::string(m.name);
  return all;
}

bool compares(const std::string& relation, double a, double b) {
  if (relation == ">=") return a >= b;
  if (relation == "<=") return a <= b;
  return relation == ">" ? a > b : a < b;
}

}  // namespace

std::string metrics_help() {
  std::string all;
  for (const Metric& m : metrics) all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", m.name, m.unit);
  return all;
}

Requirement parse_requirement(std::string_view text) {
  Requirement r;
  r.text = text;
  const std::size_t end = std::min(text.find_first_of("<>="), text.size());
  r.metric = text.substr(0, end);
  const auto known = [&] {
    for (const Metric& m : metrics)
      if (m.name == r.metric) return true;
    return false;
  };
  if (!known()) throw bad_input(fmt::format("expected a metric: {}", names()), text, 0);
  for (std::string_view relation : relations)
    if (r.relation.empty() && text.substr(end).starts_with(relation)) r.relation = relation;
  if (r.relation.empty()) throw bad_input("expected >=, <=, > or <", text, end);
  const std::size_t at = end + r.relation.size();
  const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), r.number);
  const auto after = static_cast<std::size_t>(rest - text.data());
  if (error != std::errc() || !(r.number >= 0)) throw bad_input("expected a number", text, at);
  r.of_limit = text.substr(after) == "*limit";
  if (after != text.size() && !r.of_limit) throw bad_input("expected *limit, or the end", text, after);
  return r;
}

Met met(const Requirement& r, const Figured& figured) {
  const auto metric = figured.metrics.find(r.metric);
  const auto limit = figured.limits.find(r.metric);
  if (metric == figured.metrics.end() || (r.of_limit && limit == figured.limits.end())) return Met::unsaid;
  const double wanted = r.number * (r.of_limit ? limit->second : 1);
  return compares(r.relation, metric->second, wanted) ? Met::yes : Met::no;
}

std::string unmet(const Requirement& r, const Figured& figured) {
  const auto limit = figured.limits.find(r.metric);
  std::string said = fmt::format("{} is {:.4g}", r.metric, figured.metrics.at(r.metric));
  if (r.of_limit) said += fmt::format(", and the limit {:.4g}", limit->second);
  return fmt::format("{}: required is {}", said, r.text);
}

}  // namespace plumb
