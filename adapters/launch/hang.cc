#include "adapters/launch/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace plumb::launch {
namespace {

using Ranks = std::vector<std::int64_t>;

Ranks those(const std::vector<Whereabouts>& all, const std::function<bool(const Whereabouts&)>& such) {
  Ranks ranks;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (such(all[r])) ranks.push_back(static_cast<std::int64_t>(r));
  return ranks;
}

// "rank 2 (host b)", "ranks 2, 5 to 7 (host b and others)"; of an only one the process, too.
std::string named(const std::vector<Whereabouts>& all, const Ranks& ranks) {
  const std::string& host = all[ranks[0]].host;
  std::string text = fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", listed(ranks));
  if (host.empty()) return text;
  if (all.size() == 1) return fmt::format("{} (host {}, pid {})", text, host, all[0].pid);
  bool same = true;
  for (std::int64_t r : ranks) same &= all[r].host == host;
  return fmt::format("{} (host {}{})", text, host, same ? "" : " and others");
}

const char* has(const Ranks& ranks) { return ranks.size() == 1 ? "has" : "have"; }

// A call, and who waits in it.
struct Awaited {
  std::string at;
  std::int64_t entered = 0;  // calls of those who wait, the fewest
  Ranks ranks;
};

// Those who went the least far first: whoever is in no call is next to them.
std::vector<Awaited> awaited(const std::vector<Whereabouts>& all) {
  std::vector<Awaited> calls;
  for (std::int64_t r : those(all, [](const Whereabouts& w) { return w.answers && w.inside; })) {
    const Whereabouts& w = all[r];
    auto call = std::ranges::find(calls, w.at, &Awaited::at);
    if (call == calls.end()) call = calls.insert(call, {w.at, w.entered, {}});
    call->entered = std::min(call->entered, w.entered), call->ranks.push_back(r);
  }
  std::ranges::stable_sort(
      calls, {}, [](const Awaited& call) { return std::pair(call.entered, -std::ssize(call.ranks)); });
  return calls;
}

std::string wait_in(const Awaited& call, const std::string& it) {
  return fmt::format("{} {} in {}", listed(call.ranks), call.ranks.size() == 1 ? "waits" : "wait", it);
}

// Where one is that is not in the call.
std::string elsewhere(const Whereabouts& w) {
  if (w.replied) return " (it has replied)";
  if (w.inside) return fmt::format(" (it waits in {})", w.at);
  return w.at.empty() ? "" : fmt::format(" (the last it left is {})", w.at);
}

// Of those who are not in the call: where the only one is, or who has replied.
std::string elsewhere(const std::vector<Whereabouts>& all, const Ranks& ranks) {
  if (ranks.size() == 1) return elsewhere(all[ranks[0]]);
  Ranks replied;
  for (std::int64_t r : ranks)
    if (all[r].replied) replied.push_back(r);
  if (replied.empty()) return "";
  if (replied.size() == ranks.size()) return " (they have replied)";
  return fmt::format(" ({} {} replied)", listed(replied), has(replied));
}

std::string line_of(std::size_t rank, const Whereabouts& w) {
  std::string text = fmt::format("rank {}", rank);
  if (!w.joined) return text + ": has not joined";
  text += fmt::format(", host {}, pid {}{}: ", w.host, w.pid, w.device.empty() ? "" : ", device " + w.device);
  if (!w.answers) return text + "does not answer";
  if (w.replied) return text + "has replied";
  if (w.inside) return text + "waits in " + w.at;
  return text + (w.at.empty() ? "has waited for nobody" : "has left " + w.at);
}

std::string not_entered(const std::vector<Whereabouts>& all, const Ranks& culprits, const Awaited& call) {
  return fmt::format("{} {} not entered {}{}; {}", named(all, culprits), has(culprits), call.at,
                     elsewhere(all, culprits), wait_in(call, "it"));
}

// Of those who all wait in one call or have replied. Who made no call, as one without a device, is waited for
// by nobody.
std::string in_one_call(const std::vector<Whereabouts>& all, const Awaited& call, Ranks& culprits) {
  const Ranks replied = those(all, [](const Whereabouts& w) { return w.replied; });
  if (replied.empty())
    return fmt::format("{} in {}", all.size() == 1 ? named(all, call.ranks) + " waits" : "all ranks wait",
                       call.at);
  culprits = those(all, [](const Whereabouts& w) { return w.replied && w.entered > 0; });
  if (!culprits.empty() && culprits.size() <= call.ranks.size()) return not_entered(all, culprits, call);
  culprits = call.ranks;
  return fmt::format(
      "{} {} not replied{}; {} {} replied", named(all, culprits), has(culprits),
      culprits.size() == 1 ? elsewhere(all[culprits[0]]) : fmt::format(" ({})", wait_in(call, call.at)),
      listed(replied), has(replied));
}

// Of those who wait in several, or have replied: the fewer where they are two, else nobody.
std::string in_several_calls(const std::vector<Whereabouts>& all, const std::vector<Awaited>& calls,
                             Ranks& culprits) {
  const Ranks replied = those(all, [](const Whereabouts& w) { return w.replied; });
  const auto [fewest, most] =
      std::ranges::minmax(calls, {}, [](const Awaited& call) { return call.ranks.size(); });
  if (calls.size() == 2 && replied.empty() && fewest.ranks.size() < most.ranks.size()) {
    culprits = fewest.ranks;
    return not_entered(all, culprits, most);
  }
  std::string text;
  for (const Awaited& call : calls) text += (text.empty() ? "" : "; ") + wait_in(call, call.at);
  return text + (replied.empty() ? "" : fmt::format("; {} {} replied", listed(replied), has(replied)));
}

std::string message(const std::vector<Whereabouts>& all, Ranks& culprits) {
  culprits = those(all, [](const Whereabouts& w) { return !w.joined; });
  if (!culprits.empty()) return not_joined(all);
  const std::vector<Awaited> calls = awaited(all);
  culprits = those(all, [](const Whereabouts& w) { return !w.answers; });
  if (!culprits.empty())
    return fmt::format("{} {} not answer{}", named(all, culprits), culprits.size() == 1 ? "does" : "do",
                       calls.empty() ? "" : "; " + wait_in(calls[0], calls[0].at));
  culprits = those(all, [](const Whereabouts& w) { return !w.replied && !w.inside; });
  if (calls.empty())
    return culprits.empty() ? "all ranks have replied"
                            : fmt::format("{} {} not replied, and {} for nobody", named(all, culprits),
                                          has(culprits), culprits.size() == 1 ? "waits" : "wait");
  if (!culprits.empty()) return not_entered(all, culprits, calls[0]);
  return calls.size() == 1 ? in_one_call(all, calls[0], culprits) : in_several_calls(all, calls, culprits);
}

}  // namespace

std::string not_joined(const std::vector<Whereabouts>& all) {
  const Ranks absent = those(all, [](const Whereabouts& w) { return !w.joined; });
  return absent.empty() ? "" : fmt::format("{} {} not joined", named(all, absent), has(absent));
}

std::string listed(const std::vector<std::int64_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last < i + 2) last = i;
    text += fmt::format("{}{}", i ? ", " : "", ranks[i]);
    if (last > i) text += fmt::format(" to {}", ranks[last]);
    i = last + 1;
  }
  return text;
}

Hang hang_of(const std::vector<Whereabouts>& all) {
  constexpr std::size_t most_lines = 64;
  Hang hang;
  hang.message = message(all, hang.ranks);
  // Whoever shows fewer shows those of whom it hangs.
  Ranks order = hang.ranks;
  for (std::int64_t r = 0; std::cmp_less(r, all.size()); ++r)
    if (!std::ranges::binary_search(hang.ranks, r)) order.push_back(r);
  for (std::int64_t r : std::span(order).first(std::min(order.size(), most_lines)))
    hang.processes.push_back(line_of(r, all[r]));
  return hang;
}

}  // namespace plumb::launch
