#include "harness/report/timings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/measure/bandwidth.h"
#include "harness/measure/statistics.h"
#include "harness/report/table.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr double microsecond = 1000;

std::string rate(double number) { return number > 0 ? fmt::format("{:.3g}", number) : "-"; }

std::string size_in_words(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

// The medians of the repetitions: how far two equal runs of a moment are apart.
std::string spread(const Timings& t) {
  const std::vector<double> all = medians(t);
  const auto [low, high] = std::ranges::minmax(all);
  return fmt::format("{:.4g}..{:.4g}", low / microsecond, high / microsecond);
}

// By which rules the repetitions stopped.
std::string stops(const Timings& t) {
  std::set<std::string> all;
  for (const Repetition& r : t.repetitions) all.insert(r.stop);
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string slow_rank(const Samples& all) {
  const Laggard slow = laggard(all);
  return slow.rank < 0 ? "-" : fmt::format("{} ({:.0f} %)", slow.rank, 100 * slow.share);
}

struct TimingColumn {
  const char* name;
  std::string (*cell)(const Timings&, const Figures&, const Work&);
};

double us(double nanoseconds) { return nanoseconds / microsecond; }
std::string us_in_words(double nanoseconds) { return fmt::format("{:.4g}", us(nanoseconds)); }

// How much of what a limit allows there is, of the metric that the case has; -1 where there is none.
double share_of_limit(const Timings& t) {
  const Figured f = figured(t);
  for (const char* metric : {"busbw", "gflops", "median"})
    if (f.limits.contains(metric) && f.metrics.contains(metric))
      return metric == std::string("median") ? f.limits.at(metric) / f.metrics.at(metric)
                                             : f.metrics.at(metric) / f.limits.at(metric);
  return -1;
}

// Of all, and of the repetitions by themselves, each by its own limit: where these are far apart, the limit
// is as unsteady as what is held to it.
std::string of_limit(const Timings& t, const Figures&, const Work&) {
  const double share = share_of_limit(t);
  if (share < 0) return "-";
  std::vector<double> each;
  for (const Repetition& r : t.repetitions)
    if (const double one = share_of_limit({t.line, t.backend, {r}}); one >= 0) each.push_back(one);
  const auto [low, high] = std::ranges::minmax(each);
  const std::string text = fmt::format("{:.0f} %", 100 * share);
  return each.size() < 2 ? text : fmt::format("{} ({:.0f}..{:.0f})", text, 100 * low, 100 * high);
}

constexpr TimingColumn timing_columns[] = {
    {"size",
     [](auto&,                                          auto&,            const Work& w) { return w.bytes > 0 ? size_in_words(w.bytes) : std::string("-"); }},
    {"samples",        [](auto&,                        const Figures& f, auto&) { return fmt::format("{}", f.count); }                                     },
    {"min us",         [](auto&,                        const Figures& f, auto&) { return us_in_words(f.least); }                                           },
    {"median us",      [](auto&,                        const Figures& f, auto&) { return us_in_words(f.median); }                                          },
    {"of repetitions", [](const Timings& t,             auto&,            auto&) { return spread(t); }                                                      },
    {"p95 us",         [](auto&,                        const Figures& f, auto&) { return us_in_words(f.p95); }                                             },
    {"p99 us",         [](auto&,                        const Figures& f, auto&) { return us_in_words(f.p99); }                                             },
    {"IQR us",         [](auto&,                        const Figures& f, auto&) { return us_in_words(f.iqr); }                                             },
    {"algbw GB/s",
     [](auto&,                                          const Figures& f, const Work& w) { return rate(algorithm_bandwidth(w, f.median)); }                 },
    {"busbw GB/s",     [](auto&,                        const Figures& f, const Work& w) { return rate(bus_bandwidth(w, f.median)); }                       },
    {"factor",
     [](auto&,                                          auto&,            const Work& w) { return w.bytes > 0 ? factor_in_words(w) : std::string("-"); }    },
    {"GFLOP/s",        [](auto&,                        const Figures& f, const Work& w) { return rate(w.flops / f.median); }                               },
    {"of limit",       of_limit                       },
    {"slowest rank",           [](const Timings& t, auto&,                 auto&) { return slow_rank(together(t)); }                                                                                     },
    {"stop",           [](const Timings& t,               auto&, auto&) { return stops(t); }},
};

}  // namespace

Samples together(const Timings& t) {
  Samples all;
  for (const Repetition& r : t.repetitions) take_in(all, r.samples);
  return all;
}

std::vector<double> medians(const Timings& t) {
  std::vector<double> all;
  for (const Repetition& r : t.repetitions)
    if (!r.samples.nanoseconds.empty()) all.push_back(quantile(r.samples.nanoseconds, 0.5));
  return all;
}

std::vector<double> beside_controls(const Timings& t) {
  std::vector<double> all;
  for (const Repetition& r : t.repetitions) {
    if (r.samples.nanoseconds.empty()) continue;
    const double control = r.control.empty() ? 0 : std::ranges::min(r.control);
    if (control <= 0) return {};
    all.push_back(std::ranges::min(r.samples.nanoseconds) / control);
  }
  return all;
}

namespace {

// Of each limit the least time that a repetition saw.
void add_limits(Figured& f, const Timings& t, const Work& w) {
  std::map<std::string, double> least;
  for (const Repetition& r : t.repetitions)
    for (const auto& [what, took] : r.limits) {
      const auto [at, first] = least.try_emplace(what, took);
      if (!first) at->second = std::min(at->second, took);
    }
  const auto limit = least.find(w.flops > 0 ? "gemm" : "send");
  if (limit != least.end() && limit->second > 0) {
    if (w.flops > 0) f.limits["gflops"] = w.flops / limit->second;
    if (w.bytes > 0) f.limits["busbw"] = w.bytes / limit->second, f.limits["algbw"] = w.bytes / limit->second;
  }
  if (const auto call = least.find("call"); call != least.end()) f.limits["median"] = us(call->second);
}

}  // namespace

Figured figured(const Timings& t) {
  const Work w = work(parse_case(t.line));
  const Samples all = together(t);
  Figured f;
  if (all.nanoseconds.empty()) return f;
  const Figures of = figures(all.nanoseconds);
  f.metrics = {
      {"min",    us(of.least) },
      {"median", us(of.median)},
      {"p95",    us(of.p95)   },
      {"p99",    us(of.p99)   }
  };
  if (w.bytes > 0)
    f.metrics["algbw"] = algorithm_bandwidth(w, of.median), f.metrics["busbw"] = bus_bandwidth(w, of.median);
  if (w.flops > 0) f.metrics["gflops"] = w.flops / of.median;
  if (!all.skew.empty()) f.metrics["skew"] = us(quantile({all.skew.begin(), all.skew.end()}, 0.5));
  add_limits(f, t, w);
  return f;
}

std::string timings_table(const std::vector<Timings>& all) {
  std::vector<std::vector<std::string>> rows{
      {"case", "backend"}
  };
  for (const TimingColumn& column : timing_columns) rows[0].emplace_back(column.name);
  for (const Timings& t : all) {
    const Figures f = figures(together(t).nanoseconds);
    const Work w = work(parse_case(t.line));
    rows.push_back({t.line, t.backend});
    for (const TimingColumn& column : timing_columns) rows.back().push_back(column.cell(t, f, w));
  }
  for (std::size_t c = rows[0].size(); c-- > 2;) {  // what no case has is no column
    const auto none = [c](const auto& row) { return row[c] == "-"; };
    if (std::all_of(rows.begin() + 1, rows.end(), none))
      for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return columns(rows, 2);
}

std::string clocks_in_words(const std::vector<Timings>& all) {
  std::map<std::pair<std::string, std::int64_t>, ClockSeen> last;
  for (const Timings& t : all)
    for (const Repetition& r : t.repetitions)
      for (const ClockSeen& c : r.samples.clocks) last[{t.backend, c.rank}] = c;
  std::string text;
  for (const auto& [of, c] : last)
    text += fmt::format(
        "clock of rank {} of {}: {:.1f} us {} the first one's, give or take {:.2g}; it {} {:.4g} us a "
        "second, "
        "give or take {:.2g}\n",
        of.second, of.first, us(std::abs(c.offset)), c.offset > 0 ? "behind" : "ahead of", us(c.error),
        c.drift > 0 ? "loses" : "gains", us(std::abs(c.drift)), us(c.drift_error));
  return text;
}

std::optional<Waited> lagging(const Timings& t) {
  std::vector<std::vector<std::int64_t>> runs;
  for (const Repetition& r : t.repetitions)
    if (!r.outside.empty()) runs.push_back(r.outside);
  const auto who = waited_for(runs);
  const std::vector<double> all = together(t).nanoseconds;
  if (!who || all.empty() || who->least - who->others <= near_enough * quantile(all, 0.5))
    return std::nullopt;
  return who;
}

std::string lags_in_words(const std::vector<Timings>& all) {
  std::string text;
  for (const Timings& t : all)
    if (const auto who = lagging(t))
      text += fmt::format(
          "lags  {}  {}\n    rank {} is outside of its collectives for {:.4g} us at least, the others for "
          "{:.4g} at "
          "most, and they wait for it\n",
          t.backend, t.line, who->rank, us(who->least), us(who->others));
  return text;
}

namespace {

Machine machine_of(const nlohmann::json& environment) {
  Machine m;
  if (!environment.is_object()) return m;
  m.cpu = environment.value("cpu", ""), m.cores = environment.value("cores", 0);
  return m;
}

}  // namespace

std::vector<Timings> timings_of(const std::vector<Record>& records) {
  std::vector<Timings> all;
  std::map<std::string, std::size_t> places;
  for (const Record& r : records) {
    if (!r.bench || r.bench->samples.nanoseconds.empty()) continue;
    const auto [at, first] = places.try_emplace(record_key(r.line, r.backend), all.size());
    if (first) {
      std::map<std::string, double> over = bytes_over_axes(parse_case(r.line), r.trace);
      all.push_back({r.line, r.backend, {}, std::move(over), machine_of(r.environment)});
    }
    all[at->second].repetitions.push_back(*r.bench);
  }
  return all;
}

}  // namespace plumb
