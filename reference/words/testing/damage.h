// For tests: lines damaged at random.
#pragma once

#include <string>
#include <string_view>

#include "reference/words/testing/draw_case.h"

namespace plumb {

// `other` is a line of which it may get the end.
inline std::string damage(Random& random, std::string line, const std::string& other) {
  const std::string_view pieces[] = {"@",
                                     "+",
                                     "?",
                                     "+max(",
                                     "+avg(",
                                     ")",
                                     " of ",
                                     "-> ",
                                     "on ",
                                     " ids=",
                                     "nested",
                                     "~mxfp8",
                                     "sizes=",
                                     "/",
                                     ",",
                                     "[]",
                                     "0",
                                     "-1",
                                     "99999999999999999999",
                                     "seed=",
                                     "acc=",
                                     " ",
                                     "\n",
                                     "\xc3\xa9",
                                     "->",
                                     "f32",
                                     ".",
                                     "=",
                                     "[",
                                     "]",
                                     "4611686018427387904",
                                     std::string_view("\0", 1)};
  for (std::int64_t n = 1 + random.below(3); n > 0; --n) {
    const std::size_t at = random.below(std::ssize(line) + 1), length = random.below(8);
    switch (random.below(6)) {
      case 0:
        line.erase(at, length);
        break;
      case 1:
        line.insert(at, random.of(pieces));
        break;
      case 2:
        line.replace(at, 1, 1, static_cast<char>(random.below(256)));
        break;
      case 3:
        line.insert(at, line.substr(random.below(std::ssize(line) + 1), length));
        break;
      case 4:
        line = line.substr(0, at) + other.substr(random.below(std::ssize(other) + 1));
        break;
      default:
        if (at + 1 < line.size()) std::swap(line[at], line[at + 1]);
    }
  }
  return line;
}

}  // namespace plumb
