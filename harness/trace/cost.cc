#include "harness/trace/cost.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "harness/trace/steps.h"
#include "reference/bytes/bytes.h"

namespace plumb {
namespace {

// A backend may say anything: more bytes than there can be are not known. No factor and no sum is larger
// than 2^63 before it comes here.
constexpr std::int64_t most_bytes = std::int64_t{1} << 62;
std::int64_t known(__int128 sum) {
  return sum >= 0 && sum < most_bytes ? static_cast<std::int64_t>(sum) : -1;
}
std::int64_t sum_of(std::int64_t a, std::int64_t b) { return a < 0 || b < 0 ? -1 : known(__int128{a} + b); }
std::int64_t product_of(std::int64_t a, std::int64_t b) {
  return a < 0 || b < 0 ? -1 : known(__int128{a} * b);
}

// Of a send the most: what so many devices send, or so many receive, whichever is known to be less.
std::int64_t most_sent(const Collective& one, std::int64_t senders, std::int64_t receivers) {
  if (senders == 0) return 0;
  const auto most = [](std::int64_t n, std::int64_t bytes) { return bytes == 0 ? -1 : product_of(n, bytes); };
  const auto [less, more] = std::minmax({most(senders, one.in), most(receivers, one.out)});
  return less < 0 ? more : less;
}

std::int64_t sent(const Mesh& mesh, const Collective& one) {
  std::set<std::int64_t> from, to;
  for (const auto& [source, target] : one.pairs)
    if (source != target) from.insert(source), to.insert(target);
  for (const std::vector<std::int64_t>& group : groups_of(mesh, one))
    if (group.size() > 1) from.insert(group.begin(), group.end()), to.insert(group.begin(), group.end());
  const bool anybody = names_nobody(one) && devices(mesh) > 1;
  return most_sent(one, anybody ? devices(mesh) : std::ssize(from), anybody ? devices(mesh) : std::ssize(to));
}

}  // namespace

std::int64_t moved(const Mesh& mesh, const Collective& step) {
  if (step.moved) return *step.moved;  // of all times
  if (step.kind == "send") return product_of(sent(mesh, step), step.times);
  const auto priced = [&](std::int64_t n) { return price(step.kind, n, step.in, step.out); };
  if (!step.pairs.empty()) {
    const auto away = std::ranges::count_if(step.pairs, [](const auto& p) { return p.first != p.second; });
    return product_of(product_of(away, step.out), step.times);
  }
  std::int64_t sum = 0;
  const auto of_groups = [&](std::int64_t devices_in_all, std::int64_t n) {
    sum = sum_of(sum, product_of(devices_in_all, priced(n)));
  };
  if (!step.axes.empty()) of_groups(devices(mesh), axes_size(mesh, axes_of(mesh, step)));
  for (const std::vector<std::int64_t>& group : step.groups) of_groups(std::ssize(group), std::ssize(group));
  if (names_nobody(step) && priced(2) < 0) return -1;
  return product_of(sum, step.times);
}

std::int64_t moved(const Mesh& mesh, const Trace& trace) {
  std::int64_t sum = 0;
  for (const Collective& step : trace) sum = sum_of(sum, moved(mesh, step));
  return sum;
}

Cost cost(const Case& c, const Outcome& outcome) {
  Cost cost;
  cost.moved = moved(c.mesh, outcome.trace);
  for (const Collective& step : outcome.trace)
    cost.at_most = cost.at_most || (step.kind == "send" && !step.moved && moved(c.mesh, step) != 0);
  const auto counted = [](const Collective& step) { return step.moved.value_or(-1) >= 0; };
  if (outcome.received && !std::ranges::all_of(outcome.trace, counted))
    cost.moved = *outcome.received, cost.at_most = false;
  if (const std::vector<std::int64_t> fewest = fewest_bytes(c); !fewest.empty()) {
    cost.bound = std::accumulate(fewest.begin(), fewest.end(), std::int64_t{0});
  }
  cost.best_known = best_known(c).bytes;
  return cost;
}

}  // namespace plumb
