#include "harness/trace/learnt.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "harness/trace/cost.h"
#include "harness/trace/steps.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::int64_t most_parts = 64;
constexpr std::int64_t most_senders = 1024;

using Group = std::vector<std::int64_t>;

// The terms that a device knows: one of each element of its own block, and what it learnt; and the parts that
// can have come to it, a bit each. Of the part of which it has the whole array nobody tells it a term.
struct Known {
  double own = 0, learnt = 0;
  std::uint64_t parts = 0, whole = 0;

  double all() const { return own + learnt; }
};

double terms(std::uint64_t parts) { return std::popcount(parts); }

// The most terms that a value of one device tells another.
double in_a_value(const Known& from, const Known& to) { return terms(from.parts & ~to.whole); }

// The most that so many values of it tell, each no more terms than these.
double of_values(const Known& from, double values, double each) {
  return std::min({values * each, values + from.learnt, from.all()});
}

// A collective that moves something. Of a broadcast `root` is the member that sends in each group; -1 is any.
struct Heard {
  const Collective& one;
  double value;  // bytes
  std::vector<Group> groups;
  std::vector<std::int64_t> root;

  bool relays() const { return one.times > 1 || one.kind == "send"; }          // values go by way of others
  bool sends_once() const { return one.kind == "all-to-all" && !one.moved; }   // a value goes to one
  bool tells_alike() const { return one.kind == "all-gather" && !one.moved; }  // all members
  bool broadcasts() const { return one.kind == "collective-broadcast"; }

  // Of its bytes: no part of a value is sent.
  double whole(std::int64_t bytes) const { return std::floor(static_cast<double>(bytes) / value); }

  // That a member of a group of n receives. Who counted may keep what it likes of a block.
  double values(double n) const {
    const auto times = static_cast<double>(one.times);
    if (one.moved) {
      const auto all = static_cast<double>(*one.moved), out = static_cast<double>(one.out);
      return (one.kind == "send" ? all : std::min(all, out * times)) / value;
    }
    double all = whole(one.out);
    if (one.kind == "all-gather") all = std::min(all, (n - 1) * whole(one.in));
    if (one.kind == "all-to-all" && one.in == one.out) all -= std::floor(all / n);  // of few all
    return all * times;
  }
};

