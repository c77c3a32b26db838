// The parameters that rules are for: their arrays, and the names of their dimensions.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

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
