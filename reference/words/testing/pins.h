// For tests: what is said of many things, pinned by digests. A file has a row for each: the digest, then the
// name.
//
// PLUMB_UPDATE_GOLDEN=1 writes the file anew: the rows that it has, or `drawn` ones where there is none.
// PLUMB_SAID=FOLDER writes all that is said into the folder, to be compared with what another build says.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "reference/words/fnv.h"

namespace plumb {

inline std::vector<std::string> pinned_rows(const std::string& path) {
  std::vector<std::string> rows;
  std::ifstream in(path);
  for (std::string row; std::getline(in, row);) rows.push_back(row);
  return rows;
}

using Names = std::function<std::vector<std::string>()>;
using SaidOf = std::function<std::string(const std::string& name)>;

// A row as it is today, and all that it is made from.
struct Today {
  std::string row, said;
};

// The rows of a file are what they are today, each made anew from what it names.
inline void expect_rows(const std::string& path, const Names& drawn,
                        const std::function<Today(const std::string& row)>& today) {
  constexpr std::size_t shown = 4000;
  const bool anew = std::getenv("PLUMB_UPDATE_GOLDEN");
  std::vector<std::string> rows = pinned_rows(path);
  if (rows.empty() && anew) rows = drawn();
  ASSERT_FALSE(rows.empty()) << path;
  const char* folder = std::getenv("PLUMB_SAID");
  std::ofstream all(folder ? folder / std::filesystem::path(path).filename()
                           : std::filesystem::path("/dev/null"));
  std::string file;
  for (const std::string& row : rows) {
    const Today is = today(row);
    all << is.row << "\n" << is.said << "\n";
    if (!anew) {
      EXPECT_EQ(is.row, row) << is.said.substr(0, shown) << "\nall of it: PLUMB_SAID=FOLDER";
    }
    file += is.row + "\n";
  }
  if (anew) std::ofstream(path) << file;
}

inline void expect_pinned(const std::string& path, const Names& drawn, const SaidOf& said_of) {
  constexpr std::size_t digits = 16;
  const auto rows = [&] {
    std::vector<std::string> found;
    for (const std::string& name : drawn()) found.push_back(std::string(digits + 1, ' ') + name);
    return found;
  };
  expect_rows(path, rows, [&](const std::string& row) {
    const std::string name = row.substr(digits + 1), said = said_of(name);
    return Today{fmt::format("{:0{}x} {}", fnv(said), digits, name), said};
  });
}

// "0", "1", ...: blocks of what is drawn, each from its number.
inline Names numbered(int n) {
  return [n] {
    std::vector<std::string> names;
    for (int i = 0; i < n; ++i) names.push_back(std::to_string(i));
    return names;
  };
}

}  // namespace plumb
