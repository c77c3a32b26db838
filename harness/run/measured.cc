#include "harness/run/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/measure/bandwidth.h"
#include "harness/measure/crowded.h"
#include "harness/measure/statistics.h"
#include "harness/record/circumstances.h"
#include "harness/run/ask.h"
#include "harness/run/timed.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr double second = 1e9;

std::string in_words(const Answer& answer) {
  if (const auto* hung = std::get_if<Hung>(&answer))
    return hung->what.empty() ? fmt::format("no reply within {:g} seconds", hung->seconds) : hung->what;
  if (const auto* crashed = std::get_if<Crashed>(&answer)) return crashed->what;
  if (const auto* off = std::get_if<OffPage>(&answer)) return off->what;
  const auto* reneged = std::get_if<Reneged>(&answer);
  return reneged ? reneged->message : "no clock";
}
constexpr const char* too_coarse =
    "an iteration took no time by its clock, which is too coarse: --batch K makes one of K runs";

// What a request may take: beside `run` four times what is known of its iterations.
double deadline(double run, const Timing& timing, double each) {
  return run + 4 * static_cast<double>(timing.iterations + timing.warmups) * each / second;
}

// As many as there are already, as far as the seconds go; first of all one, where nobody knows how long it
// takes, and then no more than eight times as many: of one alone it is not seen how long ranks wait before it.
std::int64_t next_iterations(const Pace& pace, const Samples& all) {
  if (pace.timing.iterations > 0) return pace.timing.iterations;
  if (pace.each <= 0) return 1;
  constexpr double first = 8;
  constexpr std::int64_t most_more = 8;
  const double left = pace.seconds * second - static_cast<double>(all.span);
  const auto fits = static_cast<std::int64_t>(std::max(1.0, left / pace.each));
  const std::int64_t so_far = std::ssize(all.nanoseconds) + all.late;
  auto wanted =
      std::max<std::int64_t>(so_far, static_cast<std::int64_t>(pace.seconds * second / first / pace.each));
  if (so_far > 0) wanted = std::min(wanted, most_more * so_far);
  return std::clamp<std::int64_t>(std::min(fits, wanted), 1,
                                  most_samples - std::min(so_far, most_samples - 1));
}

// Why no more is asked; empty where more is.
std::string stop(const Pace& pace, const Samples& all) {
  if (pace.timing.iterations > 0) return "iterations";
  if (settled(all.nanoseconds)) return "interval";
  if (static_cast<double>(all.span) + pace.each > pace.seconds * second) return "budget";
  return std::ssize(all.nanoseconds) + all.late >= most_samples ? "samples" : "";
}

// What ranks say of a case once it was timed, in the same minute. What they cannot say is left out.
struct Besides {
  std::map<std::string, double> limits;  // with the bytes of the case, or of a product without what moves
  std::vector<double> control;           // of one of them, in turns
  std::vector<Clocked> collectives;      // of one run more
  std::string lost;                      // AtBest::lost
};

// Who is asked what it could do at best: with the bytes of a case, by the rule by which its repetition was
// timed.
struct AtBest {
  Process& process;
  Deadlines deadlines;
  std::int64_t bytes;
  Pace pace;
  std::string lost{};  // what it was asked when its process went, and how

  // Of a library's own call each is timed by itself.
  std::int64_t batch(const std::string& what) const { return what == "call" ? 1 : pace.timing.batch; }

  // `each`: what an iteration is known to take; 0 where nobody knows.
  std::vector<Clocked> clocks(const LimitAsked& wanted, double each) {
    if (!lost.empty()) return {};
    Deadlines longer = deadlines;
    longer.run = deadline(deadlines.run, {1, wanted.iterations, wanted.batch}, each);
    process.allow(longer);
    const auto said = process.limit(wanted);
    process.allow(deadlines);
    if (const auto* all = std::get_if<std::vector<Clocked>>(&said)) return *all;
    const Answer& answer = std::get<Answer>(said);
    if (!std::holds_alternative<Unsupported>(answer)) lost = wanted.what + ": " + in_words(answer);
    return {};
  }
};

// What one took, and how many runs without a pause were one iteration.
struct LimitTimed {
  Samples samples;
  std::int64_t batch = 1;
};

