#include "harness/trace/learnt.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "harness/trace/heard.h"
#include "harness/trace/sides.h"
#include "harness/trace/steps.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::int64_t most_parts = 64;
constexpr std::int64_t most_looked_through = std::int64_t{1} << 20;  // pairs of members, of all sides

// The parts that are anything.
std::uint64_t some_parts(const Case& c, const std::vector<std::int64_t>& some) {
  std::uint64_t all = 0;
  for (std::int64_t p = 0; p < parts(c.mesh, c.op.operands[0]); ++p)
    if (some.empty() || std::ranges::count(some, p) > 0) all |= std::uint64_t{1} << p;
  return all;
}

std::vector<TermsKnown> beginning(const Case& c, std::uint64_t some) {
  const Spec& from = c.op.operands[0];
  std::vector<TermsKnown> known;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    const std::uint64_t own = std::uint64_t{1} << part(c.mesh, from, d) & some;
    const std::int64_t n = elements(block(c.mesh, from, c.rule, d));
    known.push_back({own ? static_cast<double>(n) : 0, 0, own, n == elements(from) ? own : 0});
  }
  return known;
}

std::int64_t elements_of_both(const Slice& a, const Slice& b) {
  std::int64_t n = 1;
  for (std::size_t i = 0; i < a.size(); ++i) n *= both(a[i], b[i]).size();
  return n;
}

// Of a side of the mesh each block that it has, of a part that is anything, and each that it is due, once,
// for two of one layout are the same or apart; and what others begin with that it has not.
struct Side {
  std::vector<std::int64_t> devices;
  std::vector<std::pair<std::int64_t, Slice>> has;  // with its part
  std::vector<Slice> due;
  std::vector<TermsKnown> others;

  double at_hand() const {
    std::int64_t sum = 0;
    for (const auto& [part, own] : has)
      for (const Slice& slice : due) sum += elements_of_both(own, slice);
    return static_cast<double>(sum);
  }
};

std::vector<TermsKnown> beginning_beside(const Case& c, const Side& side, std::uint64_t some) {
  const Spec& from = c.op.operands[0];
  std::vector<TermsKnown> known = beginning(c, some);
  for (std::int64_t d = 0; d < std::ssize(known); ++d)
    if (std::ranges::count(side.has, std::pair(part(c.mesh, from, d), block(c.mesh, from, c.rule, d))) > 0)
      known[d].own = 0, known[d].parts = 0;
  for (std::int64_t d : side.devices) known[d].asked = true;
  return known;
}

Side side_of(const Case& c, const std::vector<std::int64_t>& devices, std::uint64_t some) {
  Side side{devices, {}, {}, {}};
  for (std::int64_t d : devices) {
    std::pair own(part(c.mesh, c.op.operands[0], d), block(c.mesh, c.op.operands[0], c.rule, d));
    if ((some >> own.first & 1) && std::ranges::count(side.has, own) == 0) side.has.push_back(std::move(own));
    Slice due = block(c.mesh, result(c), c.rule, d);
    if (std::ranges::count(side.due, due) == 0) side.due.push_back(std::move(due));
  }
  side.others = beginning_beside(c, side, some);
  return side;
}

const char* of_these(std::uint64_t some) { return terms(some) > 1 ? "terms" : "elements"; }

std::string side_lacks(const Side& side, double told, std::uint64_t some) {
  const double most = side.at_hand() + told;
  double needed = 0;
  for (const Slice& due : side.due) needed += static_cast<double>(elements(due)) * terms(some);
  if (most >= needed) return "";
  const bool alone = side.devices.size() == 1;
  return fmt::format("{}device {} can have learnt at most {:.0f} of the {:.0f} {} of its block{}",
                     alone ? "" : "the side of ", side.devices.front(), most, needed, of_these(some),
                     alone ? "" : "s");
}

std::string too_little(const Case& c, const std::vector<Telling>& all, const std::vector<Side>& sides,
                       std::uint64_t some) {
  std::vector<TermsKnown> known = beginning(c, some);
  std::vector<Beside> beside;
  for (const Side& side : sides) beside.push_back({side.others});
  const double told = told_by(all, known, beside);
  double lacked = 0;
  const Spec &from = c.op.operands[0], &to = result(c);
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    const Slice own = block(c.mesh, from, c.rule, d), due = block(c.mesh, to, c.rule, d);
    const double at_hand = known[d].own > 0 ? static_cast<double>(elements_of_both(own, due)) : 0;
    const double each = terms(some), needed = static_cast<double>(elements(due)) * each;
    lacked += std::max(0., needed - at_hand);
    if (at_hand + known[d].learnt < needed)
      return fmt::format("device {} can have learnt at most {:.0f} of the {:.0f} {} of its block", d,
                         at_hand + known[d].learnt, needed, of_these(some));
  }
  if (told < lacked)
    return fmt::format("all devices can have learnt at most {:.0f} of the {:.0f} {} that they lack", told,
                       lacked, of_these(some));
  std::string why;
  for (std::size_t s = 0; s < sides.size() && why.empty(); ++s)
    why = side_lacks(sides[s], beside[s].told, some);
  return why;
}

std::vector<std::int64_t> all_but(const Sets& sets, std::size_t one) {
  std::vector<std::int64_t> others;
  for (std::size_t s = 0; s < sets.size(); ++s)
    if (s != one) others.insert(others.end(), sets[s].begin(), sets[s].end());
  return others;
}

// The sides of the mesh, each device alone first, and all but one side of a division; none where there is too much to ask.
std::vector<Side> sides(const Case& c, const Trace& steps, const std::vector<Telling>& all,
                        std::uint64_t some) {
  std::int64_t work = devices(c.mesh);
  for (const Telling& h : all) {
    for (const auto& group : h.groups) work += std::ssize(group) * std::ssize(group);
    work += std::ssize(h.one.pairs);
  }
  Sets all_sides;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) all_sides.push_back({d});
  for (const Sets& sets : cuts(c.mesh, steps)) {
    std::ranges::copy_if(sets, std::back_inserter(all_sides),
                         [](const auto& side) { return side.size() > 1; });
    for (std::size_t s = 0; sets.size() > 2 && s < sets.size(); ++s) all_sides.push_back(all_but(sets, s));
  }
  if (std::ssize(all_sides) > most_looked_through / work) return {};
  std::vector<Side> found;
  for (const auto& side : all_sides) found.push_back(side_of(c, side, some));
  return found;
}

}  // namespace

std::string learnt_too_little(const Case& c, const Trace& trace, const std::vector<std::int64_t>& some) {
  if (!is_reshard(c) || result(c).free || parts(c.mesh, result(c)) > 1) return "";
  const Spec& from = c.op.operands[0];
  if (from.reduction != Reduce::sum || parts(c.mesh, from) > most_parts) return "";
  const Trace steps = written_out(c.mesh, trace);
  auto all = heard_in(c, steps);
  if (!all) return "";
  choose_roots(*all);
  const std::uint64_t anything = some_parts(c, some);
  const std::vector<Side> asked = sides(c, steps, *all, anything);
  std::string first;
  do {
    std::string why = too_little(c, *all, asked, anything);
    if (why.empty()) return "";
    if (first.empty()) first = std::move(why);
  } while (next_roots(*all));
  return first;
}

}  // namespace plumb
