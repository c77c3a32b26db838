#include "harness/compare/paced.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "reference/words/text.h"

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

// What has to differ as well, before and now; and the words for it.
struct Beside {
  const char* what;
  std::vector<double> then, now;
};

// Launches of one run are of the same minutes, whichever of both they are of.
bool in_one_run(const Timings& then, const Timings& now) { return !then.runs.empty() && then.runs == now.runs; }

std::vector<Beside> controls_of(const Timings& then, const Timings& now, bool one_run) {
  std::vector<Beside> all{{"the limit of the same run", beside_controls(then), beside_controls(now)}};
  const auto add = [&](const char* what, const char* words) {
    all.push_back({words, beside_limit(then, what), beside_limit(now, what)});
  };
  if (!one_run)
    add("call", "the library's own call of the same run"), add("sum", "the library's own sum of the same run"),
        add("pack", "its own packing of the same run");
  std::erase_if(all, [](const Beside& one) { return one.then.empty() || one.now.empty(); });
  return all;
}

// A call or a sum as the case has it, or a product that sends nothing: what packs or moves blocks otherwise may be slow for
// minutes in which none of the limits is, nor what it packs alone, for then nobody else has had the memory.
bool has_its_own(const Timings& t) {
  const auto had = [&](const char* what) { return !beside_limit(t, what).empty(); };
  return had("call") || had("sum") || (had("gemm") && !had("send"));
}

// By which launches of both are drawn from one distribution and lie so far apart, in this direction or the other.
double chance_of(Became became, const std::vector<double>& then, const std::vector<double>& now) {
  constexpr double apart = 1 + near_enough, less = 1 / (1 - near_enough);
  return 2 * (became == Became::slower ? chance_of_more(now, then, apart) : chance_of_more(then, now, less));
}

bool moved(const Paced& one) { return one.became == Became::slower || one.became == Became::faster; }

void hold_to_controls(Paced& one, const std::vector<Beside>& controls) {
  for (const auto& [what, then, now] : controls) {
    const auto ratio = ratio_of(now, then);
    if (!ratio || !moved(one) || !one.besides.empty()) continue;
    if (became(ratio, 1) != one.became) one.besides = fmt::format("beside {} {}", what, in_words(*ratio));
    one.chance = std::max(one.chance, chance_of(one.became, then, now));
  }
}

// Times that are so many steps are known but for one at either side, and so is a ratio. Empty where it is the same however
// they lie in these.
std::string within_a_step(const Ratio& ratio, const Timings& then, const Timings& now) {
  const auto share = [](const Timings& t) { return step_shown(t) / std::ranges::min(medians(t)); };
  const double ours = share(now), theirs = share(then);
  const double low = std::max(0.0, 1 - ours) / (1 + theirs),
               high = theirs < 1 ? (1 + ours) / (1 - theirs) : std::numeric_limits<double>::infinity();
  const Ratio wide{ratio.middle, {ratio.interval.low * low, ratio.interval.high * high}};
  if (became(wide, 1) == became(ratio, 1)) return "";
  return fmt::format("one step of the clock is {:.0f} % of a median: --batch K makes one iteration of K runs",
                     100 * std::max(ours, theirs));
}

// What is slower or faster has to be so beside its controls too. Without these: by more than launches of
// one run differ, for what slows some of them may slow all of another run.
Paced compared(const Timings& then, const Timings& now) {
  const std::vector<double> ours = medians(now), theirs = medians(then);
  const auto ratio = ratio_of(ours, theirs);
  const bool one_run = in_one_run(then, now), both_have = has_its_own(then) && has_its_own(now);
  const std::vector<Beside> controls = controls_of(then, now, one_run);
  const auto controlled = ratio_of(beside_controls(now), beside_controls(then));
  const double noise = ratio && !controlled ? std::max(spread(ours), spread(theirs)) : 1;
  Paced one{now.line, now.backend, became(ratio, noise), ratio, controlled, ""};
  if (one.became == Became::slower) one.besides = besides_the_case(now, then, *ratio);
  if (one.became == Became::faster) one.besides = besides_the_case(then, now, one_over(*ratio));
  one.chance = moved(one) ? chance_of(one.became, theirs, ours) : 1;
  one.launches = std::max(ours.size(), theirs.size());
  hold_to_controls(one, controls);
  if (moved(one) && one.besides.empty() && !controls.empty() && !one_run && !both_have)
    one.besides = "of two runs, and no call or sum of its own to hold it beside";
  if (controls.empty() && !one_run) one.seen = "seen in one run of each, of a backend that has no control";
  if (one.became == Became::same) one.besides = by_another_class(now, then);
  if (ratio && one.became != Became::unsure && one.besides.empty()) one.besides = within_a_step(*ratio, then, now);
  if (const std::string other = asked_otherwise(then, now); !other.empty()) one.besides = "timed otherwise: " + other;
  if (!one.besides.empty()) one.became = Became::unsure;
  if (!moved(one)) one.seen.clear();
  return one;
}

