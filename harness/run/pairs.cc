#include "harness/run/pairs.h"

#include "harness/measure/statistics.h"
#include "harness/run/ask.h"

namespace plumb {
namespace {

double median_of(const std::vector<Clocked>& clocks, std::int64_t batch) {
  return quantile(samples(clocks, batch).nanoseconds, 0.5);
}

std::string not_timed(const Record& record) {
  return std::string(name(record.verdict.status)) +
         (record.verdict.facts.empty() ? "" : ": " + record.verdict.facts.front().text);
}

}  // namespace

Pairs clock_pairs(const Case& c, Subject& subject, const Timing& timing, std::int64_t pairs) {
  Process& process = process_of(subject);
  Pairs all;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const TimedAttempts made = ask_timed(c, process, {timing, settings_of(subject).deadlines.run});
    const Record record = judged_under_the_clock(made, declared(process));
    if (record.verdict.status != Status::pass) return {{}, {}, not_timed(record)};
    const auto said = process.limit("call", 0, timing.iterations);
    const auto* plain = std::get_if<std::vector<Clocked>>(&said);
    if (!plain) return {{}, {}, "it comes to no one call of a library that could be made by itself"};
    all.ours.push_back(median_of(made.clocks, timing.batch));
    all.plain.push_back(median_of(*plain, 1));
  }
  return all;
}

}  // namespace plumb
