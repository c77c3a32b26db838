// For tests: whether collectives can have brought what is due, by trying, and without anything of
// harness/trace. Of small arrays and meshes: what each device knows of an element, which collectives bring it
// what, and how many elements there is room for in each. `to_the_letter` a collective leaves its members what
// it brings them and nothing else, and a sum is of what all have; else nothing is forgotten, and who adds up
// may add zeros: what cannot be then cannot be at all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace plumb::oracle {

enum class Answer { can, cannot, unknown };

using Atoms = std::uint32_t;        // a sum of these, a bit each
using Sums = std::set<Atoms>;       // of an element, that a device knows
using Knowing = std::vector<Sums>;  // of an element, by device
using Group = std::vector<int>;
using Usage = std::vector<int>;  // of each room, how many values are in it

constexpr int kMostTried = 6000, kMostWays = 1000, kMostAtoms = 24;
constexpr std::int64_t kMostCompared = std::int64_t{1} << 24;  // ways, of one question

// What a device can add up of what it knows: no atom twice.
inline Sums closed(const Sums& known) {
  Sums all = known;
  for (Atoms one : known) {
    const Sums before = all;
    for (Atoms other : before)
      if ((one & other) == 0) all.insert(one | other);
  }
  return all;
}

// What members make together: of each one value or a zero, to the letter of each that has one a value.
inline Sums together(const Group& group, const Knowing& known, bool to_the_letter = false) {
  Sums all{0};
  for (int d : group) {
    const Sums before = all, own = closed(known[d]);
    if (to_the_letter && !own.empty()) all.clear();
    for (Atoms one : own)
      for (Atoms other : before)
        if ((one & other) == 0) all.insert(one | other);
  }
  all.erase(0);
  return all;
}

enum class Kind { reduce, scatter, gather, exchange, permute };

// A collective, and where its rooms are among all: of each group, or of each member or pair.
struct Step {
  Kind kind;
  std::vector<Group> groups;  // of a permute each pair
  std::vector<std::vector<int>> room_of_member, room_to_member;
  std::vector<int> room_of_group;
};

struct Rooms {
  std::vector<Step> steps;
  std::vector<int> size;
  bool to_the_letter = false;

  int add(std::int64_t values) {
    size.push_back(static_cast<int>(std::min<std::int64_t>(values, 1 << 20)));
    return static_cast<int>(size.size()) - 1;
  }
};

// An element, as often as there are such: what devices begin with, and who is due it.
struct Kin {
  Knowing begin;
  std::vector<Group> due;  // each group makes it together
  int count = 0;

  bool operator<(const Kin& other) const { return std::tie(begin, due) < std::tie(other.begin, other.due); }
};

inline bool is_there(const Kin& kin, const Knowing& known, Atoms whole) {
  return std::ranges::all_of(kin.due,
                             [&](const Group& group) { return together(group, known).contains(whole); });
}

// One value that comes to members, and the rooms that it takes.
struct Delivery {
  Atoms value;
  std::vector<int> to, rooms;
  Group alone{};  // of which nobody else may have got one by the step
};

// The values that a step can deliver to somebody who does not know them, or to the letter to anybody.
inline std::vector<Delivery> deliveries(const Step& step, const Knowing& known, bool to_the_letter) {
  std::vector<Delivery> all;
  const auto offer = [&](Atoms value, std::vector<int> to, std::vector<int> rooms) {
    const auto knows = [&](int d) { return closed(known[d]).contains(value); };
    if (!to_the_letter && std::ranges::all_of(to, knows)) return;
    all.push_back({value, std::move(to), std::move(rooms)});
  };
  for (std::size_t g = 0; g < step.groups.size(); ++g) {
    const Group& group = step.groups[g];
    const int n = static_cast<int>(group.size());
    if (step.kind == Kind::reduce)
      for (Atoms value : together(group, known, to_the_letter)) offer(value, group, {step.room_of_group[g]});
    if (step.kind == Kind::scatter)
      for (Atoms value : together(group, known, to_the_letter))
        for (int i = 0; i < n; ++i) {
          offer(value, {group[i]}, {step.room_to_member[g][i]});
          if (to_the_letter) all.back().alone = group;
        }
    if (step.kind == Kind::gather)
      for (int i = 0; i < n; ++i)
        for (Atoms value : closed(known[group[i]]))
          offer(value, group, {step.room_of_member[g][i], step.room_of_group[g]});
    if (step.kind == Kind::exchange)
      for (int i = 0; i < n; ++i)
        for (Atoms value : closed(known[group[i]]))
          for (int k = 0; k < n; ++k)
            if (to_the_letter || k != i)
              offer(value, {group[k]}, {step.room_of_member[g][i], step.room_to_member[g][k]});
    if (step.kind == Kind::permute)
      for (Atoms value : closed(known[group[0]])) offer(value, {group[1]}, {step.room_of_group[g]});
  }
  return all;
}

