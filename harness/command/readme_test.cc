// What pages say that a command prints is what it prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "harness/command/testing/tool.h"

namespace plumb {
namespace {

std::string page(const std::string& path) { return contents(PLUMB_PAGES "/" + path); }

// Between the first of these marks and the next of those.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  EXPECT_NE(begin, text.npos) << "the page has no " << from;
  return begin == text.npos ? "" : text.substr(begin, text.find(to, begin + from.size()) - begin);
}

// Lines may be folded anywhere.
std::string unfolded(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(Readme, ItsFirstTableIsWhatTheSuiteSmokePrints) {
  const Folder folder;
  const Ran ran = run_tool(folder, "run --suite smoke --backend local --quiet");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto timeless = [](const std::string& text) {
    return std::regex_replace(text, std::regex(R"( in \d+\.\d s)"), "");
  };
  EXPECT_EQ(timeless(between(page("README.md"), "suite  backend", "```")), timeless(ran.out));
}

TEST(Readme, ItsTableOfMeshesIsThatOfThePublishedRun) {
  const auto table = [](const std::string& path) { return between(page(path), "| case at dp=2 |", "\n\n"); };
  EXPECT_EQ(table("README.md"), table("results/bench/README.md"));
  EXPECT_GT(std::ranges::count(table("README.md"), '\n'), 3);
}

TEST(Readme, TheCertificateThatFillShowsIsWhatExplainPrints) {
  const Folder folder;
  const std::string line = "on x=2: einsum mk,kn->mn bf16[8,64@x] bf16[64@x,8] -> bf16[8,8]";
  const Ran ran = run_tool(folder, "explain '" + line + "'");
  const std::string shown = between(page("reference/fill/README.md"), line, "\n\n");
  EXPECT_EQ(unfolded(shown.substr(std::min(line.size(), shown.size()))),
            unfolded(between(ran.out, "this split:", "\n\n")));
}

TEST(Readme, TheTranscriptOfTheProtocolIsWhatTheExampleSays) {
  const Folder folder;
  setenv("PLUMB_TRANSCRIPT", (folder.path / "transcript").c_str(), 1);
  const Ran ran = run_tool(folder, "run --backend 'python3 " PLUMB_PAGES
                                   "/adapters/protocol/example.py' 'on x=2: reshard f32[4@x] -> f32[4]' "
                                   "'on x=2: reshard f32[4]+x -> f32[4]'");
  unsetenv("PLUMB_TRANSCRIPT");
  const auto nowhere = [](const std::string& text) {
    return std::regex_replace(unfolded(text), std::regex("/proc/[0-9]+/fd/[0-9]+"), "ARENA");
  };
  const std::string told = page("adapters/protocol/README.md");
  EXPECT_EQ(nowhere(between(told.substr(told.find("## Transcript")), "-> {", "\n\n")),
            nowhere(contents(folder.path / "transcript")))
      << ran.err;
}

}  // namespace
}  // namespace plumb