// A limit is timed as the case is: until its median is settled, or as many seconds are spent, on a loaded machine
// on asking; and no more often than the case was to be. A batch is no longer than the seconds have room for.
LimitTimed time_limit(AtBest& best, const std::string& what) {
  Pace pace = best.pace;
  const std::int64_t most = pace.timing.iterations > 0 ? pace.timing.iterations : most_samples;
  pace.timing.iterations = 0, pace.each = 0;
  double spent = 0;
  const auto ask = [&](const LimitAsked& one, double each) {
    return samples(timed(spent, [&] { return best.clocks(one, each); }), one.batch);
  };
  LimitTimed all{{}, best.batch(what)};
  double known = 0;
  if (all.batch > 1) {
    const double one = nanoseconds_each(ask({what, best.bytes, 1, 1}, 0));
    if (one <= 0) return {};
    all.batch = std::clamp<std::int64_t>(static_cast<std::int64_t>(pace.seconds * second / one), 1, all.batch);
    known = one * static_cast<double>(all.batch);
  }
  for (std::int64_t left = most; left > 0; left = most - std::ssize(all.samples.nanoseconds)) {
    const std::int64_t next = std::min(next_iterations(pace, all.samples), left);
    const Samples more = ask({what, best.bytes, next, all.batch}, known);
    if (more.nanoseconds.empty()) return {};
    take_in(all.samples, more);
    pace.each = known = nanoseconds_each(all.samples);
    if (!stop(pace, all.samples).empty() || spent >= pace.seconds) break;
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
std::vector<double> ask_control(AtBest& best, const std::string& what, const LimitTimed& limit, const Samples& of) {
  constexpr double most_of_a_turn = 1000;
  constexpr std::int64_t most_turns = 10;
  if (of.nanoseconds.empty()) return {};
  const double iteration = nanoseconds_each(limit.samples);
  const auto room = static_cast<std::int64_t>(best.pace.seconds * second / iteration);
  const double as_long = std::round(quantile(of.nanoseconds, 0.5) / quantile(limit.samples.nanoseconds, 0.5));
  const auto each = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(as_long, most_of_a_turn)), 1,
                                             std::max<std::int64_t>(room, 1));
  const std::int64_t turns = std::clamp<std::int64_t>(
      room / each, 1, std::min<std::int64_t>(most_turns, std::ssize(of.nanoseconds)));
  const auto clocks = best.clocks({what, best.bytes, each * turns, limit.batch}, iteration);
  std::vector<double> all = clocks.empty() ? std::vector<double>{} : of_turns(clocks, each);
  for (double& one : all) one /= static_cast<double>(limit.batch);
  if (std::ranges::count(all, 0.0) > 0) return {};  // its clock is too coarse
  return all;
}

// `collectives`: of the trace.
Besides ask_besides(AtBest best, const Work& w, const Samples& timed, std::int64_t collectives) {
  std::map<std::string, LimitTimed> limits;
  for (const char* what : {"copy", "send", "call", "gemm"}) {
    if ((what == std::string("gemm") ? w.flops : w.bytes) <= 0) continue;
    if (LimitTimed one = time_limit(best, what); !one.samples.nanoseconds.empty()) limits[what] = std::move(one);
  }
  Besides all;
  for (const auto& [what, one] : limits) all.limits[what] = quantile(one.samples.nanoseconds, 0.5);
  if (collectives > 0) all.collectives = best.clocks({"collectives", best.bytes, collectives + 2}, best.pace.each);
  for (const char* what : {"gemm", "send", "copy"})
    if (const auto limit = limits.find(what); limit != limits.end() && all.control.empty())
      all.control = ask_control(best, what, limit->second, timed);
  all.lost = std::move(best.lost);
  return all;
}

// Why ranks cannot begin at an agreed time, each by waiting on a core of its own; empty where they can.
std::string cannot_wait(const Case& c, const Timing& timing, const Hello& hello) {
  const std::string shared = timing.sync == Sync::window ? shared_cores(hello.places, devices(c.mesh)) : "";
  return shared.empty() ? "" : fmt::format("{}: no rank waits for an agreed time while another has its core; --sync barrier", shared);
}

// Whether the first request, of a case that nobody knows, may be long.
bool many_at_once(const Timing& timing) {
  return timing.iterations > 1 || timing.batch > 1 || timing.warmups > 2;
}

}  // namespace

