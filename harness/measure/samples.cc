#include "harness/measure/samples.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/measure/statistics.h"

namespace plumb {
namespace {

// Whether times of all can be said on the clock of the first.
bool comparable(const std::vector<Clocked>& clocks) {
  return std::ranges::all_of(
      clocks, [&](const Clocked& c) { return c.clock == clocks[0].clock || error_of_clock(c) > 0; });
}

// On the first rank's clock.
double entered(const Clocked& c, const Clocked& first, std::size_t i) {
  return c.clock == first.clock ? static_cast<double>(c.enter[i]) : on_first_clock(c, c.enter[i]);
}

std::int64_t skew(const std::vector<Clocked>& clocks, std::size_t i) {
  double first = entered(clocks[0], clocks[0], i), last = first;
  for (const Clocked& c : clocks) {
    const double at = entered(c, clocks[0], i);
    first = std::min(first, at), last = std::max(last, at);
  }
  return std::llround(last - first);
}

// Below its error nothing is known.
void drop_unknown_skew(Samples& all, const std::vector<Clocked>& clocks) {
  double error = 0;
  for (const Clocked& c : clocks)
    if (c.clock != clocks[0].clock) error = std::max(error, error_of_clock(c));
  if (all.skew.empty() || error == 0) return;
  if (quantile({all.skew.begin(), all.skew.end()}, 0.5) < error) all.skew.clear();
}

bool late(const std::vector<Clocked>& clocks, std::size_t i) {
  return std::ranges::any_of(clocks, [i](const Clocked& c) { return c.enter[i] < 0; });
}

void add_iteration(Samples& all, const std::vector<Clocked>& clocks, std::size_t i, std::int64_t batch) {
  std::int64_t longest = -1, rank = 0;
  for (std::size_t r = 0; r < clocks.size(); ++r)
    if (const std::int64_t took = clocks[r].leave[i] - clocks[r].enter[i]; took > longest)
      longest = took, rank = static_cast<std::int64_t>(r);
  if (longest == 0) {
    ++all.unseen;
    return;
  }
  all.nanoseconds.push_back(static_cast<double>(longest) / static_cast<double>(batch));
  all.slowest.push_back(rank);
  if (comparable(clocks)) all.skew.push_back(skew(clocks, i));
}

template <class T>
void add_all(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

bool knows_skew(const Samples& all) { return all.skew.size() == all.nanoseconds.size(); }

}  // namespace

Samples samples(const std::vector<Clocked>& clocks, std::int64_t batch) {
  Samples all;
  if (clocks.empty()) return all;
  std::int64_t begin = -1;
  for (std::size_t i = 0; i < clocks[0].enter.size(); ++i) {
    if (late(clocks, i)) {
      ++all.late;
      continue;
    }
    add_iteration(all, clocks, i, batch);
    if (begin < 0) begin = clocks[0].enter[i];
    all.span = clocks[0].leave[i] - begin;
  }
  drop_unknown_skew(all, clocks);
  all.clocks = clocks_seen(clocks);
  return all;
}

void take_in(Samples& all, const Samples& more) {
  const bool known = knows_skew(all) && knows_skew(more);
  add_all(all.nanoseconds, more.nanoseconds);
  add_all(all.slowest, more.slowest);
  known ? add_all(all.skew, more.skew) : all.skew.clear();
  if (!more.clocks.empty()) all.clocks = more.clocks;
  all.late += more.late, all.unseen += more.unseen;
  all.span += more.span;
}

void keep(Samples& all, const std::vector<Clocked>& clocks) {
  all.ranks.resize(clocks.size());
  for (std::size_t r = 0; r < clocks.size(); ++r) {
    all.ranks[r].clock = clocks[r].clock;
    add_all(all.ranks[r].enter, clocks[r].enter);
    add_all(all.ranks[r].leave, clocks[r].leave);
  }
}

std::vector<std::int64_t> own_times(const std::vector<Clocked>& collectives) {
  std::vector<std::int64_t> all;
  for (const Clocked& c : collectives) {
    std::int64_t inside = 0;
    for (std::size_t i = 0; i < c.enter.size(); ++i) inside += c.leave[i] - c.enter[i];
    all.push_back(c.enter.empty() ? 0 : c.leave.back() - c.enter.front() - inside);
  }
  return all;
}

std::optional<Waited> waited_for(const std::vector<std::vector<std::int64_t>>& outside_of_runs) {
  if (outside_of_runs.size() < fewest_compared || outside_of_runs[0].size() < 2) return std::nullopt;
  const std::vector<std::int64_t>& first = outside_of_runs[0];
  const auto rank = std::ranges::max_element(first) - first.begin();
  std::int64_t least = first[rank], others = 0;
  for (const std::vector<std::int64_t>& run : outside_of_runs) {
    if (run.size() != first.size()) return std::nullopt;
    for (std::size_t r = 0; r < run.size(); ++r)
      if (static_cast<std::ptrdiff_t>(r) != rank) others = std::max(others, run[r]);
    least = std::min(least, run[rank]);
  }
  if (least <= others) return std::nullopt;
  return Waited{rank, static_cast<double>(least), static_cast<double>(others)};
}

Laggard laggard(const Samples& all) {
  std::map<std::int64_t, std::int64_t> times;
  for (std::int64_t rank : all.slowest) ++times[rank];
  Laggard most;
  for (const auto& [rank, n] : times)
    if (const double share = static_cast<double>(n) / static_cast<double>(all.slowest.size());
        share > most.share)
      most = {rank, share};
  return most;
}

}  // namespace plumb
