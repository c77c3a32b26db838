// Sizes that a line leaves open: f32[N@x] for N of a range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

// A name, and the numbers that it stands for.
struct SizeRange {
  std::string name;
  std::vector<std::int64_t> values;
};

// "N=1Ki:1Gi:4" is 1024, 4096, ... up to 2^30; "N=1Ki" that one. Ki, Mi and Gi are 2^10, 2^20 and 2^30.
// Throws BadInput at the character.
SizeRange parse_size(std::string_view text);

// The lines that a line with such names in its specs stands for, the last range fastest; itself where it has
// none of them. Throws BadInput: axes do not divide a dimension that was left open, for which a rate would
// mean nothing.
std::vector<std::string> with_sizes(std::string_view line, const std::vector<SizeRange>&);

// Whether a spec of the line has a dimension of this name.
bool leaves_open(std::string_view line, std::string_view name);

}  // namespace plumb
