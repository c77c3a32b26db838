#include "harness/run/measured.h"

#include <algorithm>
#include <cmath>

#include "harness/measure/bandwidth.h"
#include "harness/measure/statistics.h"
#include "harness/record/circumstances.h"
#include "harness/run/ask.h"
#include "harness/run/timed.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr double second = 1e9;
constexpr const char* too_coarse =
    "an iteration took no time by its clock, which is too coarse: --batch K makes one of K runs";

// What a request may take beside what is known of its iterations.
double deadline(const Deadlines& deadlines, const Pace& pace, std::int64_t iterations) {
  const double runs = static_cast<double>((iterations + pace.timing.warmups) * pace.timing.batch);
  return deadlines.run + 4 * runs * pace.each / second;
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
};

// Who is asked what it could do at best: with the bytes of a case, by the rule by which its repetition was
// timed.
struct AtBest {
  Process& process;
  std::int64_t bytes;
  Pace pace;
  bool gone = false;  // the process

  // Of a library's own call each is timed by itself.
  std::int64_t batch(const std::string& what) const { return what == "call" ? 1 : pace.timing.batch; }

  std::vector<Clocked> clocks(const std::string& what, std::int64_t iterations) {
    if (gone) return {};
    const auto said = process.limit({what, bytes, iterations, batch(what)});
    if (const auto* all = std::get_if<std::vector<Clocked>>(&said)) return *all;
    gone = !std::holds_alternative<Unsupported>(std::get<Answer>(said));
    return {};
  }
};

// A limit is timed as the case is: until its median is settled, or as many seconds are spent, on a loaded machine
// on asking.
Samples time_limit(AtBest& best, const std::string& what) {
  Samples all;
  Pace pace = best.pace;
  pace.each = 0;
  double seconds = 0;
  do {
    const auto clocks = timed(seconds, [&] { return best.clocks(what, next_iterations(pace, all)); });
    if (clocks.empty()) return {};
    take_in(all, samples(clocks, best.batch(what)));
    pace.each = nanoseconds_each(all);
  } while (stop(pace, all).empty() && seconds < pace.seconds);
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
std::vector<double> ask_control(AtBest& best, const std::string& what, const Samples& limit, const Samples& of) {
  constexpr double most_of_a_turn = 1000;
  constexpr std::int64_t most_turns = 10;
  const double took = quantile(limit.nanoseconds, 0.5);
  if (took <= 0 || of.nanoseconds.empty()) return {};
  const auto room = static_cast<std::int64_t>(best.pace.seconds * second / nanoseconds_each(limit));
  const double as_long = std::round(quantile(of.nanoseconds, 0.5) / took);
  const auto each = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(as_long, most_of_a_turn)), 1,
                                             std::max<std::int64_t>(room, 1));
  const std::int64_t turns = std::clamp<std::int64_t>(
      room / each, 1, std::min<std::int64_t>(most_turns, std::ssize(of.nanoseconds)));
  const auto clocks = best.clocks(what, each * turns);
  std::vector<double> all = clocks.empty() ? std::vector<double>{} : of_turns(clocks, each);
  for (double& one : all) one /= static_cast<double>(best.pace.timing.batch);
  if (std::ranges::count(all, 0.0) > 0) return {};  // its clock is too coarse
  return all;
}

// `collectives`: of the trace.
Besides ask_besides(AtBest best, const Work& w, const Samples& timed, std::int64_t collectives) {
  std::map<std::string, Samples> limits;
  for (const char* what : {"copy", "send", "call", "gemm"}) {
    if ((what == std::string("gemm") ? w.flops : w.bytes) <= 0) continue;
    if (Samples one = time_limit(best, what); !one.nanoseconds.empty()) limits[what] = std::move(one);
  }
  Besides all;
  for (const auto& [what, one] : limits) all.limits[what] = quantile(one.nanoseconds, 0.5);
  if (collectives > 0) all.collectives = best.clocks("collectives", collectives + 2);
  for (const char* what : {"gemm", "send", "copy"})
    if (const auto limit = limits.find(what); limit != limits.end() && all.control.empty())
      all.control = ask_control(best, what, limit->second, timed);
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
  if (v.status == Status::pass && !record.notes.empty()) return record.notes.back();
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
    if (all.unseen > 0) {
      record.notes.emplace_back(too_coarse);
      return record;
    }
    if (pace.each_rank) keep(all, made.clocks);
    pace.each = nanoseconds_each(all);
    why = stop(pace, all);
  }
  const Work w = work(c);
  Besides besides = ask_besides({process, static_cast<std::int64_t>(w.bytes), wanted}, w, all, std::ssize(record.trace));
  record.bench = Repetition{1,
                            1,
                            wanted.timing,
                            why,
                            std::move(all),
                            std::move(besides.limits),
                            std::move(besides.control),
                            w,
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
