// Cases under the clock, one repetition after another: Google Benchmark says which comes next.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/report/timings.h"
#include "harness/run/measured.h"

namespace plumb {

// One case on one backend.
struct Entry {
  Case c;
  Subject* subject = nullptr;
  Pace pace;
  Timings timings;                   // so far
  std::vector<Repetition> before{};  // of a run that is resumed: they are not timed again
  std::string failed{};              // why it has no times: it is asked no more
  std::string last_words{};          // of a program that died then, or hung
  bool refused = false;              // for it is too large here
};

// As Google Benchmark calls it, and --benchmark_filter: LINE on BACKEND.
std::string name_of(const Entry&);

struct Course {
  std::vector<std::unique_ptr<Entry>> entries;
  std::int64_t repetitions = 1;
  std::function<void(Record&&)> recorded;  // of each repetition, when it ends
  bool quiet = false;                      // no line of progress
  std::exception_ptr failure{};            // Ctrl-C, a full disk: nothing more is timed
  std::int64_t done = 0;                   // repetitions
};

// What Google Benchmark is told by its own flags, but the filter, by which entries are made; each may be empty.
struct LibraryFlags {
  std::string filter, format, out, out_format;
};

// Runs all of them, in an order that is drawn anew.
void run(Course&, const LibraryFlags&);

}  // namespace plumb
