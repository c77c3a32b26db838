// A user's own logical axis rules, from a file.
#pragma once

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

}  // namespace plumb
