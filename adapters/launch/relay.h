// What passes between plumb and the ranks: its requests, one by one, their replies, and the job that makes
// them.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "adapters/launch/hub.h"
#include "adapters/launch/inherit.h"
#include "adapters/launch/job.h"
#include "adapters/launch/segments.h"

namespace plumb::launch {

extern volatile sig_atomic_t told_to_end;    // the signal, or 0
extern volatile sig_atomic_t a_child_ended;  // since this was looked at last

// By a signal, or nobody reads what is said.
struct Ended {};

constexpr std::chrono::milliseconds at_once{0}, of_themselves{3000};

struct Relay {
  Asked asked;
  int requests = -1, replies = -1;
  std::string buffer{}, hello{};
  std::string unsaid{};  // what is passed on, while a reply may come with it
  bool greeted = false;  // ranks have said hello
  bool ready = false;    // those of this job have
  Hub hub{};
  Job job{};
  bool running = false;
  bool over = false;                         // the last request failed, and the job with it
  Clock::time_point deadline{};              // of the request that is asked
  std::optional<Clock::time_point> waits{};  // the next request, since then, and nobody came for it
  double seconds = 0;                        // of the phase, and how often they began anew
  int extensions = 0;
  int held_up = 0;                 // so often it was said that the next request waits for an end
  Clock::time_point held_up_at{};  // the last time
  double run_seconds = 0;          // of its phase `run`, once it says so
  Segments segments{};             // that processes of the job share on this machine
  Inherited inherited{};           // to the only rank that is started here: it may read requests itself
};

// Says what is unsaid; and a line behind it. Throws Ended.
void say_unsaid(Relay&);
void say_line(Relay&, const std::string&);

// The next request; false once there are no more. Throws Ended, and std::system_error.
bool next_line(Relay&, std::string&);

// When the ranks are asked where they are, of so many seconds since then; 0: in a year.
Clock::time_point before(double seconds, Clock::time_point begun = Clock::now());

// What processes of the job on this machine share now; and where it may be more than it was a moment ago.
void see_segments(Relay&);
void see_new_segments(Relay&);

// Ends the job, which has so long to end by itself once nobody listens to it.
void stop(Relay&, std::chrono::milliseconds patience);

}  // namespace plumb::launch
