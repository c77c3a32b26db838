// plumb compare, as a user runs it on two records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "adapters/protocol/json.h"
#include "harness/command/testing/tool.h"

namespace plumb {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Ran judged(const Folder& folder, const std::string& arguments) {
  return run_tool(folder, "run --quiet " + arguments);
}

// A record under another backend's name, as if one program had been mended or broken.
void renamed(const Folder& folder, const std::string& from, const std::string& to, const std::string& name) {
  std::string text = contents(folder.path / from);
  const std::string old = "liar,fault=drops-part";
  for (std::size_t at; (at = text.find('"' + old + '"')) != text.npos;)
    text.replace(at + 1, old.size(), name);
  write(folder.path / to, text);
}

TEST(CompareTool, TwoRunsOfOneBackendAreTheSame) {
  const Folder folder;
  for (const char* record : {"a.jsonl", "b.jsonl"})
    ASSERT_EQ(judged(folder, std::string("--suite smoke --backend local --record ") + record).code, 0);
  const Ran ran = run_tool(folder, "compare a.jsonl b.jsonl");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(" same\n"), Not(HasSubstr("regression")), Not(HasSubstr("vanished"))));
}

// Which lines came on standard input no record says, and nobody is asked for them again.
TEST(CompareTool, WhatStandardInputNamedIsNotAskedFor) {
  const Folder folder;
  const std::string line = "on x=2: reshard f32[8@x] -> f32[8]\n";
  ASSERT_EQ(run_tool(folder, "run --quiet --backend local --cases - --record a.jsonl", line).code, 0);
  const Ran ran = run_tool(folder, "compare a.jsonl a.jsonl", line);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("1 same"));
}

TEST(CompareTool, ARegressionIsToldByKindWithTheLineThatShowsIt) {
  const Folder folder;
  const std::string suite = "--suite smoke --where op=reshard ";
  ASSERT_EQ(judged(folder, suite + "--backend local --record good.jsonl").code, 0);
  ASSERT_EQ(judged(folder, suite + "--backend liar,fault=drops-part --record bad.jsonl").code, 1);
  renamed(folder, "bad.jsonl", "now.jsonl", "local");
  const Ran worse = run_tool(folder, "compare good.jsonl now.jsonl --junit j.xml");
  EXPECT_EQ(worse.code, 1);
  EXPECT_THAT(worse.out, AllOf(HasSubstr("\nregression: "), HasSubstr("pass -> wrong  local  on "),
                               HasSubstr("again: plumb run --backend local '"), HasSubstr(" regressions")));
  EXPECT_THAT(contents(folder.path / "j.xml"), HasSubstr("type=\"regression\""));
  EXPECT_EQ(run_tool(folder, "compare good.jsonl now.jsonl --fail-on none").code, 0);
  const Ran fixed = run_tool(folder, "compare now.jsonl good.jsonl --json");
  EXPECT_EQ(fixed.code, 0) << fixed.err;
  const auto told = parse_json(fixed.out);
  EXPECT_GT(told["counts"]["fixed"], 0);
  EXPECT_FALSE(told["counts"].contains("regression"));
  EXPECT_TRUE(told["findings"].empty()) << "of now, and nothing is wrong any more";
  const auto now = parse_json(run_tool(folder, "compare good.jsonl now.jsonl --json").out);
  std::int64_t findings = 0;
  for (const auto& kind : now["findings"]) {
    findings += kind["cases"].get<std::int64_t>();
    EXPECT_EQ(kind["lines"].size(), kind["cases"].get<std::size_t>());
    for (const auto& line : kind["lines"])
      EXPECT_LE(kind["smallest"].get<std::string>().size(), line.get<std::string>().size());
  }
  EXPECT_EQ(now["changes"].size(), 15u);
  for (const auto& cells : now["table"]) {
    const std::string change =
        now["changes"][cells["was"].get<std::string>()][cells["is"].get<std::string>()];
    EXPECT_EQ(change, cells["was"] == cells["is"] ? "same" : "regression");
  }
  EXPECT_EQ(findings, now["counts"]["regression"].get<std::int64_t>());
}

// Selected by the new run's own words and not there: a line taken out of the file.
TEST(CompareTool, WhatVanishedIsSeenAndASampleHidesNothing) {
  const Folder folder;
  ASSERT_EQ(judged(folder, "--suite smoke --backend local --record a.jsonl").code, 0);
  ASSERT_EQ(judged(folder, "--suite smoke --sample 5 --backend local --record five.jsonl").code, 0);
  const Ran sample = run_tool(folder, "compare a.jsonl five.jsonl");
  EXPECT_EQ(sample.code, 0) << sample.out;
  EXPECT_THAT(sample.out, AllOf(HasSubstr(": not selected now\n"), Not(HasSubstr("vanished"))));
  std::string text = contents(folder.path / "a.jsonl");
  const std::size_t second = text.find('\n') + 1, third = text.find('\n', second) + 1;
  write(folder.path / "b.jsonl", text.substr(0, second) + text.substr(third));
  const Ran vanished = run_tool(folder, "compare a.jsonl b.jsonl");
  EXPECT_EQ(vanished.code, 1);
  EXPECT_THAT(vanished.out, HasSubstr("\nvanished: 1 case of 1 kind\n"));
  write(folder.path / "c.jsonl", text.substr(third));  // and the run's first line too
  EXPECT_EQ(run_tool(folder, "compare a.jsonl c.jsonl").code, 2) << "its last line ends no run";
}

