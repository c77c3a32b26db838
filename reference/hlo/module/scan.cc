#include "reference/hlo/module/scan.h"

#include <algorithm>
#include <charconv>

namespace plumb::hlo {
namespace {

constexpr std::size_t kWindow = 100;  // characters of a line shown in a message

bool of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

// Bytes that would end or colour a message are none of it.
std::string shown(std::string_view line) {
  std::string text(line);
  for (char& c : text)
    if (c < ' ' || c > '~') c = c == '\t' ? ' ' : '?';
  return text;
}

}  // namespace

std::string message_at(std::string_view file, std::string_view text, std::size_t at,
                       std::string_view message) {
  at = std::min(at, text.size());
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const std::size_t end = std::min(text.find('\n', at), text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  const std::size_t from = std::max(begin, at - std::min(at, kWindow * 2 / 3));
  return std::string(file) + ":" + std::to_string(line) + ":" + std::to_string(at - begin + 1) + ": " +
         shown(message) + "\n  " + shown(text.substr(from, std::min(end - from, kWindow))) + "\n  " +
         std::string(at - from, ' ') + "^";
}

// What is not there where the text ends is cut off.
void Scan::fail(std::string_view message, std::size_t where) const {
  const bool cut = (done() || at == begun) && at > 0 && text.find('\n', where) == text.npos;
  throw BadModule(
      message_at(file, text, where, (cut ? "the module is cut off: " : "") + std::string(message)));
}

void Scan::unsupported(const std::string& what, std::size_t where) {
  Unknown& entry = unknown.try_emplace(what, Unknown{where, 0}).first->second;
  ++entry.count;
}

void Scan::spaces() {
  for (;;) {
    if (take(" ") || take("\t")) continue;
    if (!next_is("/*")) return;
    const std::size_t end = text.find("*/", at);
    if (end == text.npos) fail("a comment without an end");
    at = end + 2;
  }
}

void Scan::blank() {
  do spaces();
  while (take("\n") || take("\r"));
}

void Scan::next_line() { at = std::min(text.find('\n', at), text.size() - 1) + 1; }

std::string_view Scan::word(std::string_view what) {
  const std::size_t begin = at;
  while (of_word(next())) ++at;
  if (at == begin) fail("expected " + std::string(what));
  return text.substr(begin, at - begin);
}

std::string_view Scan::letters() {
  const std::size_t begin = at;
  while (of_word(next()) && next() != '.') ++at;
  return text.substr(begin, at - begin);
}

std::int64_t Scan::number(std::string_view what) {
  std::int64_t n = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at, end, n);
  if (error == std::errc::result_out_of_range) fail("a number out of range");
  if (error != std::errc()) fail("expected " + std::string(what));
  at = static_cast<std::size_t>(stop - text.data());
  return n;
}

std::string Scan::quoted(std::string_view what) {
  if (!take("\"")) fail("expected " + std::string(what));
  const std::size_t begin = at;
  std::string value;
  for (; next() != '"'; ++at) {
    if (next() == '\\') ++at;
    if (done() || next() == '\n') fail("a string without an end", begin - 1);
    value += next();
  }
  ++at;
  return value;
}

std::string_view Scan::balanced(std::string_view stop) {
  const std::size_t begin = at;
  std::string open;
  for (; !done() && next() != '\n'; ++at) {
    const char c = next();
    if (c == '"') {
      quoted("a string");
      --at;
    } else if (c == '(' || c == '[' || c == '{') {
      open += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (!open.empty() && c == open.back()) {
      open.pop_back();
    } else if (open.empty() && stop.find(c) != stop.npos) {
      break;
    }
  }
  if (!open.empty()) fail("a bracket without an end", begin);
  return text.substr(begin, at - begin);
}

Integers Scan::numbers(char open, char close) {
  Integers list;
  expect(std::string_view(&open, 1));
  spaces();
  while (next() != close) {
    if (!list.empty()) expect(",");
    spaces();
    list.push_back(number("a number"));
    spaces();
  }
  ++at;
  return list;
}

}  // namespace plumb::hlo
