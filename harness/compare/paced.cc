#include "harness/compare/paced.h"

#include <fmt/format.h>

#include <map>

namespace plumb {

std::vector<Paced> paced(const std::vector<Timings>& then, const std::vector<Timings>& now) {
  std::map<std::string, const Timings*> before;
  for (const Timings& t : then) before.insert_or_assign(record_key(t.line, t.backend), &t);
  std::vector<Paced> all;
  for (const Timings& t : now) {
    const auto old = before.find(record_key(t.line, t.backend));
    if (old == before.end()) continue;
    const auto ratio = ratio_of(medians(t), medians(*old->second));
    all.push_back({t.line, t.backend, became(ratio), ratio});
  }
  return all;
}

std::string paced_in_words(const Paced& p) {
  const std::string numbers = p.ratio
                                  ? fmt::format("{:.3f} ({:.3f} to {:.3f}) times as long", p.ratio->middle,
                                                p.ratio->interval.low, p.ratio->interval.high)
                                  : std::string("fewer than four repetitions on either side");
  return fmt::format("{:<7} {}  {}: {}", name(p.became), p.backend, p.line, numbers);
}

}  // namespace plumb
