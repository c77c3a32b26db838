#include "harness/command/course.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <ostream>

#include "harness/backend/interrupt.h"
#include "harness/measure/bandwidth.h"
#include "harness/measure/statistics.h"
#include "harness/report/finding.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Nothing where it was timed; else why not. A failure is an error of the case and ends the case alone, but
// that of the machine and Ctrl-C, which end the course.
std::string time_once(Course& course, Entry& entry) {
  const auto number = std::ssize(entry.timings.repetitions);
  if (number < std::ssize(entry.before)) {
    entry.timings.repetitions.push_back(entry.before[number]);
    return "";
  }
  Record record;
  try {
    record = measure(entry.c, *entry.subject, entry.pace);
  } catch (const DoesNotFit& error) {
    entry.refused = true;
    return error.what();
  }
  std::string why;
  if (record.bench) {
    record.bench->number = number + 1, record.bench->of = course.repetitions;
    entry.timings.over = bytes_over_axes(entry.c, record.trace);
    entry.pace.each = nanoseconds_each(record.bench->samples);
    entry.timings.repetitions.push_back(*record.bench);
    if (record.bench->samples.nanoseconds.empty()) why = "every iteration was begun late";
  } else {
    why = not_timed(record);
  }
  course.recorded(std::move(record));
  return why;
}

void count(benchmark::State& state, const Entry& entry) {
  const Figures f = figures(entry.timings.repetitions.back().samples.nanoseconds);
  const Work w = work(entry.c);
  state.SetIterationTime(f.median / 1e9);
  state.counters["samples"] = static_cast<double>(f.count);
  state.counters["min_us"] = f.least / 1e3;
  state.counters["p95_us"] = f.p95 / 1e3;
  if (w.bytes > 0) state.counters["busbw_GBps"] = bus_bandwidth(w, f.median);
  if (w.flops > 0) state.counters["GFLOPps"] = w.flops / f.median;
}

// The library ends the program where one repetition of a benchmark has had another number of iterations than
// the next: one that fails has its one, too.
void fail(benchmark::State& state, const std::string& why) {
  for ([[maybe_unused]] auto _ : state) state.SetIterationTime(0);
  state.SkipWithError(why.c_str());
}

// Where a process has its memory and its code makes it some percent faster or slower than the next of the same
// program: repetitions are of several, of each about one for each case.
void start_anew(Course& course) {
  if (course.done % std::ssize(course.entries) != 0) return;
  for (const auto& entry : course.entries) process_of(*entry->subject).stop();
}

// One repetition, as the library asks for it: its time is the median.
void repeat_once(benchmark::State& state, Course& course, Entry& entry) {
  if (!course.failure && entry.failed.empty()) try {
      start_anew(course);
      entry.failed = time_once(course, entry);
    } catch (...) {
      course.failure = std::current_exception();
    }
  if (course.failure) return fail(state, "nothing more is timed");
  ++course.done;
  if (!entry.failed.empty()) return fail(state, entry.failed);
  for ([[maybe_unused]] auto _ : state) count(state, entry);
}

std::vector<std::string> arguments(const LibraryFlags& flags) {
  std::vector<std::string> all{"plumb", "--benchmark_enable_random_interleaving=true"};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) all.push_back(fmt::format("--benchmark_{}={}", flag, value));
  };
  add("filter", flags.filter), add("format", flags.format);
  add("out", flags.out), add("out_format", flags.out_format);
  return all;
}

void initialize(const LibraryFlags& flags) {
  std::vector<std::string> all = arguments(flags);
  std::vector<char*> argv;
  for (std::string& one : all) argv.push_back(one.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  benchmark::Initialize(&argc, argv.data());
}

}  // namespace

std::size_t run(Course& course, const LibraryFlags& flags) {
  initialize(flags);
  for (const auto& entry : course.entries)
    benchmark::RegisterBenchmark(
        fmt::format("{} on {}", print(entry->c), entry->subject->name).c_str(),
        [&course, e = entry.get()](benchmark::State& s) { repeat_once(s, course, *e); })
        ->Iterations(1)
        ->Repetitions(static_cast<int>(course.repetitions))
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  std::size_t chosen = 0;
  if (flags.format.empty()) {  // the table is ours, unless the user asks for the library's
    std::ostream nowhere(nullptr);
    benchmark::ConsoleReporter silent(benchmark::ConsoleReporter::OO_None);
    silent.SetOutputStream(&nowhere), silent.SetErrorStream(&nowhere);
    chosen = benchmark::RunSpecifiedBenchmarks(&silent);
  } else {
    chosen = benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::ClearRegisteredBenchmarks();
  if (course.failure) std::rethrow_exception(course.failure);
  return chosen;
}

}  // namespace plumb
