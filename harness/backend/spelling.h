// Words as a user writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plumb {

// The words of a command as a shell would split it: blanks separate, quotes and backslashes protect.
// Throws BadInput on a quote that is not closed.
std::vector<std::string> split_words(std::string_view command);

// The candidate that `word` is probably a misspelling of: the nearest of those that at most a third of the
// letters of the longer word make different. Or "".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// The same behind a message: "; did you mean smoke?", or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace plumb
