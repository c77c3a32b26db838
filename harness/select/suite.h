// Suites: files of rows that come with the tool.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/select/row.h"

namespace plumb {

struct Suite {
  std::string name;
  std::string what;  // the comment its file begins with
};
std::vector<Suite> suites();

// The rows of NAME, or of NAME:SIZES: its patterns alone, all of their cases, on another mesh.
//   reshard:2x3x5   every pattern of suite reshard on x=2,y=3,z=5
// Throws BadInput: no such suite.
std::vector<Row> suite_rows(std::string_view name);

}  // namespace plumb
