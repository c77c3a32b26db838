#include "harness/report/timings_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

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
  return short_number(low / microsecond) + ".." + short_number(high / microsecond);
}

// By which rules the repetitions stopped: "interval", "budget 2/5", where the median of the others was settled.
std::string stops(const Timings& t) {
  std::map<std::string, std::int64_t> all;
  for (const Repetition& r : t.repetitions) ++all[r.stop];
  if (all.size() == 1) return all.begin()->first;
  all.erase("interval");
  std::vector<std::string> each;
  for (const auto& [stop, n] : all) each.push_back(fmt::format("{} {}/{}", stop, n, t.repetitions.size()));
  return fmt::format("{}", fmt::join(each, ", "));
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

// "send 11.3 GB/s"
std::string limit_in_words(const Limit& limit) {
  return limit.value ? fmt::format("{} {:.3g} {}", limit.of, *limit.value, unit_of(limit.metric))
                     : limit.of + " UNSURE";
}

// How much of what its limit allows a case reaches, by its repetitions: of times, how little of it is more.
std::string share_in_words(const Limit& limit) {
  if (!limit.share) return "UNSURE";
  const Ratio r = unit_of(limit.metric) == "us" ? one_over(*limit.share) : *limit.share;
  const std::string between = fmt::format("{:.0f}..{:.0f}", 100 * r.interval.low, 100 * r.interval.high);
  return may_be_beaten(limit.metric, *limit.share) ? fmt::format("UNSURE ({})", between)
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

constexpr TimingColumn time_columns[] = {
    {"samples", "", samples_cell},
    {"late", "", late_in_words},
    {"min", "min"},
    {"median", "median"},
    {"repetitions", "", spread_cell},
    {"p95", "p95"},
    {"p99", "p99"},
    {"IQR", "IQR"},
    {"skew", "skew"},
    {"slowest", "", slow_cell},
    {"stop", "", stop_cell},
};
constexpr TimingColumn rate_columns[] = {
    {"size", "", size_cell},
    {"algbw GB/s", "algbw"},
    {"busbw GB/s", "busbw"},
    {"factor (p2p)", "", factor_cell},
    {"GFLOP/s", "gflops"},
};

std::string cell(const TimingColumn& column, const Timings& t, const Figured& f, const Work& w) {
  if (column.cell) return column.cell(t, f, w);
  if (f.unsure.contains(column.metric)) return "UNSURE";
  const auto at = f.metrics.find(column.metric);
  return at == f.metrics.end() ? "-" : short_number(at->second);
}

std::vector<std::string> cells(std::span<const TimingColumn> columns, const Timings& t, const Figured& f) {
  const Work w = work(parse_case(t.line));
  std::vector<std::string> row{""};
  for (const TimingColumn& column : columns) row.push_back(cell(column, t, f, w));
  return row;
}

// Its rates beside the first of its limits; each other below. Of a limit that holds two metrics the first is shown.
std::vector<std::vector<std::string>> beside_limits(const Timings& t, const Figured& f) {
  std::vector<std::vector<std::string>> rows{cells(rate_columns, t, f)};
  const std::size_t width = rows[0].size();
  std::set<std::string> shown;
  for (const Limit& limit : f.limits) {
    if (!shown.insert(limit.of).second) continue;
    if (shown.size() > 1) rows.emplace_back(width);
    rows.back().push_back(limit_in_words(limit)), rows.back().push_back(share_in_words(limit));
  }
  rows[0].resize(width + 2, "-");
  return rows;
}

// What no case has is no column.
std::string table(std::vector<std::string> names, std::vector<Named> all) {
  for (std::size_t c = names.size(); c-- > 1;) {
    const auto none = [c](const auto& row) { return row[c] == "-" || row[c].empty(); };
    if (!std::ranges::all_of(all, [&](const Named& one) { return std::ranges::all_of(one.rows, none); })) continue;
    const auto at = static_cast<std::ptrdiff_t>(c);
    names.erase(names.begin() + at);
    for (Named& one : all)
      for (auto& row : one.rows) row.erase(row.begin() + at);
  }
  return names.size() == 1 ? "" : columns_below(std::move(names), all, 1);
}

std::vector<std::string> names(const char* first, std::span<const TimingColumn> columns) {
  std::vector<std::string> all{first};
  for (const TimingColumn& column : columns) all.emplace_back(column.name);
  return all;
}

}  // namespace

std::string timings_table(const std::vector<Timings>& all) {
  std::vector<Named> times, rates;
  for (const Timings& t : all) {
    const Figured f = figures_of(t);
    times.push_back({named_on(t.line, t.backend), {cells(time_columns, t, f)}});
    rates.push_back({times.back().name, beside_limits(t, f)});
  }
  std::vector<std::string> of_rates = names("rates", rate_columns);
  of_rates.insert(of_rates.end(), {"limit", "of limit"});
  return table(names("times us", time_columns), std::move(times)) + table(std::move(of_rates), std::move(rates));
}

}  // namespace plumb
