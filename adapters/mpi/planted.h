// What is planted in a rank under the clock, to see that it is noticed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "reference/words/op.h"

namespace plumb::mpi {

struct Planted {
  int rank = 0;            // of the world
  double delay = 0;        // each run is longer by this share of its time,
  std::int64_t pause = 0;  // or by so many milliseconds
  int lags = -1;           // on this rank alone,
  std::string pauses;      // and in cases with this in their line alone
  std::int64_t stop = 0;   // rank 1 is stopped in this run, and
  std::int64_t flip = 0;   // gets a bit wrong in this one
  std::int64_t runs = 0;   // so far
  std::string slow;        // "1-2": rank 1 sends late to rank 2
  std::string clock;       // RANK:AHEAD:DRIFT, in nanoseconds, and more of them each second
};

// False where it is no option that plants anything. Throws std::invalid_argument.
bool plant(Planted&, const std::string& key, const std::string& value);

// One run of a case with it, by a function that makes a bit of its result wrong.
std::function<void()> planted_run(Planted&, const Case&, std::function<void()> once,
                                  std::function<void()> spoil);

// What a rank can do at best, with it.
std::function<void()> planted_limit(const Planted&, const std::string& what, std::function<void()> call);

}  // namespace plumb::mpi