// As of a run: a waiver whose cases ran and did not need it is said, unless these were a sample.
TEST(CompareTool, AWaiverThatIsNotNeededAnyMoreIsSaid) {
  const Folder folder;
  const std::string suite = "--suite smoke --backend local --record ";
  ASSERT_EQ(judged(folder, suite + "a.jsonl").code, 0);
  ASSERT_EQ(judged(folder, suite + "sample.jsonl --sample 40").code, 0);
  const std::string row = "wrong on local until 2999-12-31 for an/issue: op=reshard";
  write(folder.path / "waivers", row + "\n");
  const Ran ran = run_tool(folder, "compare a.jsonl a.jsonl --waivers waivers");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("waivers:1: ")) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("none was wrong: the waiver is not needed"));
  const auto said = parse_json(run_tool(folder, "compare a.jsonl a.jsonl --waivers waivers --json").out)["waivers"][0];
  EXPECT_EQ(said["row"], row);
  EXPECT_EQ(said["until"], "2999-12-31");
  EXPECT_THAT(std::string(said["said"]), HasSubstr("not needed"));
  EXPECT_EQ(run_tool(folder, "compare a.jsonl sample.jsonl --waivers waivers").code, 0) << "others may need it";
}

TEST(CompareTool, WhatARunDidNotComeToIsNotCompared) {
  const Folder folder;
  const std::string run = "'on x=2,y=2,z=2: reshard f32[4,4]+* -> f32[4,4]+*' --backend local --record ";
  ASSERT_EQ(judged(folder, run + "whole.jsonl").code, 0);
  ASSERT_EQ(judged(folder, run + "part.jsonl --budget 0.05s").code, 0);
  const Ran ran = run_tool(folder, "compare whole.jsonl part.jsonl");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(": the new run did not come to it\n"), Not(HasSubstr("vanished"))));
}

TEST(CompareTool, SaysWhatIsWrongWithWhatItIsGiven) {
  const Folder folder;
  ASSERT_EQ(judged(folder, "--suite smoke --where op=reshard --backend local --record a.jsonl").code, 0);
  ASSERT_EQ(judged(folder, "--suite smoke --where op=einsum --backend local --record b.jsonl").code, 0);
  ASSERT_EQ(judged(folder, "--suite smoke --where op=reshard --backend local,plan=ring --record ring.jsonl").code, 0);
  write(folder.path / "empty.jsonl", "");
  write(folder.path / "a.jsonl.xz", "\xFD" "7zXZ");
  for (const char* release : {"1", "2"})
    write(folder.path / (std::string(release) + ".jsonl"),
          std::regex_replace(contents(folder.path / "a.jsonl"), std::regex("\"local\""), "\"jax@" + std::string(release) + "\""));
  const std::tuple<const char*, const char*, int> table[] = {
      {"compare a.jsonl",                                "NEW is required",                                           2},
      {"compare a.jsonl missing.jsonl",                  "missing.jsonl: No such file or directory; expected a record", 2},
      {"compare . a.jsonl",                              ".: Is a directory; expected a record",                      2},
      {"compare a.jsonl empty.jsonl",                    "empty.jsonl has no records",                                2},
      {"compare a.jsonl b.jsonl",                        "nothing was compared: no case is in both; they are of other cases\n", 2},
      {"compare a.jsonl ring.jsonl",                     "no case is in both; one is of local, the other of local,plan=ring\n", 2},
      {"compare 1.jsonl 2.jsonl",                        "no case is in both; of two releases of one framework say --ignore-release\n", 2},
      {"compare a.jsonl.xz b.jsonl",                     "a.jsonl.xz: this is compressed; xz -dk 'a.jsonl.xz' makes the record\n", 2},
      {"compare a.jsonl a.jsonl --fail-on regresion",    "; did you mean regression?\n",                              2},
      {"compare a.jsonl a.jsonl --fail-on worse,better", "--fail-on: there is no change 'better', only same,",
       2                                                                                                               },
      {"compare a.jsonl a.jsonl --waivers missing.txt",  "missing.txt: No such file",                                 2},
      {"compare a.jsonl a.jsonl --junit missing/j.xml",  "missing/j.xml: No such file",                               2},
  };
  for (const auto& [arguments, message, code] : table) {
    const Ran ran = run_tool(folder, arguments);
    EXPECT_EQ(ran.code, code) << arguments << "\n" << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(message)) << arguments;
  }
}

}  // namespace
}  // namespace plumb