// What a member learns of the others of its group.
double learns(const Heard& h, const Group& group, std::int64_t root, std::int64_t member,
              const std::vector<Known>& known) {
  const double values = h.values(static_cast<double>(group.size()));
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

double in_a_value(const Known& from, const Group& to, const std::vector<Known>& known) {
  double most = 0;
  for (std::int64_t d : to) most = std::max(most, in_a_value(from, known[d]));
  return most;
}

// The most new terms in the values of a gather, those of each member and of all together: of a member's
// values the first tell all parts that it can have, and when they have told what it learnt, a term of its
// own.
double in_a_gather(const Heard& h, const Group& group, const std::vector<Known>& known) {
  struct Run {
    double terms, values;
  };
  std::vector<Run> runs;
  for (std::int64_t d : group) {
    const double most = in_a_value(known[d], group, known);
    if (most == 0) continue;
    const double all = known[d].all(), room = h.whole(h.one.in),
                 first = std::min({room, all / most, most > 1 ? known[d].learnt / (most - 1) : 0});
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
double told_together(const Heard& h, const Group& group, const std::vector<Known>& known) {
  const auto others = static_cast<double>(group.size() - 1);
  if (h.relays()) return HUGE_VAL;
  if (h.tells_alike()) return others * in_a_gather(h, group, known);
  if (!h.sends_once()) return HUGE_VAL;
  double sum = 0;
  for (std::int64_t d : group)
    sum += others * of_values(known[d], h.whole(h.one.in) / others, in_a_value(known[d], group, known));
  return sum;
}

// The parts that are anything.
std::uint64_t some_parts(const Case& c, const std::vector<std::int64_t>& some) {
  std::uint64_t all = 0;
  for (std::int64_t p = 0; p < parts(c.mesh, c.op.operands[0]); ++p)
    if (some.empty() || std::ranges::count(some, p) > 0) all |= std::uint64_t{1} << p;
  return all;
}

std::vector<Known> beginning(const Case& c, std::uint64_t some) {
  const Spec& from = c.op.operands[0];
  std::vector<Known> known;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    const std::uint64_t own = std::uint64_t{1} << part(c.mesh, from, d) & some;
    const std::int64_t n = elements(block(c.mesh, from, c.rule, d));
    known.push_back({own ? static_cast<double>(n) : 0, 0, own, n == elements(from) ? own : 0});
  }
  return known;
}

// The most terms that all learn together.
double take(const Heard& h, std::vector<Known>& known) {
  const std::vector<Known> before = known;
  double all = 0;
  for (std::size_t g = 0; g < h.groups.size(); ++g) {
    const Group& group = h.groups[g];
    double sum = 0;
    for (std::int64_t d : group) {
      const double more = learns(h, group, h.root.empty() ? -1 : h.root[g], d, before);
      known[d].learnt += more, sum += more;
      for (std::int64_t other : group) known[d].parts |= before[other].parts;
    }
    all += std::min(sum, told_together(h, group, before));
  }
  for (const auto& [source, target] : h.one.pairs)
    if (source != target) {
      const double more = learns(h, {source, target}, -1, target, before);
      known[target].learnt += more, all += more;
      known[target].parts |= before[source].parts;
    }
  return all;
}

// What values go by way of others: all parts that can come by them have come.
void relay(std::span<const Heard> loop, std::vector<Known>& known) {
  const auto add = [&](std::int64_t d, std::uint64_t parts) {
    const std::uint64_t before = std::exchange(known[d].parts, known[d].parts | parts);
    return known[d].parts != before;
  };
  for (bool more = true; more;) {
    more = false;
    for (const Heard& h : loop) {
      for (const Group& group : h.groups) {
        std::uint64_t all = 0;
        for (std::int64_t d : group) all |= known[d].parts;
        for (std::int64_t d : group) more |= add(d, all);
      }
      for (const auto& [source, target] : h.one.pairs) more |= add(target, known[source].parts);
    }
  }
}

// Nothing where nobody knows how much one of them moved.
std::optional<std::vector<Heard>> heard_in(const Case& c, const Trace& trace) {
  std::vector<Heard> all;
  for (const Collective& one : trace) {
    if (moved(c.mesh, one) == 0) continue;
    if (one.moved ? *one.moved < 0 : one.kind == "send" && one.out == 0) return std::nullopt;
    Heard& h = all.emplace_back(one, static_cast<double>(least_value(c, one)), groups_of(c.mesh, one));
    if (names_nobody(one)) {
      h.groups.assign(1, Group(devices(c.mesh)));
      std::iota(h.groups[0].begin(), h.groups[0].end(), 0);
    }
    std::erase_if(h.groups, [](const Group& group) { return group.size() < 2; });
  }
  return all;
}

// The first choice of who sends in each group of a broadcast; nobody in particular where there are too many.
void choose_roots(std::vector<Heard>& all) {
  std::int64_t readings = 1;
  for (const Heard& h : all)
    for (const Group& group : h.groups)
      if (h.broadcasts()) readings = std::min(most_senders + 1, readings * std::ssize(group));
  if (readings > most_senders) return;
  for (Heard& h : all)
    for (const Group& group : h.groups)
      if (h.broadcasts()) h.root.push_back(group.front());
}

// The next choice; false after the last.
bool next_roots(std::vector<Heard>& all) {
  for (Heard& h : all)
    for (std::size_t g = 0; g < h.root.size(); ++g) {
      const auto at = std::ranges::find(h.groups[g], h.root[g]) + 1;
      h.root[g] = at == h.groups[g].end() ? h.groups[g].front() : *at;
      if (at != h.groups[g].end()) return true;
    }
  return false;
}

std::string too_little(const Case& c, const std::vector<Heard>& all, std::uint64_t some) {
  std::vector<Known> known = beginning(c, some);
  double told = 0, lacked = 0;
  for (auto at = all.begin(); at != all.end();) {
    const auto loop = std::find_if_not(at, all.end(), [](const Heard& h) { return h.relays(); });
    const auto end = loop == at ? at + 1 : loop;
    relay({at, loop}, known);
    for (; at != end; ++at) told += take(*at, known);
  }
  const Spec &from = c.op.operands[0], &to = result(c);
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    const Slice own = block(c.mesh, from, c.rule, d), due = block(c.mesh, to, c.rule, d);
    double at_hand = known[d].own > 0 ? 1 : 0;
    for (std::size_t i = 0; i < due.size(); ++i) at_hand *= static_cast<double>(both(own[i], due[i]).size());
    const double each = terms(some), needed = static_cast<double>(elements(due)) * each;
    lacked += std::max(0., needed - at_hand);
    if (at_hand + known[d].learnt < needed)
      return fmt::format("device {} can have learnt at most {:.0f} of the {:.0f} {} of its block", d,
                         at_hand + known[d].learnt, needed, each > 1 ? "terms" : "elements");
  }
  if (told < lacked)
    return fmt::format("all devices can have learnt at most {:.0f} of the {:.0f} {} that they lack", told,
                       lacked, std::popcount(some) > 1 ? "terms" : "elements");
  return "";
}

}  // namespace

std::int64_t least_value(const Case& c, const Collective& one) {
  const auto least = std::min<std::int64_t>(format(c.wire).bytes, format(result(c).dtype).bytes);
  const auto dtype = dtype_named(one.dtype);
  return dtype && !format(*dtype).integer ? std::min<std::int64_t>(least, format(*dtype).bytes) : least;
}

std::string learnt_too_little(const Case& c, const Trace& trace, const std::vector<std::int64_t>& some) {
  if (!is_reshard(c) || result(c).free || parts(c.mesh, result(c)) > 1) return "";
  const Spec& from = c.op.operands[0];
  if (from.reduction != Reduce::sum || parts(c.mesh, from) > most_parts) return "";
  const Trace steps = written_out(c.mesh, trace);
  auto all = heard_in(c, steps);
  if (!all) return "";
  choose_roots(*all);
  std::string first;
  do {
    std::string why = too_little(c, *all, some_parts(c, some));
    if (why.empty()) return "";
    if (first.empty()) first = std::move(why);
  } while (next_roots(*all));
  return first;
}

}  // namespace plumb
