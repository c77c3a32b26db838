#include "adapters/launch/hang.h"

#include <fmt/format.h>

#include <functional>
#include <map>

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

// The call in which most wait, of those with as many the first.
std::string awaited(const std::vector<Whereabouts>& all) {
  std::map<std::string, int> waiting;
  std::string most;
  for (const Whereabouts& w : all)
    if (w.answers && w.inside) ++waiting[w.at];
  for (const auto& [call, n] : waiting)
    if (most.empty() || n > waiting[most]) most = call;
  return most;
}

std::string others_wait(const Ranks& waiting, const std::string& call) {
  if (waiting.empty()) return "";
  return fmt::format("; {} {} in {}", listed(waiting), waiting.size() == 1 ? "waits" : "wait", call);
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

// Whether those who wait are the odd ones: the others have replied, and more of them than wait were in a
// call.
bool enough_have_replied(const std::vector<Whereabouts>& all, std::size_t waiting) {
  std::size_t replied = 0;
  for (const Whereabouts& w : all) {
    if (!w.replied && !w.inside) return false;
    replied += w.replied && w.entered > 0;
  }
  return replied > waiting;
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

std::string message(const std::vector<Whereabouts>& all, Ranks& culprits) {
  culprits = those(all, [](const Whereabouts& w) { return !w.joined; });
  if (!culprits.empty()) return fmt::format("{} {} not joined", named(all, culprits), has(culprits));
  const std::string call = awaited(all);
  const Ranks waiting =
      those(all, [&](const Whereabouts& w) { return w.answers && w.inside && w.at == call; });
  culprits = those(all, [](const Whereabouts& w) { return !w.answers; });
  if (!culprits.empty())
    return fmt::format("{} {} not answer{}", named(all, culprits), culprits.size() == 1 ? "does" : "do",
                       others_wait(waiting, call));
  if (enough_have_replied(all, waiting.size())) {
    culprits = those(all, [](const Whereabouts& w) { return !w.replied; });
    const Ranks replied = those(all, [](const Whereabouts& w) { return w.replied; });
    return fmt::format("{} {} not replied{}; {} have replied", named(all, culprits), has(culprits),
                       culprits.size() == 1 ? elsewhere(all[culprits[0]])
                                            : fmt::format(" ({} {} in {})", listed(waiting),
                                                          waiting.size() == 1 ? "waits" : "wait", call),
                       listed(replied));
  }
  if (!waiting.empty()) {
    culprits = those(all, [&](const Whereabouts& w) { return !w.inside || w.at != call; });
    const Ranks at_work = those(all, [&](const Whereabouts& w) {
      return (!w.inside || w.at != call) && !(w.replied && w.entered == 0);
    });
    if (!at_work.empty()) culprits = at_work;
    if (culprits.empty())
      return fmt::format("{} in {}", all.size() == 1 ? named(all, waiting) + " waits" : "all ranks wait",
                         call);
    return fmt::format("{} {} not entered {}{}{}", named(all, culprits), has(culprits), call,
                       elsewhere(all, culprits), others_wait(waiting, "it"));
  }
  culprits = those(all, [](const Whereabouts& w) { return !w.replied; });
  if (culprits.empty()) return "all ranks have replied";
  return fmt::format("{} {} not replied, and {} for nobody", named(all, culprits), has(culprits),
                     culprits.size() == 1 ? "waits" : "wait");
}

}  // namespace

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
  for (std::size_t r = 0; r < all.size() && r < most_lines; ++r) hang.processes.push_back(line_of(r, all[r]));
  return hang;
}

}  // namespace plumb::launch
