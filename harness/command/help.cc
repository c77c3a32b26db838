#include "harness/command/help.h"

#include <algorithm>

namespace plumb {
namespace {

// Where the explanation of an option begins: after two spaces that follow its name.
std::size_t column(std::string_view line) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", first);
  return gap == line.npos ? first : std::min(line.find_first_not_of(' ', gap), line.size());
}

std::string wrapped_line(std::string_view line, std::size_t width) {
  const std::string under(column(line), ' ');
  std::string text;
  while (line.size() + (text.empty() ? 0 : under.size()) > width) {
    const std::size_t begin = text.empty() ? under.size() : 0, room = width - (text.empty() ? 0 : under.size());
    std::size_t end = line.rfind(' ', room);
    if (end == line.npos || end <= begin) end = line.find(' ', std::max(begin, room));
    if (end == line.npos) break;
    text += (text.empty() ? "" : under) + std::string(line.substr(0, end)) + "\n";
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  }
  return text + (text.empty() ? "" : under) + std::string(line);
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    all += wrapped_line(text.substr(0, end), width);
    if (end < text.size()) all += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace plumb
