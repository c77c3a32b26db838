#include "harness/report/timings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "harness/measure/bandwidth.h"
#include "harness/measure/statistics.h"
#include "reference/words/text.h"

namespace plumb {

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

double step_shown(const Timings& t) {
  std::int64_t common = 0;
  double batch = 1;
  for (const Repetition& r : t.repetitions) {
    if (r.step <= 0 || r.timing.batch <= 0) continue;
    batch = static_cast<double>(r.timing.batch);
    for (double ns : r.samples.nanoseconds) common = std::gcd(common, std::llround(ns * batch));
  }
  return static_cast<double>(common) / batch;
}

double step_of(const Timings& t) {
  double step = step_shown(t);
  for (const Repetition& r : t.repetitions)
    if (r.timing.batch > 0) step = std::max(step, r.step / static_cast<double>(r.timing.batch));
  return step;
}

double share_of_a_step(const Timings& t) {
  const std::vector<double> all = medians(t);
  return all.empty() ? 0 : step_of(t) / std::ranges::min(all);
}

Timings of_launches(const Timings& t) {
  Timings all = t;
  bool one = false;
  std::erase_if(all.repetitions,
                [&](const Repetition& r) { return r.launch == 0 && std::exchange(one, true); });
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

std::vector<double> beside_limit(const Timings& t, const std::string& what) {
  std::vector<double> all;
  for (const Repetition& r : t.repetitions) {
    if (r.samples.nanoseconds.empty()) continue;
    const auto limit = r.limits.find(what);
    if (limit == r.limits.end()) return {};
    all.push_back(quantile(r.samples.nanoseconds, 0.5) / limit->second);
  }
  return all;
}

Sharing who_shares(const Timings& t) {
  const std::int64_t ranks = devices(parse_case(t.line).mesh);
  Sharing all;
  for (const Repetition& r : t.repetitions)
    if (all = sharing(r.places, ranks); !all.own.empty()) break;
  return all;
}

Figured figures_of(const Timings& t) {
  std::vector<Measured> all;
  for (const Repetition& r : t.repetitions) all.push_back({r.samples.nanoseconds, r.samples.skew, r.limits});
  Figured f = figured(all, work(parse_case(t.line)), who_shares(t));
  f.step = step_of(t) / 1000;
  return f;
}

std::string drifted_apart(const Repetition& r) {
  constexpr double a_second = 1e9;
  if (r.timing.sync != Sync::window) return "";
  const auto iterations = static_cast<double>(std::ssize(r.samples.nanoseconds) + r.samples.late);
  const auto apart = [&](const ClockSeen& c) { return std::abs(c.drift) * iterations / a_second; };
  const ClockSeen* most = nullptr;
  for (const ClockSeen& c : r.samples.clocks)
    if (std::abs(c.drift) > c.drift_error && apart(c) > near_enough && (!most || apart(c) > apart(*most)))
      most = &c;
  if (!most) return "";
  return fmt::format("the clock of rank {} {} {:.2g} us a second", most->rank,
                     most->drift > 0 ? "loses" : "gains", std::abs(most->drift) / 1000);
}

std::string no_times(const Repetition& r) {
  if (!r.samples.nanoseconds.empty() || r.samples.late == 0) return "";
  const std::string drift = drifted_apart(r);
  return fmt::format("every iteration was begun late: {}; --sync barrier",
                     drift.empty() ? "ranks did not have their cores at the agreed times"
                                   : drift + ", and the agreed times of ranks move apart");
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

// Case and backend, and number, of the repetitions whose limits are all known.
using Whole = std::set<std::pair<std::string, std::int64_t>>;

Whole whole_of(const std::vector<Record>& records) {
  Whole all;
  for (const Record& r : records)
    if (r.bench && r.bench->lost.empty() && !r.bench->samples.nanoseconds.empty())
      all.insert({record_key(r.line, r.backend), r.bench->number});
  return all;
}

// Whether a run that was resumed has timed it again, for not all of its limits were known.
bool gave_way(const Record& r, const Whole& whole) {
  return !r.bench->lost.empty() && whole.contains({record_key(r.line, r.backend), r.bench->number});
}

}  // namespace

std::vector<Timings> timings_of(const std::vector<Record>& records) {
  std::vector<Timings> all;
  std::map<std::string, std::size_t> places;
  std::set<std::tuple<std::string, std::string, std::int64_t>> known;  // run, case and backend, number
  const Whole whole = whole_of(records);
  for (const Record& r : records) {
    if (!r.bench || r.bench->samples.nanoseconds.empty() || gave_way(r, whole)) continue;
    const std::string key = record_key(r.line, r.backend);
    if (!r.run.empty() && !known.insert({r.run, key, r.bench->number}).second) continue;
    const auto [at, first] = places.try_emplace(key, all.size());
    if (first) {
      std::map<std::string, double> over = bytes_over_axes(parse_case(r.line), r.trace);
      all.push_back({r.line, r.backend, {}, std::move(over), machine_of(r.environment), {}, r.notes});
    }
    all[at->second].repetitions.push_back(*r.bench);
    if (!r.run.empty()) all[at->second].runs.insert(r.run);
  }
  const auto of_a_soak = [](const Repetition& r) { return r.stop == "soak"; };
  for (Timings& t : all)
    if (!std::ranges::all_of(t.repetitions, of_a_soak)) std::erase_if(t.repetitions, of_a_soak);
  return all;
}

}  // namespace plumb