Record judged_under_the_clock(const TimedAttempts& made, const Declared& declared) {
  Record first = examine({made.first, {}, {}}, declared, {});
  Record last = examine({made.last, {}, {}}, declared, {});
  return first.verdict.status == Status::pass ? last : first;
}

std::string not_timed(const Record& record) {
  const Verdict& v = record.verdict;
  if (v.status == Status::pass && !record.notes.empty()) return record.notes.back();
  return std::string(name(v.status)) + (v.facts.empty() ? "" : ": " + v.facts.front().text);
}

double nanoseconds_each(const Samples& all) {
  const std::int64_t n = std::ssize(all.nanoseconds) + all.late;
  return n == 0 ? 0 : std::max<double>(1, static_cast<double>(all.span) / static_cast<double>(n));
}

namespace {

constexpr Timing first_look{.warmups = 1, .iterations = 2};

}  // namespace

Introduction make_known(const Case& c, Subject& subject) {
  Process& process = process_of(subject);
  const bool proved = in_place(c, process);
  refuse_what_does_not_fit(c, room_of(settings_of(subject)), {0, proved});
  const TimedAttempts made = ask_timed(c, process, {first_look, deadlines_for(c, settings_of(subject)).run}, proved);
  const Record record = judged_under_the_clock(made, declared(process));
  if (record.verdict.status != Status::pass) return {not_timed(record), {}};
  return {"", std::get<Outcome>(made.last.answer).notes};
}

Record measure(const Case& c, Subject& subject, const Pace& wanted) {
  Process& process = process_of(subject);
  const Settings& settings = settings_of(subject);
  const bool proved = in_place(c, process);
  refuse_what_does_not_fit(c, room_of(settings), {0, proved});
  const Deadlines deadlines = deadlines_for(c, settings);
  process.allow(deadlines);
  Pace pace = wanted;
  Samples all;
  Record record;
  double seconds = 0;
  const auto ask = [&](const Timing& timing) {
    const double most = deadline(deadlines.run, timing, pace.each);
    const TimedAttempts made = timed(seconds, [&] { return ask_timed(c, process, {timing, most}, proved); });
    record = judged_under_the_clock(made, declared(process));
    say_who(record, subject);
    return made.clocks;
  };
  if (pace.each <= 0 && many_at_once(pace.timing)) {
    const Samples known = samples(ask(first_look), 1);
    if (record.verdict.status != Status::pass) return record;
    pace.each = nanoseconds_each(known) * static_cast<double>(pace.timing.batch);
  }
  std::string why;
  const double before = megahertz(), busy = load_average();
  while (why.empty()) {
    Timing timing = pace.timing;
    timing.iterations = next_iterations(pace, all);
    const std::vector<Clocked> clocks = ask(timing);
    if (record.verdict.status != Status::pass) return record;
    take_in(all, samples(clocks, timing.batch));
    std::string none = all.unseen > 0 ? too_coarse : cannot_wait(c, timing, *process.hello());
    if (!none.empty()) {
      record.notes.push_back(std::move(none));
      return record;
    }
    if (pace.each_rank) keep(all, clocks);
    // Nobody says how long the others waited for who came late.
    if (all.late > 0) all.span = std::max(all.span, static_cast<std::int64_t>(seconds * second));
    pace.each = nanoseconds_each(all);
    why = stop(pace, all);
  }
  const Work w = work(c);
  Pace besides_it = wanted;
  besides_it.each = pace.each;
  Besides besides =
      ask_besides({process, deadlines, static_cast<std::int64_t>(w.bytes), besides_it}, w, all, std::ssize(record.trace));
  Repetition& said = record.bench.emplace();
  said.timing = wanted.timing, said.stop = why, said.samples = std::move(all);
  said.limits = std::move(besides.limits), said.control = std::move(besides.control), said.lost = std::move(besides.lost);
  said.work = w, said.places = process.hello()->places;
  said.mhz_before = before, said.mhz_after = megahertz(), said.load = busy, said.step = clock_step();
  said.seconds = wanted.timing.iterations > 0 ? 0 : wanted.seconds;
  said.outside = own_times(besides.collectives);
  if (pace.each_rank) said.collectives = std::move(besides.collectives);
  return record;
}

}  // namespace plumb
