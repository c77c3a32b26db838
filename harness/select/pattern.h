// A line that stands for many cases.
#pragma once

#include <string_view>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// The cases of one line on one mesh, counted like an odometer, the result fastest. A spec with a star
// is every layout of its array; a spec without one is itself.
//   f32[8,8]*     every finished layout         f32[8,8]+*    every layout, unfinished sums too
//   on x=2|3: ...   one pattern for each size
struct Pattern {
  Case like;
  std::vector<std::vector<Spec>> operands, chain;  // the choices for each spec
  bool acc = false, wire = false, fill = false;    // the line says them: they are no defaults
};

// Throws BadInput. A line without stars and bars gives one pattern of one case.
std::vector<Pattern> parse_pattern(std::string_view line);
bool is_pattern(std::string_view line);
Case parse_one(std::string_view line);  // of a line that is no pattern

std::int64_t count(const Pattern&);
Case nth(const Pattern&, std::int64_t n);  // 0 <= n < count

}  // namespace plumb
