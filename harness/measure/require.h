// What a user demands of a figure.
#pragma once

#include <string>
#include <string_view>

#include "harness/measure/figured.h"

namespace plumb {

// METRIC, RELATION and NUMBER or NUMBER*limit, blanks between them or none:
//   busbw>=0.8*limit   median <= 20   algbw>10
struct Requirement {
  std::string metric, relation;  // >= <= > <
  double number = 0;
  bool of_limit = false;
  std::string text;
};
Requirement parse_requirement(std::string_view text);  // throws BadInput at the character

// The metrics that there are, with their units; the unit of one of them.
std::string metrics_help();
std::string_view unit_of(std::string_view metric);

// Whether a limit is none: what is held to it is beyond it by more than 2 %, or may be.
bool may_be_beaten(std::string_view metric, const Ratio& share);

// A number and a share of a limit are judged by their whole intervals: what is yes at one end and no at the other
// nobody can say, nor what has none, and so it is where the limit may be beaten, or the median is below one step of the clock.
enum class Met { yes, no, unsure, no_limit, no_metric };
Met met(const Requirement&, const Figured&);
std::string unmet(const Requirement&, const Figured&);  // and why, of any but yes and no_metric

}  // namespace plumb
