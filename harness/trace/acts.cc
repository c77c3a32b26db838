#include "harness/trace/acts.h"

#include "harness/trace/atoms.h"
#include "harness/trace/cost.h"
#include "harness/trace/reachability.h"
#include "harness/trace/steps.h"

namespace plumb {

bool Act::sums() const { return reduces(*one); }

std::vector<Act> acts_of(const Mesh& mesh, std::span<const Collective> trace) {
  const auto loops = [](const Collective& one) { return one.times > 1 || (one.moved && *one.moved < 0); };
  static const Collective loop{.kind = "send"};
  std::vector<Act> acts;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Collective& one = trace[i];
    if (moved(mesh, one) == 0) continue;
    std::size_t end = i;
    while (end < trace.size() && loops(trace[end]) && !reduces(trace[end])) ++end;
    if (end > i) {
      acts.push_back({&loop, fibres(mesh, joined_axes(mesh, trace.subspan(i, end - i))), {}});
      i = end - 1;
      continue;
    }
    acts.push_back({&one, groups_of(mesh, one), std::vector<char>(one.pairs.size())});
    if (names_nobody(one)) acts.back().groups = fibres(mesh, joined_axes(mesh, {&one, 1}));
    std::erase_if(acts.back().groups, [](const auto& group) { return group.size() < 2; });
  }
  return acts;
}

std::vector<std::vector<Bits>> ways(const Mesh& mesh, const std::vector<Act>& acts) {
  const std::int64_t n = devices(mesh);
  std::vector<Bits> after(n, Bits((n + 63) / 64));
  for (std::int64_t d = 0; d < n; ++d) after[d][d / 64] |= std::uint64_t{1} << d % 64;
  std::vector<std::vector<Bits>> to(acts.size() + 1, after);
  for (std::size_t t = acts.size(); t-- > 0;) {
    std::vector<Bits> before = to[t + 1];
    for (const auto& group : acts[t].groups) {
      Bits all = before[group.front()];
      for (std::int64_t d : group) all = united(all, before[d]);
      for (std::int64_t d : group) before[d] = all;
    }
    for (const auto& [from, target] : acts[t].one->pairs)
      before[from] = united(before[from], to[t + 1][target]);
    to[t] = std::move(before);
  }
  return to;
}

}  // namespace plumb
