// A case again and again, every result proved.
#pragma once

#include <functional>
#include <optional>

#include "harness/run/measured.h"

namespace plumb {

struct Soaked {
  std::int64_t iterations = 0;  // proved so far
  Samples samples;              // since its last record
  std::function<void()> seen = [] {};  // called after each that was proved
};

// A result that was not right, or none.
struct Corruption {
  std::string when;        // "iteration 12", counted from 1; of a run on other data "after iteration 12"
  std::int64_t rank = -1;  // that holds the first wrong element, where ranks are devices
  Record record;
};

// Requests of one iteration, so that whoever hangs or ends does so in one whose number is known, until the seconds are
// over or the samples are as many as a record holds; then a run on other data, and where that is no pass there are no samples. Throws Interrupted: what was proved by then stands in `so_far`.
std::optional<Corruption> soak(const Case&, Subject&, double seconds, Soaked& so_far);

// The record of what was proved since the last one.
Record take_record(const Case&, Subject&, Soaked&, std::int64_t number);

}  // namespace plumb
