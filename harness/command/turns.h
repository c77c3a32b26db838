// In which order jobs are begun, and for how long those of a number of devices.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "harness/select/cases.h"

namespace plumb {

// One case on one backend.
struct Job {
  std::int64_t number = 0;  // of the session's cases
  std::size_t backend = 0;  // of the session's backends
};

// The jobs of one backend that are left, by their places in the order; by as many more in each round after
// the first as the order is long. Until its hello is heard one thread asks it; then that thread alone, where
// the hello says so, or every thread.
struct Queue {
  std::deque<std::size_t> places;
  std::optional<int> asker;
  bool heard = false;
};

// Small meshes go first: a program that serves only meshes of one size is started least often, and the
// smallest example of a finding comes first. A budget may not reach all of them: then suite, op, mesh and
// shape take turns, and of each of these cases that lie far apart come first; and each number of devices has
// a time.
struct Turns {
  std::vector<Job> order;
  std::vector<std::int64_t> devices;  // of each
  std::vector<Queue> queues;          // of the backends
  std::int64_t turn = 0;              // of which number of devices it is,
  double end = 0;                     // and until when; not before there is a budget
};
Turns turns_of(const Cases&, std::vector<Job>, std::size_t backends, bool in_turn);

const Job& job_at(const Turns&, std::size_t place);

// Before a job is taken, under a budget: of the seconds that are left each number of devices that is still to
// come in this round has an equal part, and what its part does not reach waits for the next round.
void pass_on(Turns&, double now, double budget);

// Takes the jobs of a backend on so many devices away.
void give_up(Turns&, std::size_t backend, std::int64_t devices);

}  // namespace plumb
