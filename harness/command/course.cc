#include "harness/command/course.h"

#include <benchmark/benchmark.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <ostream>
#include <system_error>

#include "harness/backend/interrupt.h"
#include "harness/measure/bandwidth.h"
#include "harness/report/finding.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::string refuse(Entry& entry, const std::string& why) {
  fmt::print(stderr, "plumb: unrun: {}\n", why);
  entry.refused = true;
  return why;
}

// What is too large is said before anything is timed.
void refuse_what_is_too_large(Course& course) {
  for (const auto& entry : course.entries)
    if (std::string why = too_large_to_time(entry->c, *entry->subject); !why.empty() && entry->failed.empty())
      entry->failed = refuse(*entry, why);
}

const Repetition* numbered(const Entry& entry, std::int64_t number) {
  const std::vector<Repetition>& all = entry.timings.repetitions;
  const auto at = std::ranges::find(all, number, &Repetition::number);
  return at == all.end() ? nullptr : &*at;
}

// A result that was judged, and no pass, has no times of any repetition.
void lose(Entry& entry, std::int64_t number, const Record& record) {
  if (was_judged(record))
    entry.failed = not_timed(record), entry.last_words = record.last_words;
  else
    entry.lost.push_back({number, not_timed(record), record.last_words});
}

// "3/25 repetitions; 1200 iterations of mpi,np=2  on x=2: reshard f32[8@x] -> f32[8]"
Seen seen_of(const Course& course, const Entry& entry) {
  return [&](const std::string& how) {
    course.tell(fmt::format("{}/{} repetitions; {} of {}  {}", course.done, course.repetitions * std::ssize(course.entries), how,
                            entry.timings.backend, entry.timings.line));
  };
}

// One repetition of a case. Throws where the machine fails, and at Ctrl-C, which end the course.
void time_once(Course& course, Entry& entry, std::int64_t number) {
  if (numbered(entry, number) || !entry.failed.empty() || in_vain(entry)) return;
  Record record;
  try {
    record = measure(entry.c, *entry.subject, entry.pace, seen_of(course, entry));
  } catch (const DoesNotFit& error) {
    entry.failed = refuse(entry, error.what());
    return;
  }
  if (record.bench) {
    record.bench->number = record.bench->launch = number, record.bench->of = course.repetitions;
    entry.timings.over = bytes_over_axes(entry.c, record.trace);
    if (const double each = nanoseconds_each(record.bench->samples); each > 0) entry.pace.each = each;
    std::vector<Repetition>& all = entry.timings.repetitions;
    all.insert(std::ranges::upper_bound(all, number, {}, &Repetition::number), *record.bench);
    entry.timings.notes = record.notes;
  } else {
    lose(entry, number, record);
  }
  course.recorded(std::move(record));
}

void count(benchmark::State& state, const Entry& entry, const Repetition& repetition) {
  const Timings one{entry.timings.line, entry.timings.backend, {repetition}};
  const Figured f = figures_of(one);
  state.SetIterationTime(f.metrics.at("median") / 1e6);
  state.counters["samples"] = static_cast<double>(one.repetitions[0].samples.nanoseconds.size());
  for (const auto& [counter, metric] :
       {std::pair{"min_us", "min"}, {"p95_us", "p95"}, {"busbw_GBps", "busbw"}, {"GFLOPps", "gflops"}})
    if (const auto at = f.metrics.find(metric); at != f.metrics.end()) state.counters[counter] = at->second;
}

// The library ends the program where one repetition of a benchmark has had another number of iterations than
// the next: one that fails has its one, too.
void fail(benchmark::State& state, const std::string& why) {
  for ([[maybe_unused]] auto _ : state) state.SetIterationTime(0);
  state.SkipWithError(why.c_str());
}

std::vector<Entry*> drawn(Course& course) {
  std::vector<Entry*> all;
  std::map<std::string, std::uint64_t> places;
  for (const auto& entry : course.entries)
    if (all.push_back(entry.get()); !places.contains(entry->timings.line)) places[entry->timings.line] = course.random();
  std::ranges::shuffle(all, course.random);
  std::ranges::stable_sort(all, {}, [&](const Entry* entry) { return places.at(entry->timings.line); });
  return all;
}

// Where a process has its memory and its code makes it some percent faster or slower than the next of the same
// program, or several times: a launch times each case once, in an order that is drawn, on one backend right after the other.
void time_a_launch(Course& course) {
  if (course.launches > 0)
    for (const auto& entry : course.entries) process_of(*entry->subject).stop();
  for (Entry* entry : drawn(course)) time_once(course, *entry, course.launches + 1), ++course.done;
  ++course.launches;
}

