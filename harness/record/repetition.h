// What a clock said of a case, once: a repetition, as a member of its record.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/measure/bandwidth.h"
#include "harness/measure/links.h"
#include "harness/measure/samples.h"

namespace plumb {

struct Repetition {
  std::int64_t number = 1, of = 1;
  Timing timing;     // its iterations are those that were asked for, 0 where a rule stopped
  std::string stop;  // interval, budget, samples, iterations, soak, links
  Samples samples;
  std::map<std::string, double> limits;  // what a limit took, in nanoseconds: copy, send, call, sum, pack, gemm
  std::vector<double> control{};         // one of the limit, of each turn that was as long as an iteration
  Work work{};                           // what was moved or computed; in older records nothing
  std::vector<std::string> places{};     // where the ranks ran: "0-3: host 0, cores 0-1"
  double mhz_before = 0, mhz_after = 0;  // of the harness's machine; 0 where it does not say
  double load = -1;                      // load_average() before it; -1 where nobody says
  double step = 0;                       // clock_step(); 0 where nobody says
  double seconds = 0;                    // that it had where a rule stopped; 0 in older records
  std::string lost{};                    // why its limits are not all there, of ranks that did not say
  std::vector<LinkFigure> links{};       // of plumb bench --links, which has no samples
  std::vector<std::int64_t> outside{};   // of each rank, in one run more: nanoseconds outside of collectives
  std::vector<Clocked> collectives{};    // of each rank, in that run: entered, each of the trace, left
  std::int64_t launch = 0;               // of the run's launches of its programs, each of which times a case
                                         // once; 0 where nobody says
};

// "batch 1, now 2": in what two were not timed alike, of how they were asked for. Empty where in nothing.
std::string timed_otherwise(const Timing& then, const Timing& now);

// As a member of the record of a line, and sealed with it: a sum of all that it says.
std::string json_text(const Repetition&, const std::string& line);
Repetition repetition_from_json(const nlohmann::json&, const std::string& line);  // throws Malformed

}  // namespace plumb
