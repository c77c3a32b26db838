#include "harness/run/measured.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/crowded.h"
#include "harness/record/circumstances.h"
#include "harness/run/at_best.h"
#include "harness/run/timed.h"
#include "reference/check/check.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr Timing first_look{.warmups = 1, .iterations = 2};
constexpr const char* too_coarse =
    "an iteration took no time by its clock, which is too coarse: --batch K makes one of K runs";

// Why ranks cannot begin at an agreed time, each by waiting on a core of its own; empty where they can.
std::string cannot_wait(const Case& c, const Timing& timing, const Hello& hello) {
  const std::string shared = timing.sync == Sync::window ? shared_cores(hello.places, devices(c.mesh)) : "";
  return shared.empty()
             ? ""
             : fmt::format("{}: no rank waits for an agreed time while another has its core; --sync barrier",
                           shared);
}

// A repetition under way.
struct Underway {
  const Case& c;
  Subject& subject;
  bool proved;  // in_place()
  Deadlines deadlines;
  Pace pace;  // `each` as it is known by now
  const Seen& seen;
  Repetition said{};   // so far
  double seconds = 0;  // that asking took
  Record record{};     // of the last request
};

// Whether the first request, of a case that nobody knows, may be long.
bool many_at_once(const Timing& timing) {
  return timing.iterations > 1 || timing.batch > 1 || timing.warmups > 2;
}

Underway begin(const Case& c, Subject& subject, const Pace& pace, const Seen& seen) {
  Process& process = process_for(c, subject);
  const bool proved = in_place(c, process);
  refuse_what_does_not_fit(c, room_of(settings_of(subject)), {0, proved});
  Underway now{c, subject, proved, deadlines_for(c, settings_of(subject)), pace, seen};
  process.allow(now.deadlines);
  return now;
}

// Nothing where a result was not right: the record says so.
std::optional<std::vector<Clocked>> ask_once(Underway& now, const Timing& timing) {
  Process& process = process_of(now.subject);
  const double most = deadline(now.deadlines.run, timing, now.pace.each);
  TimedAttempts made = timed(now.seconds, [&] {
    return ask_timed(now.c, process, {timing, most}, now.proved);
  });
  now.record = judged_under_the_clock(made, declared(process));
  say_who(now.record, now.subject);
  if (now.record.verdict.status != Status::pass) return std::nullopt;
  return std::move(made.clocks);
}

// Why an iteration of so many runs, each as long as this one, is none of a repetition of so few seconds;
// empty where it is.
std::string too_long_a_batch(const Pace& pace, double nanoseconds_of_a_run) {
  const double seconds =
      nanoseconds_of_a_run * static_cast<double>(pace.timing.batch) / nanoseconds_of_a_second;
  if (pace.timing.iterations > 0 || pace.timing.batch == 1 || seconds <= pace.seconds) return "";
  return fmt::format(
      "an iteration of {} runs takes {:.2g} s, and a repetition has {:.2g}: a smaller --batch, or more "
      "--budget",
      pace.timing.batch, seconds, pace.seconds);
}

// Learns how long an iteration takes, where the first request may be long and nobody knows. Whether it was
// right, and is not too long; else the record says why.
bool look_first(Underway& now) {
  if (now.pace.each > 0 || !many_at_once(now.pace.timing)) return true;
  const auto clocks = ask_once(now, first_look);
  if (!clocks) return false;
  const Samples seen = samples(*clocks, 1);
  now.pace.each = nanoseconds_each(seen) * static_cast<double>(now.pace.timing.batch);
  const double run = seen.nanoseconds.empty() ? 0 : std::ranges::min(seen.nanoseconds);
  std::string none = too_long_a_batch(now.pace, run);
  if (none.empty()) return true;
  now.record.notes.push_back(std::move(none));
  return false;
}

// Nobody says how long the others waited for who came late: then it is what asking took.
double spent(const Underway& now) {
  const Samples& all = now.said.samples;
  const auto seen = static_cast<double>(all.span);
  return all.late > 0 ? std::max(seen, now.seconds * nanoseconds_of_a_second) : seen;
}

// Why what was asked for gives no times; empty where it does.
std::string take_samples(Underway& now, const std::vector<Clocked>& clocks) {
  Samples& all = now.said.samples;
  const Timing& timing = now.pace.timing;
  take_in(all, samples(clocks, timing.batch));
  if (all.unseen > 0) return too_coarse;
  if (std::string none = cannot_wait(now.c, timing, *process_of(now.subject).hello()); !none.empty())
    return none;
  if (now.pace.each_rank) keep(all, clocks);
  now.pace.each =
      all.nanoseconds.empty() ? spent(now) / static_cast<double>(all.late) : nanoseconds_each(all);
  return "";
}