std::string why_none(const Entry& entry, std::int64_t number) {
  if (!entry.failed.empty()) return entry.failed;
  if (const Repetition* one = numbered(entry, number)) return no_times(*one);
  const auto at = std::ranges::find(entry.lost, number, &LostRepetition::number);
  return at == entry.lost.end() ? "it was lost twice in a row, and is asked no more" : at->why;
}

// The numbers of its repetitions as the library is told of them, those that have times first: it takes what it needs for its
// statistics from the first, and dies where that failed and two others did not.
std::vector<std::int64_t> as_told(const Course& course, const Entry& entry) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(course.repetitions));
  std::iota(all.begin(), all.end(), 1);
  std::ranges::stable_partition(all, [&](std::int64_t number) { return why_none(entry, number).empty(); });
  return all;
}

// One repetition, as the library asks for it: its time is the median. With the first come those of all cases.
void repeat_once(benchmark::State& state, Course& course, Entry& entry) {
  try {
    while (!course.failure && course.launches < course.repetitions) time_a_launch(course);
  } catch (...) {
    course.failure = std::current_exception();
  }
  const std::int64_t number = as_told(course, entry)[static_cast<std::size_t>(entry.told++)];
  if (course.failure && !numbered(entry, number)) return fail(state, "nothing more is timed");
  if (const std::string why = why_none(entry, number); !why.empty()) return fail(state, fmt::format("repetition {}: {}", number, why));
  for ([[maybe_unused]] auto _ : state) count(state, entry, *numbered(entry, number));
}

std::vector<std::string> arguments(const LibraryFlags& flags) {
  std::vector<std::string> all{"plumb"};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) all.push_back(fmt::format("--benchmark_{}={}", flag, value));
  };
  add("format", flags.format), add("out_format", flags.out_format);
  return all;
}

[[noreturn]] void fails(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// What the library writes is in memory first: it says nothing of a full disk.
struct Out {
  std::string name;
  int memory = -1;
  explicit Out(const std::string& file) : name(file) {
    if (!name.empty() && (memory = ::memfd_create("benchmark_out", MFD_CLOEXEC)) < 0) fails(name);
  }
  ~Out() { ::close(memory); }
  std::string path() const { return name.empty() ? "" : fmt::format("/proc/self/fd/{}", memory); }
  void copy() const {
    if (name.empty()) return;
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fails(name);
    std::array<char, 1 << 16> some;
    ::lseek(memory, 0, SEEK_SET);
    for (ssize_t n; (n = ::read(memory, some.data(), some.size())) > 0;)
      for (ssize_t at = 0, now = 0; at < n; at += now)
        if ((now = ::write(file, some.data() + at, static_cast<std::size_t>(n - at))) < 0) fails(name);
    if (::close(file) != 0) fails(name);
  }
};

void initialize(const LibraryFlags& flags, const Out& out) {
  static std::vector<std::string> all;  // the library keeps where the first of them lies
  all = arguments(flags);
  if (!out.path().empty()) all.push_back("--benchmark_out=" + out.path());
  std::vector<char*> argv;
  for (std::string& one : all) argv.push_back(one.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  benchmark::Initialize(&argc, argv.data());
}

}  // namespace

bool in_vain(const Entry& entry) {
  const auto n = entry.lost.size();
  return n > 1 && entry.lost[n - 2].number + 1 == entry.lost[n - 1].number;
}

std::string name_of(const Entry& entry) {
  return fmt::format("{} on {}", entry.timings.line, entry.timings.backend);
}

void run(Course& course, const LibraryFlags& flags) {
  const Out out(flags.out);
  initialize(flags, out);
  refuse_what_is_too_large(course);
  for (const auto& entry : course.entries)
    benchmark::RegisterBenchmark(
        name_of(*entry).c_str(),
        [&course, e = entry.get()](benchmark::State& s) { repeat_once(s, course, *e); })
        ->Iterations(1)
        ->Repetitions(static_cast<int>(course.repetitions))
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  if (flags.format.empty()) {  // the table is ours, unless the user asks for the library's
    std::ostream nowhere(nullptr);
    benchmark::ConsoleReporter silent(benchmark::ConsoleReporter::OO_None);
    silent.SetOutputStream(&nowhere), silent.SetErrorStream(&nowhere);
    benchmark::RunSpecifiedBenchmarks(&silent);
  } else {
    benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::ClearRegisteredBenchmarks();
  out.copy();
  if (course.failure) std::rethrow_exception(course.failure);
}

}  // namespace plumb
