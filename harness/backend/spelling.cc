#include <algorithm>
#include <numeric>

#include "harness/backend/resolve.h"
#include "reference/words/text.h"

namespace plumb {

namespace {

// The least number of letters to insert, delete or replace to make one word the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = word.size() / 2 + 1;  // half of the letters must be right
  for (const std::string& candidate : candidates)
    if (const std::size_t d = distance(word, candidate); d < least) least = d, best = candidate;
  return best;
}

std::vector<std::string> split_words(std::string_view command) {
  std::vector<std::string> words;
  bool inside = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == ' ' || c == '\t') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back(), inside = true;
    if (c == '\\' && i + 1 < command.size()) {
      words.back() += command[++i];
    } else if (c == '\'' || c == '"') {
      const std::size_t end = command.find(c, i + 1);
      if (end == std::string_view::npos) throw bad_input("this quote is not closed", command, i);
      words.back() += command.substr(i + 1, end - i - 1);
      i = end;
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace plumb
