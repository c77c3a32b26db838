// What the first page says that a run prints is what it prints.
#include <gtest/gtest.h>

#include <regex>

#include "harness/command/tool.h"

namespace plumb {
namespace {

TEST(Readme, ItsFirstTableIsWhatTheSuiteSmokePrints) {
  const Folder folder;
  const Ran ran = run_tool(folder, "run --suite smoke --backend local --quiet");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto timeless = [](const std::string& text) {
    return std::regex_replace(text, std::regex(R"( in \d+\.\d s)"), "");
  };
  const std::string page = contents(PLUMB_README);
  const std::size_t begin = page.find("```\nsuite  ") + 4;
  EXPECT_EQ(timeless(page.substr(begin, page.find("```", begin) - begin)), timeless(ran.out));
}

}  // namespace
}  // namespace plumb
