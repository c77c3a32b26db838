#include "harness/command/probes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "harness/backend/interrupt.h"
#include "harness/measure/bandwidth.h"
#include "harness/measure/compare.h"
#include "harness/measure/crowded.h"
#include "harness/measure/statistics.h"
#include "harness/record/circumstances.h"
#include "harness/report/progress.h"
#include "harness/report/table.h"
#include "harness/run/links.h"
#include "harness/run/pairs.h"
#include "harness/run/soak.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr double microsecond = 1000;

std::string in_numbers(const Pairs& turns, const std::optional<Ratio>& ratio) {
  if (!ratio) return turns.failed.empty() ? "too few pairs" : turns.failed;
  return fmt::format(
      "{:.3f} ({:.3f} to {:.3f}) times the plain call, by {} pairs; {:.4g} us and {:.4g} us{}{}",
      ratio->middle, ratio->interval.low, ratio->interval.high, turns.ours.size(),
      quantile(turns.ours, 0.5) / microsecond, quantile(turns.plain, 0.5) / microsecond,
      turns.notes.empty() ? "" : "; ", fmt::join(turns.notes, "; "));
}

std::string links_in_words(const Entry& entry, const std::vector<LinkFigure>& all) {
  const double bytes = work(entry.c).bytes;
  std::vector<std::vector<std::string>> rows{
      {"link", "alone us", "GB/s", "at once us", "GB/s"}
  };
  for (const LinkFigure& l : all)
    rows.push_back({fmt::format("{}-{}", l.link.a, l.link.b), fmt::format("{:.4g}", l.alone / microsecond),
                    fmt::format("{:.3g}", bytes / l.alone),
                    l.at_once > 0 ? fmt::format("{:.4g}", l.at_once / microsecond) : "-",
                    l.at_once > 0 ? fmt::format("{:.3g}", bytes / l.at_once) : "-"});
  return fmt::format("links  {}  {}\n{}", entry.timings.backend, entry.timings.line, columns(rows, 1));
}

// Why an iteration on a link may also wait for a core; empty where it does not.
std::string waits_for_cores(const Entry& entry, double load) {
  if (std::string shared = shared_cores(process_of(*entry.subject).hello()->places, devices(entry.c.mesh));
      !shared.empty())
    return shared;
  const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  return load > static_cast<double>(processors)
             ? fmt::format("{:.1f} processes wanted this machine's {} processors before", load, processors)
             : "";
}

std::string link_names(const std::vector<RankPair>& links) {
  std::vector<std::string> all;
  for (const RankPair& link : links) all.push_back(fmt::format("{}-{}", link.a, link.b));
  return fmt::format("{}", fmt::join(all, ", "));
}

// A slow link is a finding, and a rank all of whose links are slow.
int say_slow(const LinksTimed& timed, const std::vector<LinkFigure>& figures, Slow which) {
  const double middle = quantile(middles(timed.alone), 0.5);
  const Slowed links = slow_links(timed.alone, which);
  const std::vector<std::int64_t> ranks = slow_ranks(timed.alone, which);
  for (std::int64_t rank : ranks)
    fmt::print("slow  rank {}: each of its links is slower than the others\n", rank);
  for (const RankPair& link : links.sure) {
    const double took = std::ranges::find(figures, link, &LinkFigure::link)->alone;
    fmt::print("slow  link {}-{}: {:.4g} us alone, {:.2g} times the median of all links\n", link.a, link.b,
               took / microsecond, took / middle);
  }
  if (!links.unsure.empty())
    fmt::print("UNSURE  link {}: slower than the others in some passes of {}, in too few to say it is\n",
               link_names(links.unsure), timed.alone[0].passes.size());
  return links.sure.empty() && ranks.empty() ? 0 : 1;
}

int say_links(const Entry& entry, const LinksTimed& timed, double load) {
  const std::vector<LinkFigure> figures = link_figures(timed.alone, timed.at_once);
  fmt::print("{}", links_in_words(entry, figures));
  const std::string waits = waits_for_cores(entry, load);
  if (!waits.empty())
    fmt::print(
        "UNSURE  {}: a link also takes as long as its ranks wait for a core; which is slow is said only "
        "where even its quickest iteration is longer than any of the others'\n",
        waits);
  if (timed.alone.size() < fewest_links) {
    fmt::print("UNSURE  {} link{}: too few to say which is slow, {} at least\n", timed.alone.size(),
               timed.alone.size() == 1 ? "" : "s", fewest_links);
    return 0;
  }
  return say_slow(timed, figures, waits.empty() ? Slow::median : Slow::quickest);
}

void say_corruption(const Entry& entry, const Corruption& bad) {
  const std::string rank = bad.rank < 0 ? "" : fmt::format(", rank {}", bad.rank);
  fmt::print("{}  {}  {}\n    {}{}: {}\n", name(bad.record.verdict.status), entry.timings.backend,
             entry.timings.line, bad.when, rank, not_timed(bad.record));
  std::fflush(stdout);
}

struct Soaking {
  Entry* entry = nullptr;
  Soaked so_far;
  std::int64_t records = 0;
  bool failed = false;
};

void record_turn(const Course& course, Soaking& one) {
  if (one.so_far.samples.nanoseconds.empty()) return;
  course.recorded(take_record(one.entry->c, *one.entry->subject, one.so_far, ++one.records));
}

