#include "reference/words/scan.h"

#include <charconv>

namespace plumb {

std::string_view Scan::name(std::string_view what) {
  if (done() || !is_letter(line[at])) fail("expected " + std::string(what));
  const std::size_t begin = at;
  while (!done() && (is_letter(line[at]) || is_digit(line[at]))) ++at;
  return line.substr(begin, at - begin);
}

std::int64_t Scan::number(std::string_view what) {
  std::int64_t value = 0;
  if (done() || !is_digit(line[at])) fail("expected " + std::string(what));
  const char *begin = line.data() + at, *end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(begin, end, value);
  if (error != std::errc()) fail("this number is too large");
  at = rest - line.data();
  return value;
}

}  // namespace plumb
