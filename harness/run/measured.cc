#include "harness/run/measured.h"

#include <algorithm>
#include <cmath>

#include "harness/measure/bandwidth.h"
#include "harness/measure/statistics.h"
#include "harness/record/circumstances.h"
#include "harness/run/ask.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr double second = 1e9;

// What a request may take beside what is known of its iterations.
double deadline(const Deadlines& deadlines, const Pace& pace, std::int64_t iterations) {
  const double runs = static_cast<double>((iterations + pace.timing.warmups) * pace.timing.batch);
  return deadlines.run + 4 * runs * pace.each / second;
}

// As many as there are already, as far as the seconds go; first of all one, where nobody knows how long it
// takes.
std::int64_t next_iterations(const Pace& pace, const Samples& all) {
  if (pace.timing.iterations > 0) return pace.timing.iterations;
  if (pace.each <= 0) return 1;
  constexpr double first = 8;
  const double left = pace.seconds * second - static_cast<double>(all.span);
  const auto fits = static_cast<std::int64_t>(std::max(1.0, left / pace.each));
  const std::int64_t so_far = std::ssize(all.nanoseconds) + all.late;
  const auto wanted =
      std::max<std::int64_t>(so_far, static_cast<std::int64_t>(pace.seconds * second / first / pace.each));
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
};

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
// the other.
std::vector<double> ask_control(Process& process, double bytes, const std::pair<std::string, double>& limit,
                                const Samples& of) {
  constexpr double most_of_a_turn = 1000;
  constexpr std::int64_t most_turns = 10;
  const auto& [what, took] = limit;
  if (took <= 0 || of.nanoseconds.empty()) return {};
  const double as_long = std::round(quantile(of.nanoseconds, 0.5) / took);
  const auto each = static_cast<std::int64_t>(std::clamp(as_long, 1.0, most_of_a_turn));
  const std::int64_t turns = std::min(most_turns, std::ssize(of.nanoseconds));
  const auto said = process.limit(what, static_cast<std::int64_t>(bytes), each * turns);
  const auto* clocks = std::get_if<std::vector<Clocked>>(&said);
  return clocks ? of_turns(*clocks, each) : std::vector<double>{};
}

// `collectives`: of the trace.
Besides ask_besides(Process& process, const Case& c, const Samples& timed, std::int64_t collectives) {
  constexpr std::int64_t iterations = 10;
  Besides all;
  const Work w = work(c);
  const auto bytes = static_cast<std::int64_t>(w.bytes);
  std::vector<std::string> wanted;
  if (bytes > 0) wanted = {"copy", "send", "call"};
  if (w.flops > 0) wanted.emplace_back("gemm");
  if (collectives > 0) wanted.emplace_back("collectives");
  for (const std::string& what : wanted) {
    const bool when = what == "collectives";
    const auto said = process.limit(what, bytes, when ? collectives + 2 : iterations);
    const auto* clocks = std::get_if<std::vector<Clocked>>(&said);
    if (!clocks && !std::holds_alternative<Unsupported>(std::get<Answer>(said))) return all;  // it is gone
    if (clocks && when) all.collectives = *clocks;
    if (clocks && !when) all.limits[what] = quantile(samples(*clocks, 1).nanoseconds, 0.5);
  }
  for (const char* what : {"gemm", "send", "copy"})
    if (const auto limit = all.limits.find(what); limit != all.limits.end() && all.control.empty())
      all.control = ask_control(process, w.bytes, *limit, timed);
  return all;
}

}  // namespace

Record judged_under_the_clock(const TimedAttempts& made, const Declared& declared) {
  Record first = examine({made.first, {}, {}}, declared, {});
  Record last = examine({made.last, {}, {}}, declared, {});
  return first.verdict.status == Status::pass ? last : first;
}

std::string not_timed(const Record& record) {
  const Verdict& v = record.verdict;
  return std::string(name(v.status)) + (v.facts.empty() ? "" : ": " + v.facts.front().text);
}

double nanoseconds_each(const Samples& all) {
  const std::int64_t n = std::ssize(all.nanoseconds) + all.late;
  return n == 0 ? 0 : std::max<double>(1, static_cast<double>(all.span) / static_cast<double>(n));
}

Introduction make_known(const Case& c, Subject& subject) {
  Process& process = process_of(subject);
  const bool proved = in_place(c, process);
  refuse_what_does_not_fit(c, room_of(settings_of(subject)), {0, proved});
  const Timing one{.warmups = 1, .iterations = 2};
  const TimedAttempts made = ask_timed(c, process, {one, deadlines_for(c, settings_of(subject)).run}, proved);
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
  std::string why;
  const double before = megahertz(), busy = load_average();
  while (why.empty()) {
    Timing timing = pace.timing;
    timing.iterations = next_iterations(pace, all);
    const TimedAttempts made =
        ask_timed(c, process, {timing, deadline(deadlines, pace, timing.iterations)}, proved);
    record = judged_under_the_clock(made, declared(process));
    say_who(record, subject);
    if (record.verdict.status != Status::pass) return record;
    take_in(all, samples(made.clocks, timing.batch));
    if (pace.each_rank) keep(all, made.clocks);
    pace.each = nanoseconds_each(all);
    why = stop(pace, all);
  }
  Besides besides = ask_besides(process, c, all, std::ssize(record.trace));
  record.bench = Repetition{1,
                            1,
                            wanted.timing,
                            why,
                            std::move(all),
                            std::move(besides.limits),
                            std::move(besides.control),
                            work(c),
                            process.hello()->places,
                            before,
                            megahertz(),
                            busy,
                            {},
                            own_times(besides.collectives),
                            pace.each_rank ? std::move(besides.collectives) : std::vector<Clocked>{}};
  return record;
}

}  // namespace plumb
