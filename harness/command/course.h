// Cases under the clock, one launch after another: Google Benchmark asks for each repetition.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "harness/report/timings.h"
#include "harness/run/measured.h"

namespace plumb {

// A repetition of which no result was judged: it has no times, and those after it go on.
struct LostRepetition {
  std::int64_t number = 0;
  std::string why, last_words;  // these of a program that died then, or hung
};

// One case on one backend.
struct Entry {
  Case c;
  Subject* subject = nullptr;
  Pace pace;
  Timings timings;                   // so far
  std::vector<std::optional<Repetition>> before{};  // of a run that is resumed, by number: `timings` has them from the start
  std::string failed{};                // why it has no times of any repetition: it is asked no more
  std::string last_words{};            // of a program that died then, or hung
  bool refused = false;                // for it is too large here, as was said
  std::vector<LostRepetition> lost{};  // two in a row: it is asked no more
  std::int64_t told = 0;               // repetitions that the library has asked for
};

// Whether it is asked no more: what is lost once may be so by chance, and twice in a row is not.
bool in_vain(const Entry&);

// As Google Benchmark calls it, and --benchmark_filter: LINE on BACKEND.
std::string name_of(const Entry&);

struct Course {
  std::vector<std::unique_ptr<Entry>> entries;
  std::int64_t repetitions = 1;
  std::function<void(Record&&)> recorded;  // of each repetition, when it ends
  bool quiet = false;                      // no line of progress
  Seen tell = [](const std::string&) {};   // how far it is, while a repetition is timed
  std::exception_ptr failure{};            // Ctrl-C, a full disk: nothing more is timed
  std::int64_t done = 0;                   // repetitions
  std::int64_t launches = 0;               // that timed each case
  std::mt19937_64 random{std::random_device()()};
};

// What Google Benchmark is told by its own flags, but the filter, by which entries are made; each may be empty.
struct LibraryFlags {
  std::string filter, format, out, out_format;
};

// Runs all of them; each launch times each case once, in an order that is drawn anew, on all its backends without a pause.
void run(Course&, const LibraryFlags&);

}  // namespace plumb