constexpr double by_chance = 0.05;

// By which so many launches of each lie as far apart as can be.
using LeastChance = double (*)(std::size_t launches);

// Of so many launches of each at least one of so many cases can be told from chance.
std::size_t fewest_launches(std::size_t cases, LeastChance least) {
  std::size_t n = fewest_compared;
  while (2 * least(n) > by_chance / static_cast<double>(cases)) ++n;
  return n;
}

std::size_t held_to_chance(const std::vector<Paced>& all) {
  return static_cast<std::size_t>(std::ranges::count_if(all, [](const Paced& p) { return p.ratio.has_value(); }));
}

// Holm: the least likely is held to its share of all cases, the next to one of those that are left, and where one is
// likely enough so are all that follow.
void leave_to_chance(std::vector<Paced>& all, LeastChance least) {
  const std::size_t cases = held_to_chance(all);
  std::vector<Paced*> those;
  for (Paced& one : all)
    if (moved(one)) those.push_back(&one);
  std::ranges::stable_sort(those, {}, &Paced::chance);
  const auto likely = [&, left = cases](const Paced* one) mutable { return one->chance > by_chance / static_cast<double>(left--); };
  for (auto at = std::ranges::find_if(those, likely); at != those.end(); ++at) {
    (*at)->became = Became::unsure, (*at)->seen.clear();
    (*at)->besides = fmt::format("by chance one of {} is: more --repetitions{} tell, and fewer than {} tell nothing",
                                 counted(static_cast<std::int64_t>(cases), "case"), (*at)->than.empty() ? " then and now" : "",
                                 fewest_launches(cases, least));
  }
}

// Of each launch the iteration below which a quarter of them lie.
std::map<std::int64_t, double> quarters(const Timings& t) {
  std::map<std::int64_t, double> all;
  for (const Repetition& r : t.repetitions)
    if (!r.samples.nanoseconds.empty()) all[r.launch] = quantile(r.samples.nanoseconds, 0.25);
  return all;
}

Paced compared_in_turns(const Timings& first, const Timings& other) {
  std::vector<double> ours, theirs;
  const std::map<std::int64_t, double> firsts = quarters(first);
  for (const auto& [launch, took] : quarters(other))
    if (const auto at = firsts.find(launch); at != firsts.end()) ours.push_back(took), theirs.push_back(at->second);
  const auto ratio = ratio_in_turns(ours, theirs);
  Paced one{other.line, other.backend, became(ratio, 1), ratio, std::nullopt, ""};
  one.than = first.backend;
  if (ratio && one.became != Became::unsure) one.besides = within_a_step(*ratio, first, other);
  if (!one.besides.empty()) one.became = Became::unsure;
  const double least = 1 - near_enough, most = 1 + near_enough;
  if (moved(one))
    one.chance = 2 * (one.became == Became::slower ? chance_in_turns(ours, theirs, most) : chance_in_turns(theirs, ours, 1 / least));
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
    all.push_back(compared(of_launches(*old->second), of_launches(t)));
  }
  leave_to_chance(all, least_chance);
  return all;
}

std::string too_few_to_tell(const std::vector<Paced>& all) {
  const std::size_t cases = held_to_chance(all);
  if (cases == 0) return "";
  const std::size_t fewest = fewest_launches(cases, least_chance), most = std::ranges::max(all, {}, &Paced::launches).launches;
  if (most >= fewest) return "";
  return fmt::format("{} launches then and now tell none of {} FASTER or SLOWER, however far apart: {} --repetitions do", most,
                     counted(static_cast<std::int64_t>(cases), "case"), fewest);
}

std::vector<Paced> paced_in_turns(const std::vector<Timings>& timed) {
  std::map<std::string, const Timings*> firsts;
  std::vector<Paced> all;
  for (const Timings& t : timed)
    if (const auto [at, first] = firsts.try_emplace(t.line, &t); !first) all.push_back(compared_in_turns(*at->second, t));
  leave_to_chance(all, least_chance_in_turns);
  return all;
}

std::size_t fewest_in_turns(std::size_t cases) {
  return fewest_launches(std::max<std::size_t>(cases, 1), least_chance_in_turns);
}

std::string paced_in_words(const Paced& p) {
  const std::string numbers = p.ratio              ? in_words(*p.ratio) + " times as long"
                              : p.than.empty() ? "fewer than four launches on either side, or a record that does not say them"
                                               : "fewer than six launches of both: more --repetitions";
  const std::string& more = p.besides.empty() ? p.seen : p.besides;
  return fmt::format("{:<7} {}  {}: {}{}{}{}", name(p.became), p.backend, p.line, numbers,
                     p.than.empty() || !p.ratio ? "" : " as by " + p.than, more.empty() ? "" : "; ", more);
}

}  // namespace plumb
