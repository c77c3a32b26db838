// A user's own logical axis rules, and the parameters they are for, from files.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// Rules as frameworks are given them: a list of pairs in JSON, YAML or Python, alone or behind the key
// `logical_axis_rules`, `sharding_rules` or `rules` of a larger file; # comments. A value is a name, a list,
// a tuple, or None (null, ~).
//   [["embed", ["fsdp", "tp"]], ["mlp", "tp"], ["norm", null]]      logical_axis_rules: [ ['embed', 'fsdp'] ]
//   (("embed", ("fsdp", "tp")), ("mlp", "tp"))                      - [embed, fsdp]      (a line for each)
//                                                                   - - mlp              (and so within)
//                                                                     - tp
// Throws BadInput: origin, line, and a caret.
std::vector<AxisRule> read_rules(std::string_view text, const std::string& origin);

// The axes that the file lists behind the key `mesh_axes`, as MaxText's do; none where it has no such key.
std::vector<std::string> read_mesh_axes(std::string_view text, const std::string& origin);

// One parameter: `layers/mlp/kernel bf16[4096,14336] embed,mlp`.
struct Parameter {
  std::string path, dtype;
  std::vector<std::string> sizes;
  std::vector<std::string> names;  // "-" where a dimension has none
  std::string origin;              // "names.txt:3"
};

// One a line; names behind the array, with commas or spaces between, - or None for a dimension without one;
// empty lines and # comments are none. Throws BadInput: origin, line, and a caret.
std::vector<Parameter> read_names(std::istream&, const std::string& origin);

// The case that asks what the rules lay the parameter out as.
Case resolve_case(const Mesh&, const Parameter&, const std::vector<AxisRule>&);

}  // namespace plumb
