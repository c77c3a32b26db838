// For tests: what a bad line is refused with.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reference/words/text.h"

namespace plumb {

// The message begins with `message`, and its last line is a caret below character `caret` of the line.
inline void expect_refused(const std::string& line, const std::string& message, std::size_t caret) {
  try {
    parse_case(line);
    ADD_FAILURE() << "accepted: " << line;
  } catch (const BadInput& error) {
    const std::string text = error.what();
    EXPECT_THAT(text, testing::StartsWith(message));
    EXPECT_EQ(text.substr(text.rfind('\n')), "\n  " + std::string(caret, ' ') + "^") << text;
  }
}

}  // namespace plumb
