#include "harness/compare/paced.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace plumb {
namespace {

// Of the repetitions that say it; nothing where none does.
std::optional<double> mean(const Timings& t, const std::function<double(const Repetition&)>& said) {
  double sum = 0;
  int n = 0;
  for (const Repetition& r : t.repetitions)
    if (const double one = said(r); one >= 0) sum += one, ++n;
  return n ? std::optional(sum / n) : std::nullopt;
}

std::optional<double> load_of(const Timings& t) {
  return mean(t, [](const Repetition& r) { return r.load; });
}

std::optional<double> clock_of(const Timings& t) {
  return mean(t,
              [](const Repetition& r) { return r.mhz_before > 0 ? (r.mhz_before + r.mhz_after) / 2 : -1; });
}

// How many want each processor, of which each takes its share of the time; 1 where none has to wait.
double crowd(double load, int cores) { return cores > 0 ? std::max(1.0, load / cores) : 1; }

std::string in_words(const Ratio& r) {
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", r.middle, r.interval.low, r.interval.high);
}

// The first of what was asked for otherwise of a repetition then than of one now: their times are of two things.
std::string asked_otherwise(const Timings& then, const Timings& now) {
  for (const Repetition& before : then.repetitions)
    for (const Repetition& after : now.repetitions)
      if (std::string other = timed_otherwise(before.timing, after.timing); !other.empty()) return other;
  return "";
}

// By another class of scheduling a case may take as long by chance. Empty where nobody knows of one.
std::string by_another_class(const Timings& slow, const Timings& fast) {
  const std::string &class_of = slow.machine.scheduling, &other = fast.machine.scheduling;
  return class_of.empty() || other.empty() || class_of == other ? ""
                                                                : fmt::format("by {}, not by {}", class_of, other);
}

// What is slower or faster has to be so beside its controls too. Without these: by more than repetitions of
// one run differ, for what slows some of them may slow all of another run.
Paced compared(const Timings& then, const Timings& now) {
  const std::vector<double> ours = medians(now), theirs = medians(then);
  const auto ratio = ratio_of(ours, theirs);
  const auto controlled = ratio_of(beside_controls(now), beside_controls(then));
  const double noise = ratio && !controlled ? std::max(spread(ours), spread(theirs)) : 1;
  Paced one{now.line, now.backend, became(ratio, noise), ratio, controlled, ""};
  if (one.became == Became::slower) one.besides = besides_the_case(now, then, *ratio);
  if (one.became == Became::faster) one.besides = besides_the_case(then, now, one_over(*ratio));
  const bool moved = one.became == Became::slower || one.became == Became::faster;
  if (moved && one.besides.empty() && controlled && became(controlled, 1) != one.became)
    one.besides = fmt::format("beside the limit of the same run {}", in_words(*controlled));
  if (one.became == Became::same) one.besides = by_another_class(now, then);
  if (const std::string other = asked_otherwise(then, now); !other.empty()) one.besides = "timed otherwise: " + other;
  if (!one.besides.empty()) one.became = Became::unsure;
  return one;
}

}  // namespace

std::string besides_the_case(const Timings& slow, const Timings& fast, const Ratio& ratio) {
  if (!slow.machine.cpu.empty() && !fast.machine.cpu.empty() && slow.machine.cpu != fast.machine.cpu)
    return fmt::format("on {}, not on {}", slow.machine.cpu, fast.machine.cpu);
  if (slow.machine.cores != fast.machine.cores && slow.machine.cores > 0 && fast.machine.cores > 0)
    return fmt::format("on {} cores, not on {}", slow.machine.cores, fast.machine.cores);
  if (std::string other = by_another_class(slow, fast); !other.empty()) return other;
  const bool controlled = !beside_controls(slow).empty() && !beside_controls(fast).empty();
  const auto load = load_of(slow), less = load_of(fast);
  const double share =
      load && less && !controlled ? crowd(*load, slow.machine.cores) / crowd(*less, slow.machine.cores) : 1;
  if (share > 1 && ratio.interval.low <= share)
    return fmt::format("a load of {:.1f} on {} cores, not {:.1f}", *load, slow.machine.cores, *less);
  const auto clock = clock_of(slow), higher = clock_of(fast);
  if (clock && higher && ratio.interval.low <= *higher / *clock)
    return fmt::format("a clock of {:.0f} MHz, not {:.0f}", *clock, *higher);
  return "";
}

std::vector<Paced> paced(const std::vector<Timings>& then, const std::vector<Timings>& now) {
  std::map<std::string, const Timings*> before;
  for (const Timings& t : then) before.insert_or_assign(record_key(t.line, t.backend), &t);
  std::vector<Paced> all;
  for (const Timings& t : now) {
    const auto old = before.find(record_key(t.line, t.backend));
    if (old == before.end()) continue;
    all.push_back(compared(*old->second, t));
  }
  return all;
}

std::string paced_in_words(const Paced& p) {
  const std::string numbers = p.ratio ? in_words(*p.ratio) + " times as long"
                                      : std::string("fewer than four repetitions on either side");
  return fmt::format("{:<7} {}  {}: {}{}{}", name(p.became), p.backend, p.line, numbers,
                     p.besides.empty() ? "" : "; ", p.besides);
}

}  // namespace plumb
