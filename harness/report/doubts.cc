#include "harness/report/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/measure/statistics.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

double microseconds_of(double nanoseconds) { return nanoseconds / 1000; }

}  // namespace

std::string clocks_in_words(const std::vector<Timings>& all) {
  std::map<std::pair<std::string, std::int64_t>, ClockSeen> last;
  for (const Timings& t : all)
    for (const Repetition& r : t.repetitions)
      for (const ClockSeen& c : r.samples.clocks) last[{t.backend, c.rank}] = c;
  std::string text;
  for (const auto& [of, c] : last) {
    const std::string apart =
        std::abs(c.offset) <= c.error
            ? fmt::format("as the first one's, give or take {:.2g} us", microseconds_of(c.error))
            : fmt::format("{:.1f} us {} the first one's, give or take {:.2g}",
                          microseconds_of(std::abs(c.offset)), c.offset > 0 ? "behind" : "ahead of",
                          microseconds_of(c.error));
    const std::string runs =
        std::abs(c.drift) <= c.drift_error
            ? fmt::format("it gains or loses {:.2g} us a second at most",
                          microseconds_of(std::abs(c.drift) + c.drift_error))
            : fmt::format("it {} {:.4g} us a second, give or take {:.2g}", c.drift > 0 ? "loses" : "gains",
                          microseconds_of(std::abs(c.drift)), microseconds_of(c.drift_error));
    text += fmt::format("clock of rank {} of {}: {}\n    {}\n", of.second, of.first, apart, runs);
  }
  return text;
}

namespace {

std::string coarse_in_words(const std::vector<Timings>& all) {
  const Timings* worst = nullptr;
  double most = 0;
  int n = 0;
  for (const Timings& t : all)
    if (const double share = share_of_a_step(t); share > near_enough && ++n && share > most) worst = &t, most = share;
  if (!worst) return "";
  return fmt::format(
      "coarse  {} case{}: of {}  {} one step of the clock, {:.0f} ns, is {:.0f} % of the median; --batch K "
      "makes "
      "one iteration of K runs\n",
      n, n == 1 ? "" : "s", worst->backend, worst->line, step_of(*worst) * static_cast<double>(worst->repetitions.back().timing.batch),
      100 * most);
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

// Of each backend, of the cases whose own ranks share cores, and of those beside whose ranks others have
// them.
std::string shared_in_words(const std::vector<Timings>& all) {
  std::map<std::string, std::set<std::string>> own, besides;
  for (const Timings& t : all) {
    const Sharing shared = who_shares(t);
    if (!shared.own.empty()) own[t.backend].insert(shared.own);
    if (!shared.besides.empty()) besides[t.backend].insert(shared.besides);
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

// The first reason why a rate is UNSURE, and of how many cases one is.
std::string unsure_in_words(const std::vector<Timings>& all) {
  std::map<std::string, std::map<std::string, std::int64_t>> cases;
  for (const Timings& t : all)
    if (const Figured f = figures_of(t); !f.unsure.empty()) ++cases[t.backend][f.unsure.begin()->second];
  std::string text;
  for (const auto& [backend, whys] : cases)
    for (const auto& [why, count] : whys)
      text +=
          fmt::format("UNSURE  {}: bandwidth or FLOP/s of {}: {}\n", backend, counted(count, "case"), why);
  return text;
}

// Of backends that have no word for what they could do at best, of cases that move or compute something.
std::string no_limits_at_all(const std::vector<Timings>& all) {
  std::map<std::string, std::int64_t> cases;
  for (const Timings& t : all) {
    const auto says = [](const Repetition& r) {
      return !r.lost.empty() || (r.work.bytes <= 0 && r.work.flops <= 0) || r.limits.contains("send") ||
             r.limits.contains("gemm") || r.limits.contains("call") || r.limits.contains("copy");
    };
    if (std::ranges::none_of(t.repetitions, says)) ++cases[t.backend];
  }
  std::string text;
  for (const auto& [backend, count] : cases)
    text += fmt::format(
        "no limits  {}: it cannot say what it could do at best: no share of that is known, and no "
        "control of other runs ({})\n",
        backend, counted(count, "case"));
  return text;
}

// Of a case that began at agreed times: an agreed time is no longer one where clocks drift.
std::string drift_in_words(const std::vector<Timings>& all) {
  std::string text;
  for (const Timings& t : all)
    for (const Repetition& r : t.repetitions)
      if (const std::string drift = drifted_apart(r); !drift.empty()) {
        text += fmt::format(
            "drift  {}  {}\n    {}, and the agreed times of ranks move apart: its times are also those of "
            "waiting for who begins later; --sync barrier\n",
            t.backend, t.line, drift);
        break;
      }
  return text;
}

// Of a case of which at least as many iterations were dropped as are left: by whom these were is no chance.
std::string mostly_late(const std::vector<Timings>& all) {
  std::string text;
  for (const Timings& t : all) {
    const Samples each = together(t);
    const std::int64_t left = std::ssize(each.nanoseconds);
    if (each.late > 0 && each.late >= left)
      text += fmt::format("late  {}  {}\n    {} of {} were begun late and dropped: its times are those of the {} that are left\n", t.backend,
                          t.line, each.late, counted(each.late + left, "iteration"), left);
  }
  return text;
}

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
  return notes_in_words(all) + shared_in_words(all) + unsure_in_words(all) + coarse_in_words(all) +
         drift_in_words(all) + mostly_late(all) + late_throughout(all) + no_limits_at_all(all);
}

std::vector<std::string> failed_limits(const std::vector<Timings>& all) {
  std::vector<std::string> findings;
  for (const Timings& t : all)
    if (const auto r =
            std::ranges::find_if(t.repetitions, [](const Repetition& one) { return !one.lost.empty(); });
        r != t.repetitions.end())
      findings.push_back(fmt::format(
          "failed  {}  {}\n    its own times are kept, but of repetition {} not all limits are known: {}",
          t.backend, t.line, r->number, r->lost));
  return findings;
}

std::string lags_in_words(const std::vector<Timings>& all) {
  std::string text;
  for (const Timings& t : all)
    if (const auto who = lagging(t))
      text += fmt::format(
          "lags  {}  {}\n    rank {} is outside of its collectives for {:.4g} us at least, the others for "
          "{:.4g} at "
          "most, and they wait for it\n",
          t.backend, t.line, who->rank, microseconds_of(who->least), microseconds_of(who->others));
  return text;
}

}  // namespace plumb
