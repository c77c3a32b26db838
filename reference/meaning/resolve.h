// What logical axis rules lay an array out as.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// `first`, by which every resolver is judged, and what else a resolver might do: each flag changes one thing.
// README.md beside this file says `first` in words and its laws.
struct Policy {
  bool unit_axes_taken = false;    // an axis of size 1 is given once, as any other is
  bool unit_axes_dropped = false;  // an axis of size 1 is left out of a value, however often it stands there
  bool last_rule = false;          // the last rule of a name replaces those before it
  bool bare_names = false;         // where there are no rules, names are taken for axes of the mesh
  bool unknown_is_axis = false;    // a name without a rule is taken for an axis of the mesh
  bool many_times = false;         // axes already given are given again
  bool strays_dropped = false;     // an axis that the mesh lacks is left out
  bool names_repeat = false;       // a name may stand twice
  bool empty_passes = false;       // a value without axes does not end the search
  bool parts_of_tuples = false;    // of several axes, those still free are given
  bool by_dimension = false;       // the dimensions choose in their order, not the rules in theirs
  bool operator==(const Policy&) const = default;
};

// What a rule did, in the order in which they are tried.
struct Tried {
  enum What { given, taken, settled } what;  // taken: `axis` is; settled: the dimension is already
  std::size_t rule = 0, dim = 0;
  std::string axis;
};

// A layout, or why there is none.
struct Resolved {
  std::optional<Spec> spec;
  std::string error;  // one line; empty where there is a layout
  std::vector<Tried> tried;
};

Resolved resolved(const Case&, const Policy& = {});

// The same layout without the axes of size 1, which split nothing: what is shown of a layout by rules.
Spec without_unit_axes(const Mesh&, Spec);

// One thing that a policy may do otherwise than `first`.
struct PolicyChange {
  bool Policy::*flag;
  std::string_view name, words;  // "last_rule", "the last rule of a name wins"
};
std::span<const PolicyChange> policy_changes();

// A policy that is not `first` in words: "the last rule of a name wins, axes already given are given again".
std::string policy_in_words(const Policy&);

// How many things it does otherwise than `first`.
int changes(const Policy&);

// Every policy but `first`, those that change the fewest things first.
const std::vector<Policy>& other_policies();

}  // namespace plumb
