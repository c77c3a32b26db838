// Many cases on several backends, by several threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/command/turns.h"
#include "harness/report/finding.h"
#include "harness/run/attempt.h"
#include "harness/select/cases.h"

namespace plumb {

// A backend that did not start three times in a row for a number of devices.
struct GaveUp {
  std::size_t backend = 0;  // of the session's backends
  std::int64_t devices = 0;
};

struct Session {
  const Cases& cases;
  std::vector<std::string> backends;
  Settings settings;
  Limits limits;  // the user's
  int threads = 1;
  double budget = 0;                         // seconds; 0: no limit
  std::function<void(const Wait&)> waits{};  // told of backends that have not replied yet, one call at a time
  // Where it is there, a backend that does not start is one finding, and its other jobs are not reported.
  std::function<void(const GaveUp&)> gave_up{};
  // Told, one call at a time, of what a program did besides at its end (Parted).
  std::function<void(const std::string& backend, const std::string& what)> parted{};
};

// What came of a job. A case that does not fit the machine is `refused`: its record is unrun and says why.
struct Judged {
  Job job;
  Record record;
  bool refused = false;
  std::string asked{};  // what finds the backend again
};

// With what a job is judged: the user's limits stand before those of the suite's row.
Limits limits_of(const Session&, const Job&);

// Each thread has a program of each backend that it asks, whatever the limits; of a backend whose hello says
// `alone` there is one, and one thread asks it, while another judges what it answered to the case before;
// these are told in order. The order is that of turns.h. Calls `judged` for each job as it ends, one call at
// a time, and `tick` a few times a second. Jobs that the budget leaves over, or a backend that does not
// start, are not reported. Throws Interrupted, and whatever `judged` throws, once every thread has ended; no
// backend is left.
void run(const Session&, const std::vector<Job>&, const std::function<void(Judged&&)>& judged,
         const std::function<void()>& tick);

// Of each backend the hash of the files that are it now, where no release says what it is.
std::vector<std::string> files_now(const std::vector<std::string>& backends);

// The names the backends go by in records. Throws BadInput.
std::vector<std::string> resolved_names(const std::vector<std::string>& backends);

}  // namespace plumb
