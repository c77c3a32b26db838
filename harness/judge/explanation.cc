#include "harness/judge/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "reference/meaning/resolve.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct Words {
  std::string_view code, words;  // axes and operand stand where they are named
};
constexpr Words of_codes[] = {
    {"sum_unfinished",    "the sum over {axes} is left unfinished"                                    },
    {"max_unfinished",    "the max over {axes} is left unfinished"                                    },
    {"min_unfinished",    "the min over {axes} is left unfinished"                                    },
    {"added_up",          "the parts are added up"                                                    },
    {"divided_by_all",    "the parts are divided by the number of all of them"                        },
    {"largest_taken",     "the largest part is taken"                                                 },
    {"smallest_taken",    "the smallest part is taken"                                                },
    {"scale_of_part",     "the {operand} operand has a scale for each part over {axes}"               },
    {"own_scale_for_all",
     "the {operand} operand has a scale for each part over {axes}, and a device takes its own for all"},
};

std::string sentence(const Cause& cause) {
  const std::string_view words = cause_words(cause.code);
  assert(!words.empty());
  return fmt::format(fmt::runtime(words), fmt::arg("axes", dotted(cause.axes)),
                     fmt::arg("operand", cause.operand == 0 ? "left" : "right"));
}

}  // namespace

std::string_view cause_words(std::string_view code) {
  const auto* own = std::ranges::find(of_codes, code, &Words::code);
  if (own != std::end(of_codes)) return own->words;
  const auto change = std::ranges::find(policy_changes(), code, &PolicyChange::name);
  return change == policy_changes().end() ? std::string_view() : change->words;
}

std::vector<std::string> cause_codes() {
  std::vector<std::string> codes;
  for (const Words& own : of_codes) codes.emplace_back(own.code);
  for (const PolicyChange& change : policy_changes()) codes.emplace_back(change.name);
  return codes;
}

std::string sentence(const std::vector<Explanation>& all) {
  std::string text;
  for (const Explanation& one : all) {
    text += text.empty() ? "" : "; or ";
    for (const Cause& cause : one.causes)
      text += (&cause == &one.causes.front() ? "" : ", ") + sentence(cause);
    if (!one.error.empty()) text += " (" + one.error + ")";
  }
  return text;
}

}  // namespace plumb
