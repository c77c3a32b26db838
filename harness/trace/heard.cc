#include "harness/trace/heard.h"

#include <bit>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "harness/trace/cost.h"
#include "harness/trace/steps.h"

namespace plumb {
namespace {

constexpr std::int64_t most_senders = 1024;

using Group = std::vector<std::int64_t>;

// The most terms that a value of one device tells another.
double in_a_value(const TermsKnown& from, const TermsKnown& to) { return terms(from.parts & ~to.whole); }

// The most that so many values of it tell, each no more terms than these.
double of_values(const TermsKnown& from, double values, double each) {
  return std::min({values * each, values + from.learnt, from.all()});
}

// What a member learns of the others of its group, or of one that is asked all that are.
double learns(const Telling& h, const Group& group, std::int64_t root, std::int64_t member,
              const std::vector<TermsKnown>& known) {
  const auto asked = std::ranges::count_if(group, [&](std::int64_t d) { return known[d].asked; });
  const double times = known[member].asked && !h.gives_alike() ? static_cast<double>(asked) : 1;
  const double values = times * h.values(static_cast<double>(group.size()));
  const double sent = h.one.kind == "all-gather" || h.sends_once() ? h.whole(h.one.in) : values;
  std::uint64_t parts = 0;
  double each = 0, learnt = 0;
  for (std::int64_t d : group) {
    if (d == member || (root >= 0 && d != root)) continue;
    parts |= known[d].parts, learnt += known[d].learnt;
    each += of_values(known[d], sent, in_a_value(known[d], known[member]));
  }
  const double most = values * terms(parts & ~known[member].whole);
  if (h.relays()) return most;
  return std::min({most, each, combines(h.one) ? each : values + learnt});
}

double in_a_value(const TermsKnown& from, const Group& to, const std::vector<TermsKnown>& known) {
  double most = 0;
  for (std::int64_t d : to) most = std::max(most, in_a_value(from, known[d]));
  return most;
}

// What all know, and what they know beside each device.
struct State {
  const std::vector<TermsKnown>& known;
  const std::vector<Beside>& beside;

