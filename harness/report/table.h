// The tally as text.
#pragma once

#include <string>
#include <vector>

#include "harness/report/paint.h"
#include "harness/report/tally.h"

namespace plumb {

// A row for each suite and backend, a column for each status that occurs, a total where there is more
// than one row, and below what was unsupported, by reason.
std::string tally_table(const Tally&, Paint);

// "8464 cases in 5.1 s: 8460 pass, 4 wrong"
std::string summary(const Tally&, double seconds);

std::string short_number(double);  // in four digits at least

// "LINE  BACKEND"; where that is wider than a screen of 100 columns the backend has a line of its own.
std::string named_on(const std::string& line, const std::string& backend);

// Text in columns: the first `left` of them flush left, the others flush right.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t left);

// The same, where rows stand below a name that has a line to itself: beside it they would not fit a screen. `names`: of the
// columns.
struct Named {
  std::string name;
  std::vector<std::vector<std::string>> rows;
};
std::string columns_below(std::vector<std::string> names, const std::vector<Named>&, std::size_t left);

}  // namespace plumb
