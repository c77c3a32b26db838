// Refusals, and the character that each points at, for tests: in a text '@' stands before it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

inline std::string message(const std::string& text) {
  try {
    parse(text, "m.txt");
    return "no error";
  } catch (const BadModule& error) {
    return error.what();
  }
}

// The text without the mark is refused with this message there.
inline void refused(std::string text, const std::string& want) {
  const std::size_t at = text.find('@');
  ASSERT_NE(at, text.npos) << text;
  text.erase(at, 1);
  const std::string before = text.substr(0, at);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t column = at - (before.rfind('\n') + 1) + 1;
  const std::string place = "m.txt:" + std::to_string(line) + ":" + std::to_string(column) + ": ";
  EXPECT_EQ(message(text).substr(0, message(text).find('\n')), place + want) << text;
}

// A line of a computation that has %a: f32[2,3] above, and a computation %f of two scalars.
inline std::string with(const std::string& line) {
  return "HloModule m\n\n%f (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  %y = f32[] "
         "parameter(1)\n"
         "  ROOT %s = f32[] add(%x, %y)\n}\n\n"
         "ENTRY %e {\n  %a = f32[2,3]{1,0} parameter(0)\n  " +
         line + "\n}\n";
}

using Table = std::vector<std::pair<std::string, std::string>>;

inline void refused_lines(const std::string& begin, const Table& table, const std::string& end = "") {
  for (const auto& [line, want] : table) refused(with(begin + line + end), want);
}

}  // namespace plumb::hlo
