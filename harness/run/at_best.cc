#include "harness/run/at_best.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/measure/statistics.h"
#include "harness/run/timed.h"

namespace plumb {
namespace {

std::string in_words(const Answer& answer) {
  if (const auto* hung = std::get_if<Hung>(&answer))
    return "hung: " +
           (hung->what.empty() ? fmt::format("no reply within {:g} seconds", hung->seconds) : hung->what);
  if (const auto* crashed = std::get_if<Crashed>(&answer)) return "crashed: " + crashed->what;
  if (const auto* off = std::get_if<OffPage>(&answer)) return "malformed: " + off->what;
  const auto* reneged = std::get_if<Reneged>(&answer);
  return reneged ? "reneged: " + reneged->message : "no clock";
}

// Of a library's own call each is timed by itself.
std::int64_t batch_of(const AtBest& best, const std::string& what) {
  return what == "call" ? 1 : best.pace.timing.batch;
}

// `each`: what an iteration is known to take; 0 where nobody knows.
std::vector<Clocked> clocks(AtBest& best, const LimitAsked& wanted, double each) {
  if (!best.lost.empty()) return {};
  Deadlines longer = best.deadlines;
  longer.run = deadline(longer.run, {1, wanted.iterations, wanted.batch}, each);
  best.process.allow(longer);
  best.seen("its limits, " + wanted.what);
  const auto said = best.process.limit(wanted);
  best.process.allow(best.deadlines);
  if (const auto* all = std::get_if<std::vector<Clocked>>(&said)) return *all;
  const Answer& answer = std::get<Answer>(said);
  if (!std::holds_alternative<Unsupported>(answer)) best.lost = wanted.what + ": " + in_words(answer);
  return {};
}

// What one took, and how many runs without a pause were one iteration.
struct LimitTimed {
  Samples samples;
  std::int64_t batch = 1;
};

// A limit is timed as the case is: until its median is settled, or half of its seconds are spent, for a case
// has several limits, on a loaded machine on asking; and no more often than the case was to be. A batch is no
// longer than the seconds have room for.
LimitTimed time_limit(AtBest& best, const std::string& what) {
  Pace pace = best.pace;
  const std::int64_t most = pace.timing.iterations > 0 ? pace.timing.iterations : most_samples;
  pace.timing.iterations = 0, pace.each = 0, pace.seconds /= 2;
  double spent = 0;
  const auto ask = [&](const LimitAsked& one, double each) {
    return samples(timed(spent, [&] { return clocks(best, one, each); }), one.batch);
  };
  LimitTimed all{{}, batch_of(best, what)};
  const auto seen = [&] { return static_cast<double>(all.samples.span); };
  double known = 0;
  if (all.batch > 1) {
    const Samples first = ask({what, best.bytes, 1, 1}, 0);
    if (first.nanoseconds.empty() && first.unseen == 0) return {};
    const double one = std::max(1.0, nanoseconds_each(first));
    all.batch = static_cast<std::int64_t>(
        std::clamp(pace.seconds * nanoseconds_of_a_second / one, 1.0, static_cast<double>(all.batch)));
    known = one * static_cast<double>(all.batch);
  }
  for (std::int64_t left = most; left > 0; left = most - std::ssize(all.samples.nanoseconds)) {
    const std::int64_t next = std::min(next_iterations(pace, all.samples, seen()), left);
    const Samples more = ask({what, best.bytes, next, all.batch}, known);
    if (more.unseen > 0) best.unseen.push_back(what);
    if (more.unseen > 0 || more.nanoseconds.empty()) return {};
    take_in(all.samples, more);
    pace.each = known = nanoseconds_each(all.samples);
    if (!stop(pace, all.samples, seen()).empty() || spent >= pace.seconds) break;
  }
  return all;
}

// What one took, in turns of so many from the first entry of any rank's to its leaving the last.
std::vector<double> of_turns(const std::vector<Clocked>& clocks, std::int64_t of_each) {
  std::vector<double> all;
  for (std::size_t first = 0, n = of_each; first + n <= clocks.at(0).enter.size(); first += n) {
    std::int64_t longest = 0;
    for (const Clocked& c : clocks) longest = std::max(longest, c.leave[first + n - 1] - c.enter[first]);
    all.push_back(static_cast<double>(longest) / static_cast<double>(of_each));
  }
  return all;
}

// A limit again, in turns as long as an iteration of the case: who waits for a processor in the one waits in
// the other. Of turns as many as the case's seconds have room for, and ten at most.
std::vector<double> ask_control(AtBest& best, const std::string& what, const LimitTimed& limit,
                                const Samples& of) {
  constexpr double most_of_a_turn = 1000;
  constexpr std::int64_t most_turns = 10;
  if (of.nanoseconds.empty()) return {};
  const double iteration = nanoseconds_each(limit.samples);
  const auto room = static_cast<std::int64_t>(
      std::min(best.pace.seconds * nanoseconds_of_a_second / iteration, most_of_a_turn * most_turns));
  const double as_long = std::round(quantile(of.nanoseconds, 0.5) / quantile(limit.samples.nanoseconds, 0.5));
  const auto each = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(as_long, most_of_a_turn)), 1,
                                             std::max<std::int64_t>(room, 1));
  const std::int64_t turns = std::clamp<std::int64_t>(
      room / each, 1, std::min<std::int64_t>(most_turns, std::ssize(of.nanoseconds)));
  const auto said = clocks(best, {what, best.bytes, each * turns, limit.batch}, iteration);
  std::vector<double> all = said.empty() ? std::vector<double>{} : of_turns(said, each);
  for (double& one : all) one /= static_cast<double>(limit.batch);
  if (std::ranges::count(all, 0.0) > 0) return {};  // its clock is too coarse
  return all;
}

// The longest sum of those that are made; 0 where none is.
std::int64_t longest_sum(const Trace& trace) {
  std::int64_t most = 0;
  for (const Collective& one : trace)
    if (one.kind == "all-reduce" || one.kind == "reduce-scatter") most = std::max(most, one.in);
  return most;
}

}  // namespace

Besides ask_besides(AtBest best, const Work& w, const Samples& timed, const Trace& trace) {
  std::map<std::string, LimitTimed> limits;
  const auto ask = [&](const char* what) {
    if (LimitTimed one = time_limit(best, what); !one.samples.nanoseconds.empty())
      limits[what] = std::move(one);
  };
  if (w.bytes > 0) ask("copy");
  if (goes_round(w)) ask("send"), ask("call");
  if (w.flops > 0) ask("gemm");
  if (const std::int64_t bytes = longest_sum(trace); bytes > 0 && !limits.contains("call")) {
    const std::int64_t of_the_case = std::exchange(best.bytes, bytes);
    ask("sum");
    best.bytes = of_the_case;
  }
  if (goes_round(w)) ask("pack");
  Besides all;
  for (const auto& [what, one] : limits) all.limits[what] = quantile(one.samples.nanoseconds, 0.5);
  if (!trace.empty())
    all.collectives = clocks(best, {"collectives", best.bytes, std::ssize(trace) + 2}, best.pace.each);
  for (const char* what : {"gemm", "send", "copy"})
    if (const auto limit = limits.find(what); limit != limits.end() && all.control.empty())
      all.control = ask_control(best, what, limit->second, timed);
  all.lost = std::move(best.lost);
  if (all.lost.empty() && !best.unseen.empty())
    all.lost = fmt::format("{}: it took no time by its clock, which is too coarse", best.unseen.front());
  return all;
}

}  // namespace plumb
