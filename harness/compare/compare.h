// Two records, case by case.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/compare/change.h"
#include "harness/compare/kind.h"
#include "harness/compare/paced.h"
#include "harness/record/journal.h"

namespace plumb {

// What a run's own words say of a case of a backend: nobody says where the record has no run.
enum class Selected : std::uint8_t { yes, no, unrun, nobody_says };

struct Comparing {
  const Records& from;
  const Records& to;
  bool ignore_release = false;  // cases of any release of a framework, with the same options, are one
  std::function<Selected(const Record&)> selected;  // by `to`, of a case of `from`
};

// A case that both have or one of them; null: that one has none. It has the later's record where a file has
// several.
struct Transition {
  const Record *from = nullptr, *to = nullptr;
  Change change = Change::same;
  std::string why;  // where it is not compared
};
const Record& either(const Transition&);  // the new one where there is one

// Law: every case of either record is in one pair, and the numbers of the table add up to all of them.
struct Compared {
  std::vector<Transition> pairs;  // in the order of the new record, then what only the old one has
  std::map<std::pair<Status, Status>, std::int64_t> table;  // where both have it
  std::vector<std::string> versions;                        // "jax 0.9.1 -> 0.10.2", what differs
  std::vector<std::string> environment;                     // "cores 4, now 2", so of the machine
  std::vector<Paced> paced;
};
Compared compare_runs(const Comparing&);

std::int64_t count(const Compared&, Change);

// Those of a change by kind, the most frequent first, then by the alphabet: of the new record, and where it
// has none or no finding of the old; what is lost, by why it is unsupported now.
struct OfKind {
  Kind kind;
  std::vector<const Transition*> pairs;
};
std::vector<OfKind> by_kind(const Compared&, Change);

}  // namespace plumb
