// Why a result is not what is wanted, as data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plumb {

// One thing that was done otherwise. The codes are the names of what policies change
// (reference/meaning/resolve.h) and these, with what they say:
//   sum_unfinished, max_unfinished, ...   the sum over {axes} is left unfinished
//   added_up, largest_taken, ...          the parts are added up
//   divided_by_all                        the parts are divided by the number of all of them
//   scale_of_part                         the {operand} operand has a scale for each part over {axes}
//   own_scale_for_all                     the same, and a device takes its own for all
// It names no devices: what explains a result explains all of them.
struct Cause {
  std::string code;
  std::vector<std::string> axes{};  // of the mesh
  int operand = -1;                 // 0 left, 1 right; -1: of none
  bool operator==(const Cause&) const = default;
};

// All that was done otherwise, together; and what a resolver that did so would say where it has no layout.
struct Explanation {
  std::vector<Cause> causes;
  std::string error{};
  bool operator==(const Explanation&) const = default;
};

std::vector<std::string> cause_codes();  // as results/schema.json lists them

// What a code says, `{axes}` and `{operand}` where they stand; as the schema describes it.
std::string_view cause_words(std::string_view code);

// Of several explanations, each of which holds: "A, B; or C (error)".
std::string sentence(const std::vector<Explanation>&);

}  // namespace plumb
