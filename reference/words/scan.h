// A cursor over one line of text; private to the words room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reference/words/text.h"

namespace plumb {

struct Scan {
  std::string_view line;
  std::size_t at = 0;

  [[noreturn]] void fail(std::string_view message, std::size_t where) const {
    throw bad_input(message, line, where);
  }
  [[noreturn]] void fail(std::string_view message) const { fail(message, at); }

  bool done() const { return at == line.size(); }
  bool next_is(std::string_view text) const { return line.substr(at).starts_with(text); }

  bool take(std::string_view text) {
    if (!next_is(text)) return false;
    at += text.size();
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) fail("expected '" + std::string(text) + "'");
  }
  void spaces() {
    while (take(" ")) {
    }
  }
  // At least one space, unless the line ends here.
  void gap() {
    if (!done() && !next_is(" ")) fail("expected a space");
    spaces();
  }

  std::string_view name(std::string_view what);  // [A-Za-z_][A-Za-z0-9_]*
  std::int64_t number(std::string_view what);    // decimal, at most 2^63 - 1
};

// A spec and where it stands in the line: its first character, each dimension, what follows ']', where a
// scheme is or would be.
struct Placed {
  Spec spec;
  std::size_t at = 0;
  std::vector<std::size_t> dims;
  std::size_t plus = 0, tilde = 0;
};

}  // namespace plumb
