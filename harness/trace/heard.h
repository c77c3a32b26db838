// What members of collectives tell each other, counted in terms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// The terms that a device knows: one of each element of its own block, and what it learnt; and the parts that
// can have come to it, a bit each. Of the part of which it has the whole array nobody tells it a term.
// Who is asked what it is told, alone or with others, says nothing.
struct TermsKnown {
  double own = 0, learnt = 0;
  std::uint64_t parts = 0, whole = 0;
  bool asked = false;

  double all() const { return own + learnt; }
};

double terms(std::uint64_t parts);  // how many of the parts

// A collective that moves something. Of a broadcast `root` is the member that sends in each group; -1 is any.
struct Telling {
  const Collective& one;
  double value;  // bytes
  std::vector<std::vector<std::int64_t>> groups;
  std::vector<std::int64_t> root;

  bool relays() const { return one.times > 1 || one.kind == "send"; }          // values go by way of others
  bool sends_once() const { return one.kind == "all-to-all" && !one.moved; }   // a value goes to one
  bool tells_alike() const { return one.kind == "all-gather" && !one.moved; }  // all members
  bool broadcasts() const { return one.kind == "collective-broadcast"; }
  std::int64_t root_of(std::size_t group) const { return root.empty() ? -1 : root[group]; }
  bool gives_alike() const {  // all members the same
    const bool sums = one.kind == "all-reduce" && one.in == one.out;
    return tells_alike() || (!one.moved && (sums || broadcasts()));
  }

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

// Those that move anything; nothing where nobody knows how much one of them moved.
std::optional<std::vector<Telling>> heard_in(const Case&, const Trace&);

// The first choice of who sends in each group of a broadcast; nobody in particular where there are too many.
void choose_roots(std::vector<Telling>&);
bool next_roots(std::vector<Telling>&);  // false after the last

// What devices know that none of those knows who are asked, and what these were told.
struct Beside {
  std::vector<TermsKnown> known;
  double told = 0;
};

// The most terms that all learn together. The first that are asked are each device alone, or there are none.
double told_by(const std::vector<Telling>&, std::vector<TermsKnown>&, std::vector<Beside>&);

// Bytes of the narrowest value that a collective of a reshard may move, sums on the way too: no part of one
// is sent.
std::int64_t least_value(const Case& reshard, const Collective&);

}  // namespace plumb
