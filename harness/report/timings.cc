#include "harness/report/timings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "harness/measure/bandwidth.h"
#include "harness/measure/crowded.h"
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

std::string slow_rank(const Samples& all) {
  const Laggard slow = laggard(all);
  return slow.rank < 0 ? "-" : fmt::format("{} ({:.0f} %)", slow.rank, 100 * slow.share);
}

struct TimingColumn {
  const char *name, *metric;  // a number of the metric, where it says no more
  std::string (*cell)(const Timings&, const Figured&, const Work&) = nullptr;
};

double us(double nanoseconds) { return nanoseconds / microsecond; }

// The metric of a case that its limit is of; empty where it has none.
std::string limited(const Figured& f) {
  for (const char* metric : {"busbw", "gflops", "median"})
    if (f.limits.contains(metric)) return metric;
  return "";
}

std::string limit_in_words(const Timings&, const Figured& f, const Work&) {
  const std::string metric = limited(f);
  return metric.empty() ? "-" : fmt::format("{:.3g} {}", f.limits.at(metric).value, unit_of(metric));
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

constexpr TimingColumn timing_columns[] = {
    {"size",               "",                          [](auto&,                                       auto&,                                 const Work& w) { return w.bytes > 0 ? size_in_words(w.bytes) : "-"; }},
    {"samples",            "",
     [](const Timings& t,                                                                               auto&,                                 auto&) { return fmt::format("{}", together(t).nanoseconds.size()); } },
    {"late",               "",                          late_in_words                                 },
    {"min us",                    "min"                                    },
    {"median us", "median"                      },
    {"of repetitions",                    "",                                        [](const Timings& t,                                       auto&,                                      auto&) { return spread(t); }                                                                                                   },
    {"p95 us",                    "p95"                                      },
    {"p99 us",                    "p99"                                   },
    {"IQR us",            "IQR"                                 },
    {"skew us",                    "skew"                                        },
    {"algbw GB/s",                  "algbw"                },
    {"busbw GB/s",               "busbw"},
    {"factor (p2p)",               "",               [](auto&,auto&,                                                      const Work& w) { return w.bytes > 0 ? factor_in_words(w) : "-"; }                                                                                                           },
    {"GFLOP/s",                     "gflops"                                               },
    {"limit",                    "",                                               limit_in_words                       },
    {"of limit",                     "",                                                 of_limit                          },
    {"slowest rank",                     "",                                                 [](const Timings& t,                                             auto&,auto&) { return slow_rank(together(t)); }},
    {"stop",                     "",                                                 [](const Timings& t,                                      auto&,                          auto&) { return stops(t); }                                                                                       },
};

std::string cell(const TimingColumn& column, const Timings& t, const Figured& f, const Work& w) {
  if (column.cell) return column.cell(t, f, w);
  const auto at = f.metrics.find(column.metric);
  return at == f.metrics.end() ? "-" : fmt::format("{:.4g}", at->second);
}

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

// What a limit took in each repetition that timed it.
std::vector<double> took(const Timings& t, const std::string& what) {
  std::vector<double> all;
  for (const Repetition& r : t.repetitions)
    if (const auto at = r.limits.find(what); at != r.limits.end() && at->second > 0)
      all.push_back(at->second);
  return all;
}

// As many bytes sent round bound those on a link, bus bandwidth; algorithm bandwidth is that without its
// factor.
void add_limits(Figured& f, const Timings& t, const Work& w) {
  const std::vector<double> ours = medians(t);
  const std::vector<double> limit = took(t, w.flops > 0 ? "gemm" : "send"), call = took(t, "call");
  if (!limit.empty()) {
    const double least = quantile(limit, 0.5);
    auto share = ratio_of(limit, ours);
    if (w.flops > 0) f.limits["gflops"] = {w.flops / least, share};
    if (share && w.bytes > 0) share = so_many_times(*share, w.factor);
    if (w.bytes > 0) f.limits["busbw"] = {w.bytes / least, share};
    if (w.bytes > 0 && w.factor > 0) f.limits["algbw"] = {w.bytes / least / w.factor, share};
  }
  if (!call.empty()) f.limits["median"] = {us(quantile(call, 0.5)), ratio_of(ours, call)};
}

void add_skew(Figured& f, const Timings& t) {
  std::vector<double> each;
  for (const Repetition& r : t.repetitions)
    if (const auto& skew = r.samples.skew; !skew.empty())
      each.push_back(quantile({skew.begin(), skew.end()}, 0.5));
  if (!each.empty()) f.metrics["skew"] = us(quantile(each, 0.5));
}

}  // namespace

