// What was timed, as figures and as a table.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/require.h"
#include "harness/record/environment.h"
#include "harness/record/record.h"

namespace plumb {

// A case on a backend: all of its repetitions.
struct Timings {
  std::string line, backend;
  std::vector<Repetition> repetitions;
  std::map<std::string, double> over{};  // bytes that a device receives in the mean, by the axes they go over
  Machine machine{};                     // on which they were timed; empty where the record does not say
  std::string share{};               // of --per-device: the line as it was given, whose sizes are a device's
  std::vector<std::string> notes{};  // of the backend: that its times are those of a whole program
};

Samples together(const Timings&);
std::vector<double> medians(const Timings&);  // of each repetition, in nanoseconds

// Of each repetition its quickest iteration, as so many of its control's quickest. Nothing where one of them
// has no control.
std::vector<double> beside_controls(const Timings&);

// Every metric that `--require` knows and the case has, and its limits: figures() of the repetitions, of skew
// and of a limit the middle of theirs.
Figured figured(const Timings&);

// The rank for which the others wait by more than is resolved of the case's median; nothing where there is
// none.
std::optional<Waited> lagging(const Timings&);

// A line for each case that has such a rank.
std::string lags_in_words(const std::vector<Timings>&);

// Why a repetition has no times: every iteration of it was begun late. Empty where it has some.
std::string no_times(const Repetition&);

// A row for each: how often, how long in microseconds, how much of what a second, and who was slow.
std::string timings_table(const std::vector<Timings>&);

// What a reader has to know of the times, a line each: what backends note of how many cases; which ranks
// share cores, so that a time is also that of waiting for one; where one step of the clock is more of a
// median than is resolved; of which cases repetitions have no times; and which limits were asked for in vain.
std::string doubts_in_words(const std::vector<Timings>&);

// A line for each clock that is another than the first rank's: how far it is ahead or behind, and its drift;
// where an error is larger, that no more is known.
std::string clocks_in_words(const std::vector<Timings>&);

// Repetitions of records, by case and backend, in the order in which they first come; those that were not
// timed are left out, and minutes of a soak where there are others: what is proved each time is another
// thing.
std::vector<Timings> timings_of(const std::vector<Record>&);

}  // namespace plumb
