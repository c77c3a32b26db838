#include "harness/trace/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/trace/cost.h"
#include "harness/trace/steps.h"

namespace plumb {
namespace {

constexpr std::int64_t most_learnt = std::int64_t{1} << 62;

std::int64_t most_sum(__int128 a, __int128 b) {
  return static_cast<std::int64_t>(std::min<__int128>(a + b, most_learnt));
}

// Of an all-gather what so many others of n have, counted or not: no more than all there is. One that makes
// more than there is says what cannot be, and is told so elsewhere (misfit).
std::int64_t gathered(const Collective& one, std::int64_t others, std::int64_t n) {
  if (one.out > __int128{n} * one.in) return one.out;
  return static_cast<std::int64_t>(std::min<__int128>(one.out, __int128{others} * one.in));
}

// In one run of a collective that nobody counted, on a member of a group of n; -1 where nobody knows.
std::int64_t learnt(const Collective& one, std::int64_t n) {
  if (one.kind == "send" && one.out == 0) return -1;
  if (n < 2) return 0;
  if (one.kind == "all-gather") return gathered(one, n - 1, n);
  if (one.kind == "all-to-all" && one.in == one.out) return one.out - one.out / n;
  return one.out;
}

bool gives_all_alike(const Collective& one) {
  return one.kind == "all-reduce" || one.kind == "collective-broadcast";
}

// What so many members of a group of n are brought by the others, in one run that nobody counted.
std::int64_t of_others(const Collective& one, std::int64_t members, std::int64_t n) {
  const std::int64_t others = n - members;
  if (others == 0) return 0;
  if (one.kind == "all-gather") return gathered(one, others, n);
  if (gives_all_alike(one)) return one.out;
  if (one.kind == "all-to-all" && one.in == one.out)
    return most_sum(0, __int128{members} * (one.out - one.out / n * members));
  return most_sum(0, __int128{members} * learnt(one, n));
}

// What a member of a group of n is brought by so many of the others; of what was counted each may have kept
// another piece.
std::int64_t by_others(const Collective& one, std::int64_t others, std::int64_t n) {
  if (others == 0) return 0;
  if (one.kind == "all-gather") return gathered(one, others, n);
  if (one.moved) return one.kind == "send" ? *one.moved : one.out;
  if (one.kind == "all-to-all" && one.in == one.out) return one.out - one.out / n * (n - others);
  return learnt(one, n);
}

// Some devices, and the bytes that came to them against the fewest that they need.
struct Share {
  const std::vector<std::int64_t>& devices;
  std::int64_t received = 0, fewest = 0;
};

std::string less_than_needed(const Mesh& mesh, const std::vector<Share>& shares, const Trace& trace) {
  std::int64_t all_need = 0;
  for (const Share& share : shares) {
    all_need = most_sum(all_need, share.fewest);
    if (share.received < share.fewest)
      return fmt::format("{} {} received at most {} bytes of the {} that its block needs",
                         share.devices.size() > 1 ? "the fibre of device" : "device", share.devices.front(),
                         share.received, share.fewest);
  }
  std::int64_t all_moved = 0;
  for (const Collective& one : trace) {
    if (moved(mesh, one) < 0) return "";
    all_moved = most_sum(all_moved, moved(mesh, one));
  }
  if (all_moved >= all_need) return "";
  return fmt::format("it moved {} bytes where no program moves fewer than {}", all_moved, all_need);
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
      const bool gathers = one.kind == "all-gather";
      const std::int64_t once = one.moved && *one.moved < 0 ? -1
                                : counted && !gathers       ? one.out
                                                            : learnt(one, n);
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

std::vector<std::int64_t> most_brought(const Mesh& mesh, const std::vector<std::vector<std::int64_t>>& sets,
                                       const Trace& trace) {
  std::vector<std::size_t> set_of(devices(mesh));
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (std::int64_t d : sets[s]) set_of[d] = s;
  std::vector<std::int64_t> most(sets.size(), 0);
  for (const Collective& one : trace) {
    const auto groups = groups_of(mesh, one);
    const bool to_all = one.kind == "all-gather" || gives_all_alike(one),
               counted = to_all && one.moved.value_or(-1) >= 0;
    if ((one.moved && !counted) || one.kind == "send" || (groups.empty() && one.pairs.empty())) {
      const std::vector<std::int64_t> each = most_received(mesh, {one});
      if (each.empty()) return {};
      std::vector<std::int64_t> of(sets.size(), 0);
      for (std::size_t d = 0; d < each.size(); ++d) of[set_of[d]] = most_sum(of[set_of[d]], each[d]);
      for (std::size_t s = 0; s < sets.size(); ++s)
        most[s] = most_sum(most[s], one.moved ? std::min(of[s], *one.moved) : of[s]);
      continue;
    }
    const std::vector<std::int64_t> before = most;
    const auto take = [&](std::size_t set, std::int64_t bytes) {
      most[set] = most_sum(most[set], most_sum(0, __int128{bytes} * one.times));
    };
    for (const auto& [from, to] : one.pairs)
      if (set_of[from] != set_of[to]) take(set_of[to], one.out);
    for (const std::vector<std::int64_t>& group : groups) {
      std::map<std::size_t, std::int64_t> members;
      for (std::int64_t device : group) ++members[set_of[device]];
      for (const auto& [set, n] : members) take(set, of_others(one, n, std::ssize(group)));
    }
    for (std::size_t s = 0; counted && s < most.size(); ++s)
      most[s] = std::min(most[s], most_sum(before[s], *one.moved));
  }
  return most;
}

std::vector<std::int64_t> most_from_others(const Mesh& mesh,
                                           const std::vector<std::vector<std::int64_t>>& sets,
                                           const Trace& trace) {
  std::vector<std::size_t> set_of(devices(mesh));
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (std::int64_t d : sets[s]) set_of[d] = s;
  std::vector<std::int64_t> most(devices(mesh), 0);
  for (const Collective& one : trace) {
    if (names_nobody(one) || one.times > 1 || one.moved.value_or(0) < 0) return {};
    std::vector<std::int64_t> brought(most.size(), 0);
    const auto has = [&](std::int64_t d, std::int64_t from) {
      return set_of[from] != set_of[d] || most[from] > 0;
    };
    for (const std::vector<std::int64_t>& group : groups_of(mesh, one))
      for (std::int64_t d : group) {
        const auto others = std::ranges::count_if(group, [&](auto e) { return e != d && has(d, e); });
        brought[d] = by_others(one, others, std::ssize(group));
        if (brought[d] < 0) return {};
      }
    for (const auto& [from, to] : one.pairs)
      if (from != to && has(to, from)) brought[to] = one.out;
    for (std::size_t d = 0; d < most.size(); ++d)
      most[d] = most_sum(most[d], std::min(brought[d], one.moved.value_or(most_learnt)));
  }
  return most;
}

std::string brought_too_little(const Mesh& mesh, const std::vector<std::vector<std::int64_t>>& sets,
                               const std::vector<std::int64_t>& fewest, const Trace& trace) {
  const std::vector<std::int64_t> most = most_brought(mesh, sets, trace);
  std::vector<Share> shares;
  for (std::size_t s = 0; s < most.size(); ++s) shares.push_back({sets[s], most[s], fewest[s]});
  return less_than_needed(mesh, shares, trace);
}

std::string received_too_little(const Case& c, const std::vector<std::int64_t>& fewest, const Trace& trace) {
  const std::vector<std::int64_t> most = most_received(c.mesh, trace);
  if (fewest.empty() || most.empty()) return "";
  const auto sets = fibres(c.mesh, result(c).unfinished);
  std::vector<Share> shares;
  for (const std::vector<std::int64_t>& set : sets) {
    Share& share = shares.emplace_back(set);
    for (std::int64_t device : set) {
      share.received = most_sum(share.received, most[device]);
      share.fewest = most_sum(share.fewest, fewest[device]);
    }
  }
  return less_than_needed(c.mesh, shares, trace);
}

}  // namespace plumb