Figured figured(const Timings& t) {
  const Work w = work(parse_case(t.line));
  std::vector<std::vector<double>> each;
  for (const Repetition& r : t.repetitions)
    if (!r.samples.nanoseconds.empty()) each.push_back(r.samples.nanoseconds);
  Figured f;
  if (each.empty()) return f;
  const auto [count, least, median, p95, p99, iqr] = figures(each);
  f.metrics = {
      {"min",    us(least) },
      {"median", us(median)},
      {"p95",    us(p95)   },
      {"p99",    us(p99)   },
      {"IQR",    us(iqr)   }
  };
  if (w.bytes > 0) f.metrics["algbw"] = algorithm_bandwidth(w, median);
  if (w.bytes > 0) f.metrics["busbw"] = bus_bandwidth(w, median);
  if (w.flops > 0) f.metrics["gflops"] = w.flops / median;
  add_skew(f, t);
  add_limits(f, t, w);
  return f;
}

std::string timings_table(const std::vector<Timings>& all) {
  std::vector<std::vector<std::string>> rows{
      {"case", "backend"}
  };
  for (const TimingColumn& column : timing_columns) rows[0].emplace_back(column.name);
  for (const Timings& t : all) {
    const Figured f = figured(t);
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

std::string clocks_in_words(const std::vector<Timings>& all) {
  std::map<std::pair<std::string, std::int64_t>, ClockSeen> last;
  for (const Timings& t : all)
    for (const Repetition& r : t.repetitions)
      for (const ClockSeen& c : r.samples.clocks) last[{t.backend, c.rank}] = c;
  std::string text;
  for (const auto& [of, c] : last) {
    const std::string apart =
        std::abs(c.offset) <= c.error
            ? fmt::format("as the first one's, give or take {:.2g} us", us(c.error))
            : fmt::format("{:.1f} us {} the first one's, give or take {:.2g}", us(std::abs(c.offset)),
                          c.offset > 0 ? "behind" : "ahead of", us(c.error));
    const std::string runs =
        std::abs(c.drift) <= c.drift_error
            ? fmt::format("it gains or loses {:.2g} us a second at most",
                          us(std::abs(c.drift) + c.drift_error))
            : fmt::format("it {} {:.4g} us a second, give or take {:.2g}", c.drift > 0 ? "loses" : "gains",
                          us(std::abs(c.drift)), us(c.drift_error));
    text += fmt::format("clock of rank {} of {}: {}; {}\n", of.second, of.first, apart, runs);
  }
  return text;
}

namespace {

// The step of a clock beside the median of a case, for one run.
double of_a_step(const Timings& t) {
  double most = 0;
  for (const Repetition& r : t.repetitions)
    if (!r.samples.nanoseconds.empty() && r.timing.batch > 0)
      most =
          std::max(most, r.step / static_cast<double>(r.timing.batch) / quantile(r.samples.nanoseconds, 0.5));
  return most;
}

std::string coarse_in_words(const std::vector<Timings>& all) {
  const Timings* worst = nullptr;
  int n = 0;
  for (const Timings& t : all)
    if (of_a_step(t) > near_enough && ++n && (!worst || of_a_step(t) > of_a_step(*worst))) worst = &t;
  if (!worst) return "";
  return fmt::format(
      "coarse  {} case{}: of {}  {} one step of the clock, {:.0f} ns, is {:.0f} % of the median; --batch K "
      "makes "
      "one iteration of K runs\n",
      n, n == 1 ? "" : "s", worst->backend, worst->line, worst->repetitions.back().step,
      100 * of_a_step(*worst));
}

std::string notes_in_words(const std::vector<Timings>& all) {
  std::map<std::string, std::map<std::string, std::int64_t>> cases;
  for (const Timings& t : all)
    for (const std::string& note : t.notes) ++cases[t.backend][note];
  std::string text;
  for (const auto& [backend, notes] : cases)
    for (const auto& [note, count] : notes)
      text += fmt::format("note  {}: {} ({})\n", backend, note, counted(count, "case"));
  return text;
}

// Of each backend, of the cases whose own ranks share cores, and of those beside whose ranks others have them.
std::string shared_in_words(const std::vector<Timings>& all) {
  std::map<std::string, std::set<std::string>> own, besides;
  for (const Timings& t : all)
    for (const Repetition& r : t.repetitions) {
      const std::int64_t ranks = devices(parse_case(t.line).mesh);
      if (const std::string shared = shared_cores(r.places, ranks); !shared.empty())
        own[t.backend].insert(shared);
      else if (const std::string crowd = shared_cores(r.places, std::numeric_limits<std::int64_t>::max()); !crowd.empty())
        besides[t.backend].insert(fmt::format("{}, and {} take part", crowd, ranks));
    }
  std::string text;
  for (const auto& [backend, each] : own)
    text += fmt::format("shared  {}: {}: its times are also those of waiting for a core\n", backend,
                        fmt::join(each, ", "));
  for (const auto& [backend, each] : besides)
    text += fmt::format("shared  {}: {}: a library that knows it lets go of a core while it waits\n", backend,
                        fmt::join(each, "; "));
  return text;
}

}  // namespace

std::string no_times(const Repetition& r) {
  const bool late = r.samples.nanoseconds.empty() && r.samples.late > 0;
  return late ? "every iteration was begun late: ranks did not have their cores at the agreed times; --sync "
                "barrier"
              : "";
}

namespace {

std::string late_throughout(const std::vector<Timings>& all) {
  std::string text;
  for (const Timings& t : all)
    if (const auto n =
            std::ranges::count_if(t.repetitions, [](const Repetition& r) { return !no_times(r).empty(); });
        n > 0)
      text +=
          fmt::format("late  {}  {}\n    {} of {} repetitions {} no times: every iteration was begun late\n",
                      t.backend, t.line, n, t.repetitions.size(), n == 1 ? "has" : "have");
  return text;
}

}  // namespace

std::string doubts_in_words(const std::vector<Timings>& all) {
  std::string text = notes_in_words(all) + shared_in_words(all) + coarse_in_words(all) + late_throughout(all);
  for (const Timings& t : all)
    for (const Repetition& r : t.repetitions)
      if (!r.lost.empty()) {
        text += fmt::format("no limits  {}  {}\n    of repetition {} not all are known: {}\n", t.backend,
                            t.line, r.number, r.lost);
        break;
      }
  return text;
}

std::optional<Waited> lagging(const Timings& t) {
  std::vector<std::vector<std::int64_t>> runs;
  for (const Repetition& r : t.repetitions)
    if (!r.outside.empty()) runs.push_back(r.outside);
  const auto who = waited_for(runs);
  const std::vector<double> all = medians(t);
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
  const auto text = [&](const char* key) {
    const auto at = environment.find(key);
    return at != environment.end() && at->is_string() ? at->get<std::string>() : "";
  };
  m.cpu = text("cpu"), m.scheduling = text("scheduling");
  if (const auto cores = environment.find("cores"); cores != environment.end() && cores->is_number_integer())
    m.cores = cores->get<int>();
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
      all.push_back({r.line, r.backend, {}, std::move(over), machine_of(r.environment), {}, r.notes});
    }
    all[at->second].repetitions.push_back(*r.bench);
  }
  const auto of_a_soak = [](const Repetition& r) { return r.stop == "soak"; };
  for (Timings& t : all)
    if (!std::ranges::all_of(t.repetitions, of_a_soak)) std::erase_if(t.repetitions, of_a_soak);
  return all;
}

}  // namespace plumb
