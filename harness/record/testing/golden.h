// For tests: a text that must stay as it is.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace plumb {

inline std::string file_contents(const std::string& path) {
  std::ifstream in(path);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

// PLUMB_UPDATE_GOLDEN=1 writes the file anew; the difference is then for a person to read.
inline void expect_golden(const std::string& text, const std::string& path) {
  if (std::getenv("PLUMB_UPDATE_GOLDEN")) std::ofstream(path) << text;
  EXPECT_EQ(text, file_contents(path)) << path;
}

}  // namespace plumb
