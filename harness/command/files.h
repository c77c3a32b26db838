// Texts that users name.
#pragma once

#include <istream>
#include <string>

namespace plumb {

// A text is no longer than this.
inline constexpr std::size_t longest_text = std::size_t{256} << 20;

// The text, without the byte order mark that some editors write first. Throws BadInput: it cannot be read, or
// is too long.
std::string read_text(std::istream&, const std::string& name);
std::string read_text(const std::string& path);

}  // namespace plumb
