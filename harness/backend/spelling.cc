#include <algorithm>

#include "harness/backend/spelling.h"
#include "reference/words/text.h"

namespace plumb {

namespace {

// The least number of letters to insert, delete or replace, or of neighbours to swap, to make one word the
// other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      least[i][j] = std::max(i, j);
      if (i == 0 || j == 0) continue;
      least[i][j] =
          std::min({least[i - 1][j - 1] + (a[i - 1] != b[j - 1]), least[i][j - 1] + 1, least[i - 1][j] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  return least.back().back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = word.size() + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t d = distance(word, candidate), near = std::max(word.size(), candidate.size()) / 3;
    if (d <= near && d < least) least = d, best = candidate;
  }
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

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

}  // namespace plumb
