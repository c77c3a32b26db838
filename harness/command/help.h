// What --help prints.
#pragma once

#include <string>
#include <string_view>

namespace plumb {

// The text with no line longer than `width`, but for a word that is: what goes on stands under the column of
// explanations where the line has one, else under the line's first word.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace plumb
