// Findings as they come: the first of each cause is told whole, the others are counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/compare/kind.h"

namespace plumb {

// Of a cause, findings whose layouts play the same roles.
struct OfLayouts {
  std::int64_t findings = 0;
  std::string first;  // its line
};

// Kinds that differ in their layouts alone have one cause.
struct OfCause {
  std::int64_t findings = 0;
  std::map<std::string, std::int64_t> backends;  // as they were run, releases apart
  std::map<std::string, OfLayouts> layouts;
};
using Told = std::map<Kind, OfCause>;  // by kinds without layouts

// Counts a finding: whether it is the first of its cause, which is told whole.
bool is_first(Told&, const Record&);

// What was counted beside the first ones; nothing where there was no more.
//   2046 crashed  jax@0.10.2,style=explicit  killed by signal N (Aborted) (in compile): ...
//       100  reshard [A,]+B -> [A,]+C      on x=2,y=2,z=2: reshard f32[8@x,8]+y -> f32[8@x,8]+z
//       and 222 more patterns of layouts
// `every`: all patterns.
std::string told_text(const Told&, bool every);

}  // namespace plumb
