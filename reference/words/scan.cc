#include "reference/words/scan.h"

#include <algorithm>
#include <charconv>

namespace plumb {
namespace {

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return letter(c) || digit(c); });
}

BadInput bad_input(std::string_view message, std::string_view line, std::size_t at) {
  // A long line is shown from a little before the character in question.
  constexpr std::size_t before = 60, shown = 150;
  std::size_t begin = line.size() > shown && at > before ? at - before : 0;
  while (begin > 0 && (line[begin] & 0xc0) == 0x80) --begin;
  const std::string_view window = line.substr(begin, shown);
  std::string text(message), caret;
  text += begin > 0 ? "\n  ..." : "\n  ";
  caret += begin > 0 ? "\n     " : "\n  ";
  for (char c : window) text += printable(c);
  for (char c : line.substr(begin, at - begin))
    if ((c & 0xc0) != 0x80) caret += ' ';
  return BadInput(text + caret + '^');
}

std::string_view Scan::name(std::string_view what) {
  if (done() || !letter(line[at])) fail("expected " + std::string(what));
  const std::size_t begin = at;
  while (!done() && (letter(line[at]) || digit(line[at]))) ++at;
  return line.substr(begin, at - begin);
}

std::int64_t Scan::number(std::string_view what) {
  std::int64_t value = 0;
  if (done() || !digit(line[at])) fail("expected " + std::string(what));
  const char *begin = line.data() + at, *end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(begin, end, value);
  if (error != std::errc()) fail("this number is too large");
  at = rest - line.data();
  return value;
}

}  // namespace plumb
