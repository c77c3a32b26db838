#include "harness/report/tally.h"

#include <algorithm>
#include <numeric>

namespace plumb {
namespace {

Count& count_of(Tally& tally, const std::string& suite, const std::string& backend) {
  const auto at = std::ranges::find_if(
      tally.counts, [&](const Count& c) { return c.suite == suite && c.backend == backend; });
  if (at != tally.counts.end()) return *at;
  tally.counts.push_back({suite, backend, {}, {}, {}});
  return tally.counts.back();
}

std::int64_t of(const Count& count, Status status) { return count.by_status[static_cast<int>(status)]; }

}  // namespace

void add_verdict(Tally& tally, const std::string& suite, const std::string& backend, const Verdict& verdict) {
  Count& count = count_of(tally, suite, backend);
  const Pass pass = pass_of(verdict);
  ++(verdict.status == Status::pass && pass != Pass::whole
         ? count.by_pass[static_cast<int>(pass)]
         : count.by_status[static_cast<int>(verdict.status)]);
  if (verdict.status == Status::unsupported)
    ++count.reasons[verdict.facts.empty() ? "no reason given" : verdict.facts.front().text];
}

std::int64_t cases(const Count& count) {
  return std::accumulate(count.by_status.begin(), count.by_status.end(),
                         passes(count) - of(count, Status::pass));
}

std::int64_t passes(const Count& count) {
  return std::accumulate(count.by_pass.begin(), count.by_pass.end(), of(count, Status::pass));
}

Count total(const Tally& tally) {
  Count sum{"total", "", {}, {}, {}};
  for (const Count& count : tally.counts) {
    for (int s = 0; s < statuses; ++s) sum.by_status[s] += count.by_status[s];
    for (int p = 0; p < pass_kinds; ++p) sum.by_pass[p] += count.by_pass[p];
    for (const auto& [reason, n] : count.reasons) sum.reasons[reason] += n;
  }
  return sum;
}

std::int64_t findings(const Count& count) {
  std::int64_t n = 0;
  for (int s = 0; s < statuses; ++s)
    if (finding(static_cast<Status>(s))) n += count.by_status[s];
  return n;
}

int exit_code(const Tally& tally) {
  const Count all = total(tally);
  if (cases(all) == of(all, Status::unrun) + of(all, Status::unsupported)) return 2;
  return findings(all) > 0 ? 1 : 0;
}

}  // namespace plumb
