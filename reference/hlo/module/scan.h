// A cursor over the text of a module; private to the room.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// Something that the parser does not know, and how often it was met.
struct Unknown {
  std::size_t first = 0;
  std::int64_t count = 0;
};

struct Scan {
  std::string_view text;
  std::string_view file;
  std::size_t at = 0;
  std::map<std::string, Unknown> unknown{};    // by its kind and name: "opcode fft"
  std::size_t begun = std::string_view::npos;  // where the text ends within a word that was looked for

  [[noreturn]] void fail(std::string_view message, std::size_t where) const;
  [[noreturn]] void fail(std::string_view message) const { fail(message, at); }
  // Notes what is not known and goes on, so that all of it is named at once.
  void unsupported(const std::string& what, std::size_t where);

  bool done() const { return at == text.size(); }
  char next() const { return at < text.size() ? text[at] : '\0'; }
  bool next_is(std::string_view word) const { return text.substr(at).starts_with(word); }
  bool take(std::string_view word) {
    if (!next_is(word)) {
      if (text.size() - at < word.size() && word.starts_with(text.substr(at))) begun = at;
      return false;
    }
    at += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail("expected '" + std::string(word) + "'");
  }
  void spaces();     // on this line, comments included
  void blank();      // line ends too
  void next_line();  // to the first character of the next line

  std::string_view word(std::string_view what);      // [A-Za-z0-9_.-]+
  std::string_view letters();                        // [A-Za-z0-9_-]*, what an opcode or a key is made of
  std::int64_t number(std::string_view what);        // decimal, with a sign
  std::string quoted(std::string_view what);         // "..." with escapes
  std::string_view balanced(std::string_view stop);  // up to one of `stop` outside brackets and quotes

  // "{1,2,3}" or "{}", with any pair of brackets.
  Integers numbers(char open, char close);
};

// "FILE:12:34: message", the line (or a window of it) and a caret under the character.
std::string message_at(std::string_view file, std::string_view text, std::size_t at,
                       std::string_view message);

}  // namespace plumb::hlo