inline void deliver(const Delivery& one, Knowing& known) {
  for (int d : one.to) known[d].insert(one.value);
}

// What members had is gone, of a permute what its targets had.
inline void forget(const Step& step, Knowing& known) {
  for (const Group& group : step.groups)
    for (int d : group)
      if (step.kind != Kind::permute || d == group.back()) known[d].clear();
}

// Whether it is there in the end if there is room for all.
inline bool has_hope(const Rooms& rooms, std::size_t step, const Kin& kin, Knowing known, Atoms whole) {
  for (; step < rooms.steps.size(); ++step) {
    Knowing next = known;
    for (const Delivery& one : deliveries(rooms.steps[step], known, false)) deliver(one, next);
    for (Sums& sums : next)
      if (sums.size() > 200) return true;
    known = std::move(next);
  }
  return is_there(kin, known, whole);
}

inline bool less_or_same(const Usage& a, const Usage& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] > b[i]) return false;
  return true;
}

inline bool keep_least(std::vector<Usage>& all, const Usage& one) {
  if (std::ranges::any_of(all, [&](const Usage& u) { return less_or_same(u, one); })) return false;
  std::erase_if(all, [&](const Usage& u) { return less_or_same(one, u); });
  all.push_back(one);
  return true;
}

// All ways to bring one element where it is due, but for those that take more room than others.
struct Ways {
  const Rooms& rooms;
  const Kin& kin;
  Atoms whole;
  std::int64_t& left;  // comparisons of ways
  std::vector<Usage> found{};
  int tried = 0;

  // `from` delivers what was known before it; those of one step from `at` on are still to be decided.
  void go(std::size_t step, const std::vector<Delivery>& all, std::size_t at, Knowing known, Usage used) {
    left -= 1 + std::ssize(found);
    if (++tried > kMostTried || left < 0) return;
    if (std::ranges::any_of(found, [&](const Usage& u) { return less_or_same(u, used); })) return;
    if (at == all.size()) {
      if (!has_hope(rooms, step + 1, kin, known, whole)) return;
      return begin(step + 1, std::move(known), std::move(used));
    }
    go(step, all, at + 1, known, used);
    for (int room : all[at].rooms)
      if (++used[room] > rooms.size[room]) return;
    if (std::ranges::all_of(all[at].to, [&](int d) { return closed(known[d]).contains(all[at].value); }))
      return;
    if (std::ranges::any_of(all[at].alone, [&](int d) { return !known[d].empty(); })) return;
    deliver(all[at], known);
    go(step, all, at + 1, std::move(known), std::move(used));
  }
  void begin(std::size_t step, Knowing known, Usage used) {
    const bool ends = step == rooms.steps.size();
    if ((ends || !rooms.to_the_letter) && is_there(kin, known, whole)) return void(keep_least(found, used));
    if (ends) return;
    const std::vector<Delivery> all = deliveries(rooms.steps[step], known, rooms.to_the_letter);
    if (rooms.to_the_letter) forget(rooms.steps[step], known);
    go(step, all, 0, std::move(known), std::move(used));
  }
};

inline Answer can_bring(const Rooms& rooms, const std::vector<Kin>& kins, Atoms whole, std::int64_t& left) {
  for (const Kin& kin : kins)
    if (!has_hope(rooms, 0, kin, kin.begin, whole)) return Answer::cannot;
  std::vector<Usage> totals{Usage(rooms.size.size())};
  for (const Kin& kin : kins) {
    Ways ways{rooms, kin, whole, left};
    ways.begin(0, kin.begin, Usage(rooms.size.size()));
    if (ways.tried > kMostTried || left < 0) return Answer::unknown;
    for (int i = 0; i < kin.count; ++i) {
      std::vector<Usage> next;
      for (const Usage& total : totals)
        for (const Usage& one : ways.found) {
          Usage sum = total;
          for (std::size_t r = 0; r < sum.size(); ++r) sum[r] += one[r];
          left -= 1 + std::ssize(next);
          if (less_or_same(sum, rooms.size)) keep_least(next, sum);
          if (next.size() > kMostWays || left < 0) return Answer::unknown;
        }
      totals = std::move(next);
      if (totals.empty()) return Answer::cannot;
    }
  }
  return Answer::can;
}

}  // namespace plumb::oracle
