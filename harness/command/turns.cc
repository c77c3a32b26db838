#include "harness/command/turns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "reference/words/text.h"

namespace plumb {
namespace {

// What the rows of a suite differ in.
std::string stratum(const Cases& cases, std::int64_t n) {
  const Case c = nth(cases, n);
  const std::string shapes = c.op.operands.empty() ? "" : fmt::format("{}", shape(c.op.operands[0]));
  return fmt::format("{} {} {} {}", row_of(cases, n).suite, print(c.mesh), name(c.op), shapes);
}

// 0, 1/2, 1/4, 3/4, 1/8, ...: in the order of these numbers what comes next lies far from what came.
std::vector<std::size_t> far_apart(std::size_t count) {
  const auto scattered = [](std::size_t i) {
    std::size_t reversed = 0;
    for (int bit = 0; bit < 64; ++bit) reversed = reversed << 1 | (i >> bit & 1);
    return reversed;
  };
  std::vector<std::pair<std::size_t, std::size_t>> sorted;
  for (std::size_t i = 0; i < count; ++i) sorted.emplace_back(scattered(i), i);
  std::ranges::sort(sorted);
  std::vector<std::size_t> rank(count);
  for (std::size_t at = 0; at < count; ++at) rank[sorted[at].second] = at;
  return rank;
}

// Of each job which it is of its stratum, once these are scattered.
std::vector<std::size_t> ranks(const Cases& cases, const std::vector<Job>& jobs) {
  std::map<std::string, std::vector<std::size_t>> strata;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    strata[fmt::format("{} {}", stratum(cases, jobs[i].number), jobs[i].backend)].push_back(i);
  std::vector<std::size_t> all(jobs.size());
  for (const auto& [name, members] : strata) {
    const std::vector<std::size_t> rank = far_apart(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) all[members[i]] = rank[i];
  }
  return all;
}

// The least place that is left.
std::optional<std::size_t> foremost(const Turns& turns) {
  std::optional<std::size_t> least;
  for (const Queue& queue : turns.queues)
    if (!queue.places.empty() && (!least || queue.places.front() < *least)) least = queue.places.front();
  return least;
}

std::int64_t devices_at(const Turns& turns, std::size_t place) {
  return turns.devices[place % turns.order.size()];
}

// How many numbers of devices are to come in this round.
std::int64_t to_come(const Turns& turns, std::size_t round) {
  std::set<std::int64_t> all;
  for (const Queue& queue : turns.queues)
    for (std::size_t place : queue.places)
      if (place / turns.order.size() == round) all.insert(devices_at(turns, place));
  return std::ssize(all);
}

void postpone(Turns& turns, std::int64_t devices) {
  for (Queue& queue : turns.queues) {
    const auto kept = std::ranges::stable_partition(
        queue.places, [&](std::size_t place) { return devices_at(turns, place) != devices; });
    for (std::size_t& place : kept) place += turns.order.size();
  }
}

}  // namespace

Turns turns_of(const Cases& cases, std::vector<Job> jobs, std::size_t backends, bool in_turn) {
  const std::vector<std::size_t> rank =
      in_turn ? ranks(cases, jobs) : std::vector<std::size_t>(jobs.size(), 0);
  std::vector<std::tuple<std::int64_t, std::size_t, std::size_t>> sorted;  // devices, rank, as they came
  for (std::size_t i = 0; i < jobs.size(); ++i)
    sorted.emplace_back(devices(mesh_of(cases, jobs[i].number)), rank[i], i);
  std::ranges::sort(sorted);
  Turns turns;
  turns.queues.resize(backends);
  for (const auto& [devices, of_stratum, i] : sorted) {
    turns.queues[jobs[i].backend].places.push_back(turns.order.size());
    turns.order.push_back(jobs[i]), turns.devices.push_back(devices);
  }
  return turns;
}

const Job& job_at(const Turns& turns, std::size_t place) { return turns.order[place % turns.order.size()]; }

void pass_on(Turns& turns, double now, double budget) {
  auto place = foremost(turns);
  if (!place) return;
  if (devices_at(turns, *place) == turns.turn) {
    if (now < turns.end) return;
    postpone(turns, turns.turn);
    place = foremost(turns);
  }
  turns.turn = devices_at(turns, *place);
  turns.end = now + (budget - now) / static_cast<double>(to_come(turns, *place / turns.order.size()));
}

void give_up(Turns& turns, std::size_t backend, std::int64_t devices) {
  std::erase_if(turns.queues[backend].places,
                [&](std::size_t place) { return devices_at(turns, place) == devices; });
}

}  // namespace plumb
