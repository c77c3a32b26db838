#include "harness/judge/explanation.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/judge/verdict.h"
#include "reference/meaning/resolve.h"

namespace plumb {
namespace {

TEST(Explanation, IsASentence) {
  const struct {
    std::vector<Explanation> data;
    const char* words;
  } table[] = {
  // clang-format off
      {{}, ""},
      {{{{{"sum_unfinished", {"dp", "tp"}}}}}, "the sum over dp.tp is left unfinished"},
      {{{{{"max_unfinished", {"y"}}}}}, "the max over y is left unfinished"},
      {{{{{"divided_by_all"}}}}, "the parts are divided by the number of all of them"},
      {{{{{"scale_of_part", {"x"}, 0}, {"own_scale_for_all", {"y"}, 1}}}},
       "the left operand has a scale for each part over x, the right operand has a scale for each part over y, and a device takes its own for all"},
      {{{{{"last_rule"}, {"many_times"}}}, {{{"by_dimension"}}, "axis 'x' is given to two dimensions"}},
       "the last rule of a name wins, axes already given are given again; or dimensions choose in their order (axis 'x' is given to two dimensions)"},
  // clang-format on
  };
  for (const auto& [data, words] : table) {
    EXPECT_EQ(sentence(data), words);
    Fact explained = fact(Status::wrong, "4 elements");
    explain(explained, data);
    EXPECT_EQ(explained.cause, words);
    EXPECT_EQ(explained.explanations, data);
  }
}

TEST(Explanation, EveryCodeHasWordsOfItsOwn) {
  std::set<std::string> codes, sentences;
  for (const std::string& code : cause_codes()) {
    codes.insert(code);
    sentences.insert(sentence({Explanation{{{code, {"x"}, 0}}}}));
  }
  EXPECT_EQ(codes.size(), cause_codes().size());
  EXPECT_EQ(sentences.size(), codes.size());
}

// What a policy does otherwise reads as the policy does.
TEST(Explanation, APolicyIsWhatItChanges) {
  for (const Policy& policy : other_policies()) {
    if (changes(policy) > 2) break;
    Explanation all;
    for (const PolicyChange& change : policy_changes())
      if (policy.*change.flag) all.causes.push_back({std::string(change.name)});
    EXPECT_EQ(sentence({all}), policy_in_words(policy));
  }
}

}  // namespace
}  // namespace plumb
