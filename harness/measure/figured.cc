#include "harness/measure/figured.h"

#include <fmt/format.h>

#include <algorithm>

namespace plumb {
namespace {

constexpr double of_a_microsecond = 1000;

double in_us(double nanoseconds) { return nanoseconds / of_a_microsecond; }

std::vector<double> middles_of(const std::vector<Measured>& all) {
  std::vector<double> middles;
  for (const Measured& m : all) middles.push_back(quantile(m.nanoseconds, 0.5));
  return middles;
}

// What a limit took in each repetition that timed it.
std::vector<double> took(const std::vector<Measured>& all, const std::string& what) {
  std::vector<double> each;
  for (const Measured& m : all)
    if (const auto at = m.limits.find(what); at != m.limits.end() && at->second > 0)
      each.push_back(at->second);
  return each;
}

std::optional<double> middle_skew(const std::vector<Measured>& all) {
  std::vector<double> each;
  for (const Measured& m : all)
    if (!m.skew.empty()) each.push_back(quantile({m.skew.begin(), m.skew.end()}, 0.5));
  return each.empty() ? std::nullopt : std::optional(quantile(each, 0.5));
}

std::map<std::string, double> metrics_of(const std::vector<Measured>& all, const Work& w) {
  std::vector<std::vector<double>> each;
  for (const Measured& m : all) each.push_back(m.nanoseconds);
  const auto [count, least, median, p95, p99, iqr] = figures(each);
  std::map<std::string, double> metrics = {
      {"min",    in_us(least) },
      {"median", in_us(median)},
      {"p95",    in_us(p95)   },
      {"p99",    in_us(p99)   },
      {"IQR",    in_us(iqr)   }
  };
  if (w.bytes > 0) metrics["algbw"] = algorithm_bandwidth(w, median);
  if (goes_round(w)) metrics["busbw"] = bus_bandwidth(w, median);
  if (w.flops > 0) metrics["gflops"] = w.flops / median;
  if (const auto skew = middle_skew(all)) metrics["skew"] = in_us(*skew);
  return metrics;
}

void add_interval_of_samples(Figured& f, const std::vector<double>& nanoseconds, const Work& w) {
  const auto interval = interval_of_median(nanoseconds);
  if (!interval) return;
  f.between["median"] = {in_us(interval->low), in_us(interval->high)};
  const auto of_times = [&](auto&& rate) { return Between{rate(interval->high), rate(interval->low)}; };
  if (w.bytes > 0) f.between["algbw"] = of_times([&](double ns) { return algorithm_bandwidth(w, ns); });
  if (f.metrics.contains("busbw"))
    f.between["busbw"] = of_times([&](double ns) { return bus_bandwidth(w, ns); });
  if (w.flops > 0) f.between["gflops"] = of_times([&](double ns) { return w.flops / ns; });
}

// By coins; of fewer than six from the least to the largest.
void add_intervals(Figured& f, const std::vector<Measured>& all, const Work& w) {
  if (all.size() == 1) return add_interval_of_samples(f, all[0].nanoseconds, w);
  std::map<std::string, std::vector<double>> each;
  for (const Measured& m : all)
    for (const auto& [metric, value] : metrics_of({m}, w)) each[metric].push_back(value);
  for (const auto& [metric, values] : each) {
    if (values.size() < 2) continue;
    const auto [least, most] = std::ranges::minmax(values);
    const Between interval = interval_of_median(values).value_or(Between{least, most});
    const double whole = f.metrics.at(metric);
    f.between[metric] = {std::min(interval.low, whole), std::max(interval.high, whole)};
  }
}

// As many bytes sent round bound those on a link, bus bandwidth; algorithm bandwidth is that without its
// factor. Of a time its own call is the limit, of what comes to none the copy of its bytes, of a product its GEMM.
void add_limits(Figured& f, const std::vector<Measured>& all, const Work& w, bool take_turns) {
  const std::vector<double> ours = middles_of(all), gemm = took(all, "gemm"), send = took(all, "send");
  const auto share_of = [&](const auto& a, const auto& b) {
    return f.shared.empty() ? ratio_of(a, b) : std::nullopt;
  };
  if (!gemm.empty() && w.flops > 0) {
    const double least = quantile(gemm, 0.5);
    f.limits.push_back({"gflops", "gemm", take_turns ? std::nullopt : std::optional(w.flops / least),
                        share_of(gemm, ours)});
    f.limits.push_back({"median", "gemm", in_us(least), share_of(ours, gemm)});
  }
  if (!send.empty() && goes_round(w)) {
    const double reached = w.bytes / quantile(send, 0.5);
    auto share = share_of(send, ours);
    if (share) share = so_many_times(*share, w.factor);
    f.limits.push_back({"busbw", "send", reached, share});
    f.limits.push_back({"algbw", "send", reached / w.factor, share, w.factor});
  }
  for (const char* of : {"call", "copy"})
    if (const std::vector<double> limit = took(all, of); !limit.empty() && w.bytes > 0)
      f.limits.push_back({"median", of, in_us(quantile(limit, 0.5)), share_of(ours, limit)});
  if (const std::vector<double> copy = took(all, "copy"); !copy.empty() && w.bytes > 0 && !goes_round(w))
    f.limits.push_back({"algbw", "copy", w.bytes / quantile(copy, 0.5), share_of(copy, ours)});
}

// What moves waits for each other: only where entries are farther apart than it takes nobody did. A product
// may wait for nobody, and on cores that its ranks share is little of one rank's time that of another.
void leave_out_rates(Figured& f, const std::vector<Measured>& all, const Sharing& sharing) {
  const double median = f.metrics.at("median");
  const auto skew = middle_skew(all);
  for (const char* rate : {"algbw", "busbw", "gflops"}) {
    const bool product = rate == std::string("gflops");
    const bool take_turns = product && !sharing.own.empty();
    const bool together = skew ? in_us(*skew) <= (take_turns ? near_enough : 1) * median : !take_turns;
    if (!f.metrics.contains(rate) || together) continue;
    f.metrics.erase(rate), f.between.erase(rate);
    f.unsure[rate] = fmt::format("{} not begin together: the time is one rank's, not that of all",
                                 sharing.own.empty() ? "ranks do" : sharing.own + ", and do");
  }
}

}  // namespace

const Limit* limit_of(const Figured& f, std::string_view metric) {
  const auto found = std::ranges::find(f.limits, metric, &Limit::metric);
  return found == f.limits.end() ? nullptr : &*found;
}

Figured figured(const std::vector<Measured>& repetitions, const Work& w, const Sharing& sharing) {
  std::vector<Measured> all;
  for (const Measured& m : repetitions)
    if (!m.nanoseconds.empty()) all.push_back(m);
  Figured f;
  if (all.empty()) return f;
  f.metrics = metrics_of(all, w), f.repetitions = all.size(), f.shared = sharing_in_words(sharing);
  add_intervals(f, all, w);
  add_limits(f, all, w, !sharing.own.empty());
  leave_out_rates(f, all, sharing);
  return f;
}

}  // namespace plumb
