#include "harness/trace/acts.h"

#include "harness/trace/atoms.h"
#include "harness/trace/cost.h"
#include "harness/trace/reachability.h"
#include "harness/trace/steps.h"

namespace plumb {

bool Act::sums() const { return reduces(*one); }

std::vector<Act> acts_of(const Mesh& mesh, std::span<const Collective> trace) {
  static const Collective loop{.kind = "send"};
  std::vector<Act> acts;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Collective& one = trace[i];
    if (moved(mesh, one) == 0) continue;
    std::size_t end = i;
    while (end < trace.size() && in_a_loop(trace[end]) && !reduces(trace[end])) ++end;
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

namespace {

// Each device, by itself.
std::vector<Bits> alone(std::int64_t devices) {
  std::vector<Bits> each(devices, Bits((devices + 63) / 64));
  for (std::int64_t d = 0; d < devices; ++d) each[d][d / 64] |= std::uint64_t{1} << d % 64;
  return each;
}

void unite_groups(const Act& act, std::vector<Bits>& each) {
  for (const auto& group : act.groups) {
    Bits all = each[group.front()];
    for (std::int64_t d : group) all = united(all, each[d]);
    for (std::int64_t d : group) each[d] = all;
  }
}

}  // namespace

std::vector<std::vector<Bits>> ways(const Mesh& mesh, const std::vector<Act>& acts) {
  std::vector<std::vector<Bits>> to(acts.size() + 1, alone(devices(mesh)));
  for (std::size_t t = acts.size(); t-- > 0;) {
    to[t] = to[t + 1];
    unite_groups(acts[t], to[t]);
    for (const auto& [from, target] : acts[t].one->pairs)
      to[t][from] = united(to[t][from], to[t + 1][target]);
  }
  return to;
}

std::vector<std::vector<Bits>> origins(const Mesh& mesh, const std::vector<Act>& acts) {
  std::vector<std::vector<Bits>> of(acts.size() + 1, alone(devices(mesh)));
  for (std::size_t t = 0; t < acts.size(); ++t) {
    of[t + 1] = of[t];
    unite_groups(acts[t], of[t + 1]);
    for (const auto& [from, target] : acts[t].one->pairs)
      of[t + 1][target] = united(of[t + 1][target], of[t][from]);
  }
  return of;
}

}  // namespace plumb
