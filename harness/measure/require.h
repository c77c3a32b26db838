// What a user demands of a figure.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace plumb {

// METRIC RELATION NUMBER, or NUMBER*limit:
//   busbw>=0.8*limit   median<=20us   algbw>10
struct Requirement {
  std::string metric, relation;  // >= <= > <
  double number = 0;
  bool of_limit = false;
  std::string text;
};
Requirement parse_requirement(std::string_view text);  // throws BadInput at the character

// The metrics that there are, with their units.
std::string metrics_help();

// What is known of a case, and what of it is demanded in words. Of a metric or a limit that it lacks a
// requirement says nothing.
struct Figured {
  std::map<std::string, double> metrics;
  std::map<std::string, double> limits;  // of the metrics that have one
};
enum class Met { yes, no, unsaid };
Met met(const Requirement&, const Figured&);
std::string unmet(const Requirement&, const Figured&);

}  // namespace plumb
