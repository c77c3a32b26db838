// What was timed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/figured.h"
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
  std::set<std::string> runs{};      // in which they were timed; of records
};

Samples together(const Timings&);
std::vector<double> medians(const Timings&);  // of each repetition, in nanoseconds

// The largest step of which all times are so many, for one run, in nanoseconds: a clock that counts so has no finer one. Law: of
// times that are all one, that. 0 where no repetition says the step of the harness's clock.
double step_shown(const Timings&);
// That, or the step of the harness's clock where it is larger; beside the least of the medians, 0 of none.
double step_of(const Timings&);
double share_of_a_step(const Timings&);

// Where a process has its memory, and what the machine is busy with, makes all it times some percent faster
// or slower, or several times: what is drawn anew is a launch. The repetitions that are of a launch each; of
// those that do not say it the first alone.
Timings of_launches(const Timings&);

// Of each repetition its quickest iteration, as so many of its control's quickest. Nothing where one of them
// has no control.
std::vector<double> beside_controls(const Timings&);

// Of each repetition its median, as so many of a limit. Nothing where one of them does not know it.
std::vector<double> beside_limit(const Timings&, const std::string& what);

// Whose ranks share cores: of the repetitions the first in which those of the case do, else of the last.
Sharing who_shares(const Timings&);

Figured figures_of(const Timings&);

// The rank for which the others wait by more than is resolved of the case's median; nothing where there is
// none.
std::optional<Waited> lagging(const Timings&);

// "the clock of rank 1 gains 9.1e+04 us a second": of a repetition that ranks began at agreed times, where by that drift
// these move apart, within so many iterations, by a fiftieth of a window: whoever begins later is late. Empty where by none.
std::string drifted_apart(const Repetition&);

// Why a repetition has no times: every iteration of it was begun late. Empty where it has some.
std::string no_times(const Repetition&);

// Repetitions of records, by case and backend, in the order in which they first come; those that were not
// timed are left out, one that a run recorded once and a file holds twice, one of which not all limits are known where its
// number was timed again, and minutes of a soak where there are
// others: what is proved each time is another thing.
std::vector<Timings> timings_of(const std::vector<Record>&);

}  // namespace plumb
