#include "harness/waive/waiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* row =
    "wrong on jax@0.9.1 until 2027-01-31 for openxla/xla#40034: op=reshard axis.x>=2\n";

std::vector<Waiver> waivers(const std::string& text) {
  std::istringstream in(text);
  return read_waivers(in, "w");
}

std::string complaint(const std::string& text) {
  try {
    waivers(text);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

// The status after `text` on `day`, and what the waivers have to say at the end.
struct After {
  Status status;
  std::vector<std::string> said;
};

After after(const std::string& text, Status status, const char* day, const char* backend = "jax@0.9.1",
            const char* line = "on x=2: reshard f32[8@x] -> f32[8]", bool all_ran = true) {
  std::vector<Waiver> all = waivers(text);
  Record r;
  r.line = line;
  r.backend = backend;
  r.verdict.status = status;
  r.verdict.facts.push_back({status, "the fact", {}, {}});
  waive(all, parse_case(line), r, day);
  EXPECT_EQ(r.verdict.facts.back().text, "the fact");
  if (r.verdict.status == Status::waived) {
    EXPECT_THAT(r.verdict.facts.front().text, StartsWith(std::string(name(status)) + " until 2027-01-31: "));
  }
  return {r.verdict.status, complaints(all, day, all_ran)};
}

TEST(Waiver, ReplacesTheOneVerdictThatItNames) {
  EXPECT_EQ(after(row, Status::wrong, "2027-01-31").status, Status::waived);
  EXPECT_EQ(after(row, Status::diverged, "2027-01-31").status, Status::diverged);
  EXPECT_EQ(after(row, Status::pass, "2027-01-31").status, Status::pass);
  EXPECT_EQ(after(row, Status::wrong, "2027-01-31", "jax@0.9.1,partitioner=gspmd").status, Status::waived);
  EXPECT_EQ(after(row, Status::wrong, "2027-01-31", "jax@0.9.10").status, Status::wrong);
  EXPECT_EQ(after(row, Status::wrong, "2027-01-31", "local").status, Status::wrong);
  const auto of = [](const std::string& waived, const char* backend) {
    return after("wrong on " + waived + " until 2027-01-31 for b: op=reshard", Status::wrong, "2027-01-31", backend).status;
  };
  for (const char* waived : {"jax", "jax@0.9.1", "jax,style=explicit", "jax@0.9.1,style=explicit"}) {
    EXPECT_EQ(of(waived, "jax@0.9.1,style=explicit"), Status::waived) << waived;
    EXPECT_EQ(of(waived, "jaxy@0.9.1,style=explicit"), Status::wrong) << waived;
  }
  for (const char* waived : {"jax@0.9.1,style=explicit", "jax,style=explicit"})
    for (const char* other : {"jax@0.9.1", "jax@0.9.1,style=explicit,partitioner=gspmd"})
      EXPECT_EQ(of(waived, other), Status::wrong) << waived;
  EXPECT_EQ(of("./mine --fast", "./mine --fast"), Status::waived) << "a command";
  EXPECT_EQ(of("./mine", "./mine --fast"), Status::wrong) << "another command";
  EXPECT_EQ(after(row, Status::wrong, "2027-01-31", "jax@0.9.1", "on x=1: reshard f32[8@x] -> f32[8]").status,
            Status::wrong);
}

TEST(Waiver, FailsTheRunOnceItExpired) {
  const After late = after(row, Status::wrong, "2027-02-01");
  EXPECT_EQ(late.status, Status::wrong);
  EXPECT_THAT(late.said, ElementsAre(HasSubstr("w:1: this waiver expired on 2027-01-31")));
}

TEST(Waiver, FailsTheRunWhereItsCasesDidNotNeedIt) {
  EXPECT_THAT(after(row, Status::pass, "2026-11-21").said, ElementsAre(HasSubstr("is not needed")));
  EXPECT_THAT(after(row, Status::wrong, "2026-11-21").said, IsEmpty());
  EXPECT_THAT(after(row, Status::unsupported, "2026-11-21").said, IsEmpty()) << "its cases did not run";
  EXPECT_THAT(after(row, Status::pass, "2026-11-21", "local").said, IsEmpty()) << "its cases did not run";
  const char* line = "on x=2: reshard f32[8@x] -> f32[8]";
  EXPECT_THAT(after(row, Status::pass, "2026-11-21", "jax@0.9.1", line, false).said, IsEmpty()) << "others may need it";
  EXPECT_THAT(after(row, Status::pass, "2027-02-01", "jax@0.9.1", line, false).said, ElementsAre(HasSubstr("expired")));
}

// The example of the page beside this file.
TEST(Waiver, IsAsThePageShowsIt) {
  std::ifstream page(PLUMB_WAIVERS_PAGE);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  const std::string_view fence = "```waivers\n";
  const std::size_t begin = text.find(fence) + fence.size();
  const std::string example = text.substr(begin, text.find("```", begin) - begin);
  ASSERT_EQ(waivers(example).size(), 2) << text;
  EXPECT_EQ(
      after(example, Status::wrong, "2027-01-31", "jax@0.9.1,partitioner=gspmd,style=explicit",
            "on dp=2,tp=2: einsum bh,bf->hf f32[8@dp,4] f32[8@dp,4@tp] -> f32[4,4@tp]+dp -> f32[4,4@tp]")
          .status,
      Status::waived);
  EXPECT_EQ(after(example, Status::wasteful, "2027-01-31", "te@2.13.0",
                  "on fsdp=2,tp=2: einsum mk,kn->mn bf16[8@fsdp,8] bf16[8@fsdp,8@tp] -> f32[8,8]?")
                .status,
            Status::waived);
}

TEST(Waiver, EndsItsLinesAsAnyEditorDoes) {
  EXPECT_EQ(complaint("# mine\r\n\r\nwrong on a until 2027-01-31 for b: op=reshard\r\n"), "");
}

TEST(Waiver, SaysWhatIsWrongWithARow) {
  EXPECT_THAT(complaint("# a comment\n\nwrong on a\n"), HasSubstr("w:3: expected ': '"));
  EXPECT_THAT(complaint("pass on a until 2027-01-31 for b: op=reshard"), HasSubstr("expected a finding"));
  EXPECT_THAT(complaint("wrong in a until 2027-01-31 for b: op=reshard"), HasSubstr("expected 'on'"));
  EXPECT_THAT(complaint("wrong on a until 2027-02-30 for b: op=reshard"), HasSubstr("expected a date"));
  EXPECT_THAT(complaint("wrong on a until soon for b: op=reshard"), HasSubstr("expected a date"));
  EXPECT_THAT(complaint("wrong on a until 2027-01-31 for: op=reshard"), HasSubstr("for"));
  EXPECT_THAT(complaint("wrong on a until 2027-01-31 for b: "), HasSubstr("expected the cases"));
  EXPECT_THAT(complaint("wrong on a until 2027-01-31 for b: colour=red"), HasSubstr("no key 'colour'"));
  EXPECT_EQ(complaint(row), "");
}

// The caret is under the word, in the row as it was written.
TEST(Waiver, ShowsTheRowAsItWasWritten) {
  const std::string head = "wrong on a until 2027-01-31 for b";
  const auto shows = [&](const std::string& row, const std::string& word) {
    EXPECT_THAT(complaint(row), testing::EndsWith("\n  " + row + "\n  " + std::string(row.find(word), ' ') + "^")) << word;
  };
  shows("wrong on a until 2027-01-31 fro b: op=reshard", "fro");
  shows("wrong in a until 2027-01-31 for b: op=reshard", "in");
  shows("wrong on a until soon for b: op=reshard", "soon");
  shows("wrong on a unitl 2027-01-31 for b: op=reshard", "a unitl");
  shows(head + ": op=reshard status=wrong", "status");
  shows(head + ": op=reshard colour=red", "colour");
  shows(head + ": op=reshard devices=two", "two");
  shows(head + " c: op=reshard", " c:");
}

}  // namespace
}  // namespace plumb
