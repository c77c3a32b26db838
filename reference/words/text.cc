#include "reference/words/text.h"

#include <algorithm>

namespace plumb {

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

namespace {

// Bytes of the UTF-8 character at the beginning that a terminal would act on, not show; else 0.
std::size_t acts(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) <= 0x9f) return 2;
  if (byte(0) != 0xe2) return 0;
  const bool turns = byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae;     // U+202A to U+202E
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;  // U+2066 to U+2069
  return turns || isolates ? 3 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t bytes = acts(text);
    shown += bytes > 0 ? ' ' : text[0] == '\n' ? '\n' : printable(text[0]);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
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

std::string without_excerpt(const std::exception& error) {
  const std::string_view said = error.what();
  return std::string(said.substr(0, said.find('\n')));
}

}  // namespace plumb
