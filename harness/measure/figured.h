// What a case's repetitions come to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/bandwidth.h"
#include "harness/measure/crowded.h"
#include "harness/measure/statistics.h"

namespace plumb {

// What one repetition took, and what a limit took in it: nanoseconds.
struct Measured {
  std::vector<double> nanoseconds;
  std::vector<std::int64_t> skew;
  std::map<std::string, double> limits;
};

// What a metric could be at best by something that the same ranks timed in the same run, and which share of that it
// is, where somebody can say.
struct Limit {
  std::string metric, of;  // of: as in Repetition::limits
  std::optional<double> value;
  std::optional<Ratio> share;
  double factor = 1;  // by which that was divided
};

// What is known of a case.
struct Figured {
  std::map<std::string, double> metrics;  // min, median, p95, p99, IQR and skew in us; algbw, busbw, gflops
  std::vector<Limit> limits;              // the first of a metric is the one to which it is held
  std::map<std::string, Between>
      between{};                // over the repetitions; of one the median's and rates', by its samples
  std::size_t repetitions = 0;  // that have times
  std::map<std::string, std::string> unsure{};  // of a metric that the case has and nobody can say: why
  std::string shared{};                         // who shares cores: of no limit is a share known then
  double step = 0;                              // of the clock, for one run of a batch, in us; 0 where nobody says
};

// Figures() of the repetitions, of skew and of a limit the middle of theirs. Of ranks that share cores and do
// not begin together a time is that of one rank's share of the work, and no rate follows from it: so many
// cores could not give it. Nor does what one of them reaches at best while the others wait for a core, or
// have one and do nothing, say what all do. Law: each metric lies within its interval.
Figured figured(const std::vector<Measured>&, const Work&, const Sharing&);

// Nothing where nobody knows one.
const Limit* limit_of(const Figured&, std::string_view metric);

}  // namespace plumb
