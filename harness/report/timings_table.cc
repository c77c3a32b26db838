#include "harness/report/timings_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/measure/require.h"
#include "harness/measure/statistics.h"
#include "harness/report/table.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr double microsecond = 1000;

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

// Where one is waited for, that one: inside a collective all take as long.
std::string slow_rank(const Timings& t) {
  if (const auto who = lagging(t)) return fmt::format("{} lags", who->rank);
  const Laggard slow = laggard(together(t));
  return slow.rank < 0 ? "-" : fmt::format("{} ({:.0f} %)", slow.rank, 100 * slow.share);
}

struct TimingColumn {
  const char *name, *metric;  // a number of the metric, where it says no more
  std::string (*cell)(const Timings&, const Figured&, const Work&) = nullptr;
};

// The metric of a case that its limit is of; empty where it has none.
std::string limited(const Figured& f) {
  for (const char* metric : {"busbw", "gflops", "median"})
    if (f.limits.contains(metric)) return metric;
  return "";
}

std::string limit_in_words(const Timings&, const Figured& f, const Work&) {
  const std::string metric = limited(f);
  if (metric.empty()) return "-";
  const auto& value = f.limits.at(metric).value;
  return value ? fmt::format("{:.3g} {}", *value, unit_of(metric)) : "UNSURE";
}

// How much of what its limit allows a case reaches, by its repetitions: of times, how little of it is more.
std::string of_limit(const Timings&, const Figured& f, const Work&) {
  const std::string metric = limited(f);
  if (metric.empty()) return "-";
  const auto& share = f.limits.at(metric).share;
  if (!share) return "UNSURE";
  const Ratio r = metric == "median" ? one_over(*share) : *share;
  const std::string between = fmt::format("{:.0f}..{:.0f}", 100 * r.interval.low, 100 * r.interval.high);
  return may_be_beaten(metric, *share) ? fmt::format("UNSURE ({})", between)
                                       : fmt::format("{:.0f} % ({})", 100 * r.middle, between);
}

std::string late_in_words(const Timings& t, const Figured&, const Work&) {
  const std::int64_t late = together(t).late;
  return late == 0 ? "-" : fmt::format("{}", late);
}

std::string size_cell(const Timings&, const Figured&, const Work& w) { return w.bytes > 0 ? size_in_words(w.bytes) : "-"; }
std::string factor_cell(const Timings&, const Figured&, const Work& w) { return w.bytes > 0 ? factor_in_words(w) : "-"; }
std::string samples_cell(const Timings& t, const Figured&, const Work&) {
  return fmt::format("{}", together(t).nanoseconds.size());
}
std::string spread_cell(const Timings& t, const Figured&, const Work&) { return spread(t); }
std::string slow_cell(const Timings& t, const Figured&, const Work&) { return slow_rank(t); }
std::string stop_cell(const Timings& t, const Figured&, const Work&) { return stops(t); }

constexpr TimingColumn timing_columns[] = {
    {"size", "", size_cell},
    {"samples", "", samples_cell},
    {"late", "", late_in_words},
    {"min us", "min"},
    {"median us", "median"},
    {"of repetitions", "", spread_cell},
    {"p95 us", "p95"},
    {"p99 us", "p99"},
    {"IQR us", "IQR"},
    {"skew us", "skew"},
    {"algbw GB/s", "algbw"},
    {"busbw GB/s", "busbw"},
    {"factor (p2p)", "", factor_cell},
    {"GFLOP/s", "gflops"},
    {"limit", "", limit_in_words},
    {"of limit", "", of_limit},
    {"slowest rank", "", slow_cell},
    {"stop", "", stop_cell},
};

std::string cell(const TimingColumn& column, const Timings& t, const Figured& f, const Work& w) {
  if (column.cell) return column.cell(t, f, w);
  if (f.unsure.contains(column.metric)) return "UNSURE";
  const auto at = f.metrics.find(column.metric);
  return at == f.metrics.end() ? "-" : fmt::format("{:.4g}", at->second);
}

}  // namespace

std::string timings_table(const std::vector<Timings>& all) {
  std::vector<std::vector<std::string>> rows{
      {"case", "backend"}
  };
  for (const TimingColumn& column : timing_columns) rows[0].emplace_back(column.name);
  for (const Timings& t : all) {
    const Figured f = figures_of(t);
    const Work w = work(parse_case(t.line));
    rows.push_back({t.line, t.backend});
    for (const TimingColumn& column : timing_columns) rows.back().push_back(cell(column, t, f, w));
  }
  for (std::size_t c = rows[0].size(); c-- > 2;) {  // what no case has is no column
    const auto none = [c](const auto& row) { return row[c] == "-"; };
    if (std::all_of(rows.begin() + 1, rows.end(), none))
      for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return columns(rows, 2);
}

}  // namespace plumb
