#include "harness/trace/traffic.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/trace/cost.h"
#include "harness/trace/steps.h"

namespace plumb {
namespace {

constexpr std::int64_t most_learnt = std::int64_t{1} << 62;

std::int64_t most_sum(__int128 a, __int128 b) {
  return static_cast<std::int64_t>(std::min<__int128>(a + b, most_learnt));
}

// In one run of a collective that nobody counted, on a member of a group of n; -1 where nobody knows.
std::int64_t learnt(const Collective& one, std::int64_t n) {
  if (one.kind == "send" && one.out == 0) return -1;
  if (n < 2) return 0;
  if (one.kind == "all-gather" && one.in <= one.out / n && one.in * n == one.out) return one.out - one.in;
  if (one.kind == "all-to-all" && one.in == one.out) return one.out - one.out / n;
  return one.out;
}

}  // namespace

std::vector<std::int64_t> most_received(const Mesh& mesh, const Trace& trace) {
  std::vector<std::int64_t> most(devices(mesh), 0);
  for (const Collective& one : trace) {
    const auto take = [&](std::int64_t device, std::int64_t bytes) {
      most[device] = most_sum(most[device], bytes);
    };
    const auto of = [&](std::int64_t n) {
      const bool counted = one.moved && one.kind != "send";
      const std::int64_t once = one.moved && *one.moved < 0 ? -1 : counted ? one.out : learnt(one, n);
      const std::int64_t all = once < 0 ? once : most_sum(0, __int128{once} * one.times);
      return counted ? std::min(all, *one.moved) : one.moved.value_or(all);
    };
    if (of(2) < 0) return {};
    for (const auto& [from, to] : one.pairs)
      if (from != to) take(to, of(2));
    const auto groups = groups_of(mesh, one);
    for (const std::vector<std::int64_t>& group : groups)
      for (std::int64_t device : group) take(device, of(std::ssize(group)));
    for (std::int64_t device = 0; groups.empty() && one.pairs.empty() && device < std::ssize(most); ++device)
      take(device, of(2));
  }
  return most;
}

std::string received_too_little(const Mesh& mesh, const std::vector<std::vector<std::int64_t>>& sets,
                                const std::vector<std::int64_t>& fewest, const Trace& trace) {
  const std::vector<std::int64_t> most = most_received(mesh, trace);
  if (most.empty()) return "";
  std::int64_t all_need = 0;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    std::int64_t received = 0;
    for (std::int64_t device : sets[s]) received = most_sum(received, most[device]);
    all_need = most_sum(all_need, fewest[s]);
    if (received < fewest[s])
      return fmt::format("{} {} received at most {} bytes of the {} that its block needs",
                         sets[s].size() > 1 ? "the fibre of device" : "device", sets[s].front(), received,
                         fewest[s]);
  }
  std::int64_t all_moved = 0;
  for (const Collective& one : trace) {
    if (moved(mesh, one) < 0) return "";
    all_moved = most_sum(all_moved, moved(mesh, one));
  }
  if (all_moved >= all_need) return "";
  return fmt::format("it moved {} bytes where no program moves fewer than {}", all_moved, all_need);
}

std::string received_too_little(const Case& c, const std::vector<std::int64_t>& fewest, const Trace& trace) {
  if (fewest.empty()) return "";
  const auto sets = fibres(c.mesh, result(c).unfinished);
  std::vector<std::int64_t> needed(sets.size());
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (std::int64_t device : sets[s]) needed[s] = most_sum(needed[s], fewest[device]);
  return received_too_little(c.mesh, sets, needed, trace);
}

}  // namespace plumb
