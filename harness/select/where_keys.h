// The keys of a condition: what a case has under each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// KEY RELATION VALUE: what a case has is compared with each value; one that fits is enough.
struct Comparison {
  std::string key, axis;  // axis: of the key "axis.NAME"
  std::string relation;   // = != < <= > >= ~ !~
  std::vector<std::string> values;
  std::vector<std::size_t> places{};  // where in the text each begins
};

// What a case has under the keys that look at it alone, in the order of the table: one word, words, or a
// number.
struct Trait {
  std::string_view key;
  std::vector<std::string> words;
  std::optional<std::int64_t> number;
  bool several = false;  // there may be several words, or none
};
std::vector<Trait> traits_of(const Case&);

std::string where_help(bool status);  // the keys as a table, with or without that of a record

// What a case has under a key. `key` is one of the table's.
bool is_number(const Comparison&);
std::optional<std::int64_t> number_of(const Comparison&, const Case&);  // none: an axis that the mesh lacks
std::vector<std::string> words_of(const Comparison&, const Case&);
void check_term(const Comparison&, std::string_view text, std::size_t at);

}  // namespace plumb
