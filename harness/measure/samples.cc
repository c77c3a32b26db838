#include "harness/measure/samples.h"

#include <algorithm>
#include <map>

namespace plumb {
namespace {

bool one_clock(const std::vector<Clocked>& clocks) {
  return std::ranges::all_of(clocks, [&](const Clocked& c) { return c.clock == clocks[0].clock; });
}

bool late(const std::vector<Clocked>& clocks, std::size_t i) {
  return std::ranges::any_of(clocks, [i](const Clocked& c) { return c.enter[i] < 0; });
}

void add_iteration(Samples& all, const std::vector<Clocked>& clocks, std::size_t i, std::int64_t batch) {
  std::int64_t longest = -1, rank = 0;
  for (std::size_t r = 0; r < clocks.size(); ++r)
    if (const std::int64_t took = clocks[r].leave[i] - clocks[r].enter[i]; took > longest)
      longest = took, rank = static_cast<std::int64_t>(r);
  all.nanoseconds.push_back(static_cast<double>(longest) / static_cast<double>(batch));
  all.slowest.push_back(rank);
  if (!one_clock(clocks)) return;
  const auto [first, last] =
      std::ranges::minmax_element(clocks, {}, [i](const Clocked& c) { return c.enter[i]; });
  all.skew.push_back(last->enter[i] - first->enter[i]);
}

template <class T>
void add_all(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

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
  return all;
}

void take_in(Samples& all, const Samples& more) {
  add_all(all.nanoseconds, more.nanoseconds);
  add_all(all.slowest, more.slowest);
  add_all(all.skew, more.skew);
  all.late += more.late;
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
