// Rows of suites, files and arguments.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "harness/select/sizes.h"

namespace plumb {

// A case or a pattern of cases, and what its row says of it:
//   size N from 1Ki to 1Mi by 4: on x=4: reshard f32[N@x] -> f32[N]
//   sample 200 seed 7: max-waste 1.5: on x=2,y=2: reshard f32[8,8]* -> f32[8,8]*  # upstream reference
struct Row {
  std::string line;
  std::string suite;        // what the table calls its cases
  std::string origin;       // "smoke.cases:12"; empty for an argument
  std::string note;         // the comment behind it
  std::int64_t sample = 0;  // how many of its cases; 0: all
  std::uint64_t seed = 0;
  std::vector<SizeRange> sizes{};  // that its line leaves open
  double max_waste = -1;           // a limit of bytes moved over the bound; negative: none
  double max_collectives = -1;     // a limit of collectives over those that groups allow; negative: none
};

// Nothing longer is read as a line: with ids it has room for a million devices.
inline constexpr std::size_t longest_line = std::size_t{16} << 20;

// Throws BadInput. `origin` is put before the message.
Row parse_row(std::string_view text, const std::string& suite, const std::string& origin);

// One row a line; empty lines and lines that begin with # are none.
std::vector<Row> read_rows(std::istream&, const std::string& name, const std::string& suite);

// The rows with their sizes put in: those that a user gives in the place of the row's own of that name.
// Throws BadInput, also where a size is given that no row leaves open.
std::vector<Row> sized(std::vector<Row>, const std::vector<SizeRange>& given);

// The comment a file begins with: what it is.
std::string heading(std::istream&);

}  // namespace plumb