// Requests until the repetition is over. Whether it has times; else the record says why not.
bool iterate(Underway& now) {
  while (now.said.stop.empty()) {
    Timing timing = now.pace.timing;
    timing.iterations = next_iterations(now.pace, now.said.samples, spent(now));
    const auto clocks = ask_once(now, timing);
    if (!clocks) return false;
    if (std::string none = take_samples(now, *clocks); !none.empty()) {
      now.record.notes.push_back(std::move(none));
      return false;
    }
    now.seen(counted(std::ssize(now.said.samples.nanoseconds) + now.said.samples.late, "iteration"));
    now.said.stop = stop(now.pace, now.said.samples, spent(now));
  }
  return true;
}

void say_besides(Underway& now) {
  Process& process = process_of(now.subject);
  Repetition& said = now.said;
  said.work = work(now.c);
  Besides besides =
      ask_besides({process, now.deadlines, static_cast<std::int64_t>(said.work.bytes), now.pace, now.seen},
                  said.work, said.samples, now.record.trace);
  said.limits = std::move(besides.limits), said.control = std::move(besides.control);
  said.lost = std::move(besides.lost);
  said.outside = own_times(besides.collectives);
  if (now.pace.each_rank) said.collectives = std::move(besides.collectives);
}

}  // namespace

std::optional<Record> no_pass_on_other_data(const Case& c, Subject& subject) {
  Process& process = process_for(c, subject);
  process.allow(deadlines_for(c, settings_of(subject)));
  const Case other = on_other_data(c);
  Record after =
      examine(ask(other, process, {.in_place = in_place(c, process), .fits = false}), declared(process), {});
  doubt_engine(after, other, subject);
  if (after.verdict.status == Status::pass) return std::nullopt;
  after.line = print(c);
  for (Fact& fact : after.verdict.facts) fact.seed = other.seed;
  say_who(after, subject);
  return after;
}

Record judged_under_the_clock(const TimedAttempts& made, const Declared& declared) {
  Record first = examine({made.first, {}, {}}, declared, {});
  return first.verdict.status == Status::pass ? examine({made.last, {}, {}}, declared, {}) : first;
}

bool was_judged(const Record& record) {
  switch (record.verdict.status) {
    case Status::unrun:
    case Status::hung:
    case Status::crashed:
    case Status::malformed:
    case Status::reneged:
    case Status::pass:
      return false;
    default:
      return true;
  }
}

std::string not_timed(const Record& record) {
  const Verdict& v = record.verdict;
  if (v.status == Status::pass && !record.notes.empty()) return record.notes.back();
  if (v.facts.empty()) return std::string(name(v.status));
  const Fact& first = v.facts.front();
  const std::string after =
      first.seed ? fmt::format("run after the clock on other data, seed={}: ", *first.seed) : "";
  return fmt::format("{}: {}{}", name(v.status), after, first.text);
}

namespace {

std::string why_too_large(const Case& c, const Subject& subject, bool fills) try {
  refuse_what_does_not_fit(c, room_of(settings_of(subject)), {0, fills && prover(c).unprovable.empty()});
  return "";
} catch (const DoesNotFit& error) {
  return error.what();
}

}  // namespace

std::string too_large_to_time(const Case& c, Subject& subject) {
  Process& process = process_for(c, subject);
  if (!process.hello()) process.takes(c);
  return why_too_large(c, subject, process.hello() && process.hello()->fills);
}

std::string too_large_to_time_by_any(const Case& c, const Subject& subject) {
  return why_too_large(c, subject, true);
}

Introduction make_known(const Case& c, Subject& subject) {
  Process& process = process_for(c, subject);
  const bool proved = in_place(c, process);
  refuse_what_does_not_fit(c, room_of(settings_of(subject)), {0, proved});
  const TimedAttempts made =
      ask_timed(c, process, {first_look, deadlines_for(c, settings_of(subject)).run}, proved);
  const Record record = judged_under_the_clock(made, declared(process));
  if (record.verdict.status != Status::pass) return {not_timed(record), {}};
  return {"", std::get<Outcome>(made.last.answer).notes};
}

Record measure(const Case& c, Subject& subject, const Pace& pace, const Seen& seen) {
  Underway now = begin(c, subject, pace, seen);
  if (!look_first(now)) return now.record;
  Repetition& said = now.said;
  said.timing = pace.timing, said.seconds = pace.timing.iterations > 0 ? 0 : pace.seconds;
  said.mhz_before = megahertz(), said.load = load_average(), said.step = clock_step();
  if (!iterate(now)) return now.record;
  if (!said.samples.nanoseconds.empty()) say_besides(now);
  said.mhz_after = megahertz(), said.places = process_of(subject).hello()->places;
  doubt_engine(now.record, c, subject);
  if (now.record.verdict.status != Status::pass) return now.record;
  if (auto other = no_pass_on_other_data(c, subject)) return std::move(*other);
  now.record.bench = std::move(said);
  return now.record;
}

}  // namespace plumb