  // The most that a member knows and another of its group does not.
  TermsKnown of(std::int64_t member, const Group& group) const {
    if (beside.empty()) return known[member];
    TermsKnown most;
    for (std::int64_t d : group) {
      const TermsKnown& here = beside[d].known[member];
      most.own = std::max(most.own, here.own), most.learnt = std::max(most.learnt, here.learnt);
      most.parts |= here.parts;
    }
    return most;
  }
};

// The most new terms in the values of a gather, those of each member and of all together: of a member's
// values the first tell all parts that it can have, and when they have told what it learnt, a term of its
// own.
double in_a_gather(const Telling& h, const Group& group, const State& state) {
  struct Run {
    double terms, values;
  };
  std::vector<Run> runs;
  for (std::int64_t d : group) {
    const TermsKnown from = state.of(d, group);
    const double most = in_a_value(from, group, state.known);
    if (most == 0) continue;
    const double all = from.all(), room = h.whole(h.one.in),
                 first = std::min({room, all / most, most > 1 ? from.learnt / (most - 1) : 0});
    runs.push_back({most, first});
    runs.push_back({1, std::min(room - first, all - most * first)});
  }
  std::ranges::sort(runs, std::greater(), &Run::terms);
  double room = h.whole(h.one.out), sum = 0;
  for (const Run& run : runs) {
    const double values = std::min(room, run.values);
    sum += run.terms * values, room -= values;
  }
  return sum;
}

// The most terms that the members learn together: a value of a gather tells each of the others, of an
// exchange one, who may be told what another is.
double told_together(const Telling& h, const Group& group, const State& state) {
  const auto others = static_cast<double>(group.size() - 1);
  if (h.relays()) return HUGE_VAL;
  if (h.tells_alike()) return others * in_a_gather(h, group, state);
  if (!h.sends_once()) return HUGE_VAL;
  double sum = 0;
  for (std::int64_t d : group) {
    const TermsKnown from = state.of(d, group);
    sum += others * of_values(from, h.whole(h.one.in) / others, in_a_value(from, group, state.known));
  }
  return sum;
}

// The most terms that all learn together; nobody by what those who are asked are told as well.
double take(const Telling& h, std::vector<TermsKnown>& known, const std::vector<Beside>& beside) {
  const std::vector<TermsKnown> before = known;
  double all = 0;
  for (std::size_t g = 0; g < h.groups.size(); ++g) {
    const Group& group = h.groups[g];
    const bool asks = std::ranges::any_of(group, [&](std::int64_t d) { return known[d].asked; });
    if (asks && h.gives_alike() && !h.relays()) continue;
    double sum = 0;
    for (std::int64_t d : group) {
      if (known[d].asked) continue;
      const double more = learns(h, group, h.root_of(g), d, before);
      known[d].learnt += more, sum += more;
      for (std::int64_t other : group) known[d].parts |= before[other].parts;
    }
    all += std::min(sum, told_together(h, group, {before, beside}));
  }
  for (const auto& [source, target] : h.one.pairs)
    if (source != target && !known[target].asked) {
      const double more = learns(h, {source, target}, -1, target, before);
      known[target].learnt += more, all += more;
      known[target].parts |= before[source].parts;
    }
  return all;
}

// The most terms that those who are asked are told.
double told_to_asked(const Telling& h, const std::vector<TermsKnown>& known) {
  double all = 0;
  const auto asked = [&](std::int64_t d) { return known[d].asked; };
  for (std::size_t g = 0; g < h.groups.size(); ++g)
    if (const auto one = std::ranges::find_if(h.groups[g], asked); one != h.groups[g].end())
      all += learns(h, h.groups[g], h.root_of(g), *one, known);
  for (const auto& [source, target] : h.one.pairs)
    if (asked(target)) all += learns(h, {source, target}, -1, target, known);
  return all;
}

// What values go by way of others: all parts that can come by them have come.
void relay(std::span<const Telling> loop, std::vector<TermsKnown>& known) {
  const auto add = [&](std::int64_t d, std::uint64_t parts) {
    if (known[d].asked) return false;
    const std::uint64_t before = std::exchange(known[d].parts, known[d].parts | parts);
    return known[d].parts != before;
  };
  for (bool more = true; more;) {
    more = false;
    for (const Telling& h : loop) {
      for (const Group& group : h.groups) {
        std::uint64_t all = 0;
        for (std::int64_t d : group) all |= known[d].parts;
        for (std::int64_t d : group) more |= add(d, all);
      }
      for (const auto& [source, target] : h.one.pairs) more |= add(target, known[source].parts);
    }
  }
}

}  // namespace

double terms(std::uint64_t parts) { return std::popcount(parts); }

std::optional<std::vector<Telling>> heard_in(const Case& c, const Trace& trace) {
  std::vector<Telling> all;
  for (const Collective& one : trace) {
    if (moved(c.mesh, one) == 0) continue;
    if (one.moved ? *one.moved < 0 : one.kind == "send" && one.out == 0) return std::nullopt;
    Telling& h = all.emplace_back(one, static_cast<double>(least_value(c, one)), groups_of(c.mesh, one));
    if (names_nobody(one)) {
      h.groups.assign(1, std::vector<std::int64_t>(devices(c.mesh)));
      std::iota(h.groups[0].begin(), h.groups[0].end(), 0);
    }
    std::erase_if(h.groups, [](const auto& group) { return group.size() < 2; });
  }
  return all;
}

void choose_roots(std::vector<Telling>& all) {
  std::int64_t readings = 1;
  for (const Telling& h : all)
    for (const auto& group : h.groups)
      if (h.broadcasts()) readings = std::min(most_senders + 1, readings * std::ssize(group));
  if (readings > most_senders) return;
  for (Telling& h : all)
    for (const auto& group : h.groups)
      if (h.broadcasts()) h.root.push_back(group.front());
}

bool next_roots(std::vector<Telling>& all) {
  for (Telling& h : all)
    for (std::size_t g = 0; g < h.root.size(); ++g) {
      const auto at = std::ranges::find(h.groups[g], h.root[g]) + 1;
      h.root[g] = at == h.groups[g].end() ? h.groups[g].front() : *at;
      if (at != h.groups[g].end()) return true;
    }
  return false;
}

double told_by(const std::vector<Telling>& all, std::vector<TermsKnown>& known, std::vector<Beside>& beside) {
  double told = 0;
  for (auto at = all.begin(); at != all.end();) {
    const auto loop = std::find_if_not(at, all.end(), [](const Telling& h) { return h.relays(); });
    const auto end = loop == at ? at + 1 : loop;
    relay({at, loop}, known);
    for (Beside& one : beside) relay({at, loop}, one.known);
    for (; at != end; ++at) {
      told += take(*at, known, beside);
      for (Beside& one : beside) one.told += told_to_asked(*at, one.known), take(*at, one.known, {});
    }
  }
  return told;
}

std::int64_t least_value(const Case& c, const Collective& one) {
  const auto least = std::min<std::int64_t>(format(c.wire).bytes, format(result(c).dtype).bytes);
  const auto dtype = dtype_named(one.dtype);
  return dtype && !format(*dtype).integer ? std::min<std::int64_t>(least, format(*dtype).bytes) : least;
}

}  // namespace plumb
