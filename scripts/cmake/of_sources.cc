// The tests of a room, or those of the sources that are named: words_tests dtype_test.cc --gtest_brief=1
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// A filter of GoogleTest: every test of these sources. Empty where one of them has none.
std::string tests_of(const std::vector<std::string_view>& sources) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::set<std::string_view> found;
  std::string filter;
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    std::string some;
    int n = 0;
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      const std::string_view source = file_name(test.file());
      if (std::ranges::find(sources, source) == sources.end()) continue;
      found.insert(source), ++n;
      some += std::string(suite.name()) + "." + test.name() + ":";
    }
    filter += n == suite.total_test_count() ? std::string(suite.name()) + ".*:" : some;
  }
  return found.size() == sources.size() ? filter : "";
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (argc > 1) {
    const std::string tests = tests_of({argv + 1, argv + argc});
    if (tests.empty()) {
      std::fputs("a source named here has no test in this program\n", stderr);
      return 2;
    }
    // What a filter leaves out stays out; what it asks for is not widened.
    std::string& filter = testing::GTEST_FLAG(filter);
    if (filter == "*") filter = tests;
    else if (filter.starts_with('-')) filter = tests + filter;
  }
  return RUN_ALL_TESTS();
}
