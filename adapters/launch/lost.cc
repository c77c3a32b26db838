#include "adapters/launch/lost.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace plumb::launch {

int new_watch() {
  const int watch = ::epoll_create1(EPOLL_CLOEXEC);
  if (watch < 0) fail("watching ranks");
  return watch;
}

void watch_end(const Hub& hub, int socket, std::size_t rank) {
  epoll_event end{.events = EPOLLRDHUP | EPOLLONESHOT, .data = {.u64 = rank}};
  if (::epoll_ctl(hub.watch, EPOLL_CTL_ADD, socket, &end) != 0) fail("watching a rank");
}

// The kernel lists them as they come. Of several that poll() finds it is not known which was first, and the
// first may have ended after poll() had looked at it, and before it looked at the next.
std::vector<std::int64_t> new_ends(Hub& hub) {
  std::array<epoll_event, 64> some;
  const auto before = std::ssize(hub.ends);
  int n;
  while ((n = ::epoll_wait(hub.watch, some.data(), some.size(), 0)) > 0)
    for (const epoll_event& end : std::span(some).first(static_cast<std::size_t>(n)))
      hub.ends.push_back(static_cast<std::int64_t>(end.data.u64));
  return {hub.ends.begin() + before, hub.ends.end()};
}

void find_lost(Hub& hub) {
  const auto told = [&](std::int64_t r) { return hub.seats[r].told; };
  // Whoever starts ranks may kill those at once whom it has told.
  if (hub.lost.empty())
    hub.told |= hub.ends.empty() ? std::ranges::any_of(hub.seats, &Seat::told) : told(hub.ends[0]);
  hub.lost.clear();
  for (std::size_t r = 0; r < hub.seats.size(); ++r)
    if (hub.seats[r].struck) hub.lost.push_back(static_cast<std::int64_t>(r));
  if (hub.lost.empty() && !hub.told)
    std::ranges::remove_copy_if(hub.ends, std::back_inserter(hub.lost), told);
}

std::string who_died(const Hub& hub, const std::string& how) {
  if (hub.lost.empty()) return "";
  const std::int64_t first = hub.lost[0];
  std::vector<std::int64_t> others(hub.lost.begin() + 1, hub.lost.end());
  std::ranges::sort(others);
  return who(hub.seats[first], first) + " " + how + (others.empty() ? "" : ", then " + listed(others));
}

bool some_have_not_joined(const Hub& hub) {
  const auto joined = [](const Seat& seat) { return seat.where.joined; };
  return std::ranges::any_of(hub.seats, joined) && !std::ranges::all_of(hub.seats, joined);
}

std::string who_ended(const Hub& hub) {
  if (!some_have_not_joined(hub)) return who_died(hub);
  std::vector<Whereabouts> all;
  for (const Seat& seat : hub.seats) all.push_back(seat.where);
  const std::string without = not_joined(all);
  // Whoever was struck has said so.
  if (std::ranges::any_of(hub.seats, &Seat::struck)) return who_died(hub) + "; " + without;
  return without + (hub.lost.empty() ? "" : "; " + who_died(hub, "has ended"));
}

}  // namespace plumb::launch
