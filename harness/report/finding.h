// A verdict in words.
#pragma once

#include <string>
#include <string_view>

#include "harness/record/record.h"
#include "harness/report/paint.h"

namespace plumb {

// The line, the verdict, its facts, and the command that repeats it:
//   wrong  liar,fault=drop  on x=2: reshard f32[8]+x -> f32[8]
//       2 of 2 devices, ...
//       again: plumb run --backend liar,fault=drop 'on x=2: reshard f32[8]+x -> f32[8]'
std::string describe(const Record&, const std::string& again, Paint);

// Its facts, what it said last and what its processes waited in, indented.
std::string in_detail(const Record&);

// The first line of what a program said last, which may be the check that failed, and the last six.
std::string last_lines(const std::string& words);
std::string said_last(const std::string& words);  // under a heading, indented; nothing where nothing was said

// The facts alone, a line each.
std::string facts(const Verdict&);

// The command that shows this verdict again, of the backend as it was asked for: with the limit that decided
// it, and no other.
std::string repeat(const Record&, const std::string& backend);

std::string shell_quoted(std::string_view);  // as it is where no shell would change it

}  // namespace plumb