// What was proved is in the record however the turn ends.
std::optional<Corruption> soak_a_turn(const Course& course, Soaking& one, double seconds) {
  std::optional<Corruption> bad;
  try {
    bad = soak(one.entry->c, *one.entry->subject, seconds, one.so_far);
  } catch (const Interrupted&) {
    record_turn(course, one);
    throw;
  }
  record_turn(course, one);
  one.failed = bad.has_value();
  return bad;
}

}  // namespace

int compare_clocks(const Course& course, std::int64_t pairs) {
  bool bad = false;
  for (const auto& entry : course.entries) {
    const Pairs turns = clock_pairs(entry->c, *entry->subject, pairs);
    const auto ratio = ratio_of_pairs(turns.ours, turns.plain);
    const bool failed = !turns.failed.empty() && turns.comes_to_a_call;
    fmt::print("{:<8} {}  {}\n    {}\n", failed ? "not timed " : name(agreement(ratio)),
               entry->timings.backend, entry->timings.line, in_numbers(turns, ratio));
    std::fflush(stdout);
    bad |= failed || agreement(ratio) == Agreement::disagree;
  }
  return bad ? 1 : 0;
}

namespace {

// What links took by an interruption is in the record, and nothing is said of which is slow.
void keep_links(const Course& course, const Entry& entry, LinksTimed& by_then) {
  const auto untimed = [](LinkTimes& one) {
    std::erase_if(one.passes, [](const auto& pass) { return pass.empty(); });
    return one.passes.empty();
  };
  std::erase_if(by_then.alone, untimed), std::erase_if(by_then.at_once, untimed);
  if (by_then.alone.empty()) return;
  const std::vector<LinkFigure> figures = link_figures(by_then.alone, by_then.at_once);
  fmt::print("{}UNSURE  it was interrupted\n", links_in_words(entry, figures));
  std::fflush(stdout);
  course.recorded(record_of_links(entry.c, *entry.subject, figures));
}

}  // namespace

int compare_links(const Course& course, std::int64_t every) {
  int code = 0;
  for (const auto& entry : course.entries) {
    LinksTimed timed;
    LongWork work;
    if (!course.quiet)
      timed.seen = [&work](auto played, auto rounds) {
        work.tell(fmt::format("{} of {} rounds of pairs played", played, rounds));
      };
    const double load = load_average();
    try {
      clock_links(entry->c, *entry->subject, every, timed);
    } catch (const Interrupted&) {
      work.clear();
      keep_links(course, *entry, timed);
      throw;
    }
    work.clear();
    if (!timed.failed.empty()) {
      fmt::print("no links  {}  {}\n    {}\n", entry->timings.backend, entry->timings.line, timed.failed);
      code = 1;
      continue;
    }
    code = std::max(code, say_links(*entry, timed, load));
    std::fflush(stdout);
    course.recorded(record_of_links(entry->c, *entry->subject, link_figures(timed.alone, timed.at_once)));
  }
  return code;
}

namespace {

bool unrun(const Soaking& one) { return !one.failed && one.so_far.iterations == 0; }

void say_soaked(const std::vector<Soaking>& all) {
  for (const Soaking& one : all)
    fmt::print("{}  {}  {}: {} iterations proved\n",
               one.failed   ? "failed"
               : unrun(one) ? "unrun"
                            : "right",
               one.entry->timings.backend, one.entry->timings.line, one.so_far.iterations);
  std::fflush(stdout);
}

// "3120 iterations of 2 cases proved, 58 min 3 s left"
std::string soaked_so_far(const std::vector<Soaking>& all, double left) {
  std::int64_t iterations = 0;
  for (const Soaking& one : all) iterations += one.so_far.iterations;
  return fmt::format("{} of {} proved, {} left", counted(iterations, "iteration"),
                     counted(std::ssize(all), "case"), duration(std::max(left, 0.0)));
}

}  // namespace

int soak_cases(const Course& course, double seconds) {
  using Now = std::chrono::steady_clock;
  const double turn =
      std::min(60.0, seconds / static_cast<double>(course.entries.size()));  // each has its share
  const auto end = Now::now() + std::chrono::duration<double>(seconds);
  std::vector<Soaking> all;
  const auto stays = [](const Soaking& one) { return !one.failed; };
  const auto left = [&] { return std::chrono::duration<double>(end - Now::now()).count(); };
  LongWork work;
  for (const auto& entry : course.entries) {
    all.push_back({entry.get(), {}, 0, false});
    if (!course.quiet) all.back().so_far.seen = [&] { work.tell(soaked_so_far(all, left())); };
  }
  const auto say_by_then = [&] { work.clear(), say_soaked(all); };
  try {
    while (left() > 0 && std::ranges::any_of(all, stays))
      for (Soaking& one : all)
        if (stays(one) && left() > 0)
          if (auto bad = soak_a_turn(course, one, std::min(turn, left()))) {
            work.clear();
            say_corruption(*one.entry, *bad);
            course.recorded(std::move(bad->record));
          }
  } catch (const Interrupted&) {
    say_by_then();
    throw;
  } catch (const std::system_error&) {  // a full disk
    say_by_then();
    throw;
  }
  say_by_then();
  return !std::ranges::all_of(all, stays) ? 1 : std::ranges::any_of(all, unrun) ? 2 : 0;
}

}  // namespace plumb
