// What plumb bench refuses, and what it cannot say. No time is measured here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "harness/command/testing/timed.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Bench, WhatIsHeldToALimitThatNobodyKnowsIsUnjudged) {
  const Folder folder;
  const std::string timed = fake("took 1000,1024") + line;
  const std::pair<const char*, const char*> rows[] = {
      {"busbw>=0.8*limit",  "nobody knows a limit of it: required is busbw>=0.8*limit"              },
      {"median<=1.1*limit", "nobody knows a limit of it: required is median<=1.1*limit"             },
      {"gflops>=1",         "unjudged  gflops>=1: no case that was timed has such a metric"         },
  };
  for (const auto& [demand, says] : rows) {
    const Ran ran = run_tool(folder, timed + fmt::format(" --require '{}'", demand));
    EXPECT_EQ(ran.code, 1) << demand;
    EXPECT_THAT(ran.out, HasSubstr(says)) << demand;
  }
  EXPECT_THAT(run_tool(folder, timed + " --require 'median<=1.1*limit'").out, HasSubstr("required is median<=1.1*limit; rank 1 was the slowest"));
  const Ran few = run_tool(
      folder, fake("took 1000,1024 sends 1024") + line + " --repetitions 3 --require 'busbw>=0.1*limit'");
  EXPECT_EQ(few.code, 1);
  EXPECT_THAT(few.out, HasSubstr("UNSURE"));
  EXPECT_THAT(few.out, HasSubstr("with fewer than four repetitions: required is busbw>=0.1*limit"));
}

TEST(Bench, WhatCannotBeMeantIsSaidBeforeAnythingIsTimed) {
  const Folder folder;
  const std::string open = "'on x=2: reshard f32[N@x] -> f32[N]' ";
  run_tool(folder, "run --backend local --record judged.jsonl " + line);
  const std::pair<std::string, const char*> rows[] = {
      {line + " --iterations 0",               "--iterations"                             },
      {line + " --repetitions 0",              "--repetitions"                            },
      {line + " --batch 0",                    "--batch"                                  },
      {line + " --budget 0",                   "--budget"                                 },
      {line + " --sync window --warmups 0",    "takes its width from the warm-ups"        },
      {line + " --require 'busbw>=fast'",      "--require"                                },
      {line + " --require 'p95<=2*limit'",     "p95 has no limit, which are of busbw"     },
      {line + " --links 0/1",                  "--links: expected 1/1"                    },
      {line + " --links 2/4",                  "--links: expected 1/1"                    },
      {line + " --clock --links 1/1",          "--links says nothing to --clock"          },
      {line + " --clock --soak 1s",            "--soak says nothing to --clock"           },
      {line + " --clock",                      "--record says nothing to --clock"         },
      {line + " --links 1/1 --soak 1s",        "--soak says nothing to --links"           },
      {line + " --links 1/1 --iterations 3",   "--iterations says nothing to --links"     },
      {line + " --links 1/1 --against r",      "--against says nothing to --links"        },
      {line + " --soak 1s --require 'p99<=1'", "--require says nothing to --soak"         },
      {line + " --soak 1s --against r",        "--against says nothing to --soak"         },
      {line + " --soak 1s --iterations 3",     "--iterations says nothing to --soak"      },
      {line + " --soak 1s --batch 2",          "--batch says nothing to --soak"           },
      {line + " --soak 1s --sync none",        "--sync says nothing to --soak"            },
      {line + " --soak 99999999999h",          "--soak: no clock counts so far"           },
      {line + " --require 'busbw>=inf'",       "expected a number"                        },
      {line + " --benchmark_filter '('",       "--benchmark_filter: no regular expression"},
      {line + " --benchmark_out_format csv",   "says nothing without --benchmark_out"     },
      {open + "--size N=4 --size N=8",         "--size N: given twice"                    },
      {line + " --soak soon",                  "--soak: expected a time such as 90s"      },
      {open + "--size N=many",                 "expected a size such as 4096 or 4Ki"      },
      {open + "--size N=9999999999Gi",         "this size is too large"                   },
      {open + "--size N=99999999999999999999", "this size is too large"                   },
      {open + "--size N=3",                    "3 is not divided evenly by its axes"      },
      {open + "--size N=8:4:2",                "a range ends no lower than it begins"     },
      {open + "--size M=8",                    "M"                                        },
      {line + " --against /nowhere",           "/nowhere: No such file or directory"      },
      {line + " --against judged.jsonl",       "judged.jsonl holds no times: plumb bench" },
      {line + " --resume",                     "--resume needs the --record to go on with"},
  };
  for (const auto& [arguments, says] : rows) {
    const bool resumes = arguments.find("--resume") != arguments.npos;
    const Ran ran =
        run_tool(folder, fake("took 1000,1000") + arguments + (resumes ? "" : " --record r.jsonl"));
    EXPECT_EQ(ran.code, 2) << arguments << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(says)) << arguments;
    EXPECT_FALSE(std::filesystem::remove(folder.path / "r.jsonl")) << arguments;
  }
}

TEST(Bench, WhatIsTooLargeHereIsUnrunAsInRunAndTheOthersAreTimed) {
  const Folder folder;
  const std::string too_large = " 'on x=2: reshard f32[1099511627776@x] -> f32[1099511627776]'";
  for (const std::string& others : {std::string(), line}) {
    const Ran ran = run_tool(folder, fake("took 1000,1000") + others + too_large + " --record r.jsonl");
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("plumb: unrun: too large here: this case would hold")) << ran.err;
    EXPECT_EQ(ran.out.find("times us") == ran.out.npos, others.empty()) << ran.out;
    EXPECT_THAT(contents(folder.path / "r.jsonl"), HasSubstr("\"unrun\":1"));
    EXPECT_EQ(run_tool(folder, "run --backend local" + others + too_large).code, 2);
    std::filesystem::remove(folder.path / "r.jsonl");
  }
  for (const char* asked : {" --clock", " --links 1/1", " --soak 1s"}) {
    const Ran ran = run_tool(folder, fake("took 1000,1000") + too_large + asked);
    EXPECT_EQ(ran.code, 2) << asked << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("plumb: unrun: too large here")) << asked;
  }
}

// Before its first line the record has only the run's own.
TEST(Bench, WhatIsTooLargeIsSaidBeforeAnythingIsTimed) {
  const Folder folder;
  const pid_t child = started(folder, fake("took 1000,1000 sleep 0.2") + line +
                                          " 'on x=2: reshard f32[1099511627776@x] -> f32[1099511627776]' --record r.jsonl");
  for (int i = 0; i < 1200 && lines_of(folder.path / "r.jsonl").empty(); ++i) ::usleep(10'000);
  EXPECT_THAT(contents(folder.path / "err"), testing::StartsWith("plumb: unrun: too large here"));
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(contents(folder.path / "err").find("unrun", 20), std::string::npos) << "it is said once";
}

// A run takes a microsecond, so a million of them a second.
TEST(Bench, ABatchThatIsLongerThanARepetitionIsNotTimed) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + line + " --batch 1000000";
  const Ran ran = run_tool(folder, timed + " --record r.jsonl");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("an iteration of 1000000 runs takes 1 s, and a repetition has 0.06: a smaller --batch"));
  EXPECT_TRUE(lines_of(folder.path / "r.jsonl").empty() || !lines_of(folder.path / "r.jsonl")[0].contains("bench"));
  EXPECT_EQ(run_tool(folder, timed + " --iterations 2").code, 0) << "it was asked for";
}

TEST(Bench, ARecordWhoseTimesWereEditedIsNone) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000 sends 1000") + line + " --iterations 3";
  run_tool(folder, timed + " --each-rank --record r.jsonl");
  const std::string own = contents(folder.path / "r.jsonl");
  const std::pair<std::pair<const char*, const char*>, const char*> rows[] = {
      {{"\"nanoseconds\":[1000", "\"nanoseconds\":[4000"}, "its times are not those of its ranks"                },
      {{"\"send\":", "\"send\":9"},                      "it was edited: it is not that of its seal"            },
      {{"\"slowest\":[0", "\"slowest\":[1"},              "its times are not those of its ranks"                 },
      {{"\"launch\":", "\"launch\":9"},                  "it was edited"                                        },
      {{"\"load\":", "\"load\":9"},                      "it was edited"                                        },
      {{" -> f32[8]\",\"cert", " -> f32[8] seed=7\",\"cert"}, "it was edited"                                 },
      {{"\"seal\":\"", "\"sealed\":\""},                 "it has no seal: it may have been edited"              },
      {{"\"status\":\"pass\"", "\"status\":\"wrong\""}, "it has times, and is wrong: a pass alone has some"       },
      {{"\"leave\":[", "\"leave\":[1"},                   "its times are not those of its ranks"                 },
  };
  for (const auto& [changed, says] : rows) {
    std::string text = own;
    const std::size_t at = text.find(changed.first);
    ASSERT_NE(at, text.npos) << changed.first;
    write(folder.path / "then.jsonl", text.replace(at, std::string(changed.first).size(), changed.second));
    const Ran ran = run_tool(folder, timed + " --against then.jsonl");
    EXPECT_EQ(ran.code, *says ? 2 : 0) << changed.second << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(says));
  }
}

TEST(Bench, ARecordOfAnotherMachineIsSaidToBe) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + line;
  run_tool(folder, timed + " --record r.jsonl");
  EXPECT_THAT(run_tool(folder, timed + " --against r.jsonl").err, Not(HasSubstr("made elsewhere")));
  std::string text = contents(folder.path / "r.jsonl");
  for (std::size_t at = 0; (at = text.find("\"cpu\":\"", at)) != text.npos; at += 8)
    text.insert(at + 7, "Z80 ");
  write(folder.path / "r.jsonl", text);
  const Ran ran = run_tool(folder, timed + " --against r.jsonl");
  EXPECT_THAT(ran.err, HasSubstr("r.jsonl was made elsewhere: cpu Z80 "));
  EXPECT_THAT(ran.out, HasSubstr("SAME"));
  ::setenv("OMP_NUM_THREADS", "77", 1);
  EXPECT_THAT(run_tool(folder, timed + " --against r.jsonl").err,
              HasSubstr("; OMP_NUM_THREADS not set, now 77"));
  ::unsetenv("OMP_NUM_THREADS");
}

TEST(Bench, ARecordWhoseIterationsTookNoTimeIsNone) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + line;
  run_tool(folder, timed + " --record r.jsonl");
  std::string text = contents(folder.path / "r.jsonl");
  text.replace(text.find("\"nanoseconds\":[1000"), 19, "\"nanoseconds\":[0");
  write(folder.path / "r.jsonl", text);
  const Ran ran = run_tool(folder, timed + " --against r.jsonl");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("r.jsonl:2: this line is not a record: nanoseconds: nothing takes no time"));
  EXPECT_EQ(ran.out, "") << "nothing was timed";
}

TEST(Bench, TimesOfAnotherMachineOrBuildAreNotGoneOnWith) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + line + " --record r.jsonl";
  run_tool(folder, timed + " --repetitions 2 --budget 0.12");  // of five it would be 0.3
  const std::string own = contents(folder.path / "r.jsonl");
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string text = own;
    for (std::size_t at = 0; (at = text.find(before, at)) != text.npos; at += after.size())
      text.replace(at, before.size(), after);
    EXPECT_NE(text, own) << before;
    write(folder.path / "r.jsonl", text);
    return run_tool(folder, timed + " --resume");
  };
  const std::pair<std::pair<const char*, const char*>, const char*> rows[] = {
      {{"\"cpu\":\"", "\"cpu\":\"Z80 "},             "--resume: r.jsonl was made elsewhere, and its times"},
      {{"\"fake\":\"1\"", "\"fake\":\"0\""},         "fake 0, now 1"                                     },
      {{"\"plumbline\":\"", "\"plumbline\":\"0.0."},   "plumbline \"0.0."                                   },
      {{"\"scheduling\":\"", "\"scheduling\":\"not "}, "scheduling not SCHED_"                             },
  };
  for (const auto& [changed, says] : rows) {
    const Ran ran = with(changed.first, changed.second);
    EXPECT_EQ(ran.code, 2) << says;
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_EQ(ran.out, "") << "nothing was timed";
  }
  write(folder.path / "r.jsonl", own);
  EXPECT_EQ(run_tool(folder, timed + " --resume").code, 0);
}

TEST(Bench, WhatWasTimedOtherwiseIsNeitherComparedNorGoneOnWith) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + line;
  run_tool(folder, timed + " --repetitions 4 --record r.jsonl");
  const std::string own = contents(folder.path / "r.jsonl");
  const std::pair<const char*, const char*> rows[] = {
      {" --batch 2",       "timed otherwise: batch 1, now 2"                },
      {" --sync none",     "timed otherwise: sync barrier, now none"        },
      {" --warmups 3",     "timed otherwise: warmups 2, now 3"              },
      {" --iterations 20", "timed otherwise: iterations by the rule, now 20"},
  };
  for (const auto& [asked, says] : rows) {
    const Ran ran = run_tool(folder, timed + asked + " --against r.jsonl");
    EXPECT_EQ(ran.code, 2) << asked;
    EXPECT_THAT(ran.err, HasSubstr(fmt::format("--against: r.jsonl was {}", says)));
    EXPECT_EQ(ran.out, "") << "nothing was timed";
    const Ran resumed = run_tool(folder, timed + asked + " --record r.jsonl --resume");
    EXPECT_EQ(resumed.code, 2) << asked;
    EXPECT_EQ(resumed.out, "") << "nothing was timed";
    write(folder.path / "r.jsonl", own);
  }
  const Ran richer = run_tool(folder, timed + " --repetitions 4 --budget 0.9 --record r.jsonl --resume");
  EXPECT_EQ(richer.code, 2);
  EXPECT_THAT(richer.err, HasSubstr("0.075 seconds a repetition, now 0.225: of 4 repetitions --budget 0.3"));
  EXPECT_EQ(run_tool(folder, timed + " --repetitions 4 --budget 0.9 --against r.jsonl").code, 0) << "the same was timed more often";
}

TEST(Bench, OfRanksThatShareACoreNothingIsSaidThatNeedsOneForEach) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000 links 1000 cores 3") + line;
  const Ran links = run_tool(folder, timed + " --links 1/1");
  EXPECT_EQ(links.code, 0) << links.err;
  EXPECT_THAT(links.out, HasSubstr("UNSURE  2 ranks share 1 core: a link also takes as long as its ranks wait"));
  const Ran window = run_tool(folder, timed + " --sync window");
  EXPECT_EQ(window.code, 1);
  EXPECT_THAT(window.out, HasSubstr("2 ranks share 1 core: no rank waits for an agreed time"));
  EXPECT_THAT(run_tool(folder, timed).out, HasSubstr("2 ranks share 1 core: its times are also those of waiting for a core"));
}

TEST(Bench, WhenRanksCameNeedsARecord) {
  const Folder folder;
  const Ran ran = run_tool(folder, fake("took 1000,1000") + line + " --each-rank");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--each-rank needs the --record that it is written to"));
}

TEST(Bench, OfTwoRanksNobodyCanSayWhichLinkIsSlow) {
  const Folder folder;
  const Ran ran = run_tool(folder, fake("took 1000,1000 links 1000") + line + " --links 1/1");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("UNSURE  1 link: too few to say which is slow, 5 at least"));
}

// A filter means LINE on BACKEND, and is read before anything is asked or written.
TEST(Bench, ADryRunSaysWhatTheFilterLeaves) {
  const Folder folder;
  const std::string two = fake("took 1000,1000") + line + " 'on x=2: reshard f32[16@x] -> f32[16]'";
  EXPECT_THAT(run_tool(folder, two + " --dry-run").out, testing::StartsWith("2 cases on "));
  EXPECT_THAT(run_tool(folder, two + " --dry-run --benchmark_filter '16@x'").out, testing::StartsWith("1 case on "));
  EXPECT_THAT(run_tool(folder, two + " --dry-run --benchmark_filter '-16@x'").out, testing::StartsWith("1 case on "));
  EXPECT_THAT(run_tool(folder, two + " --dry-run --benchmark_filter '1000$'").out, testing::StartsWith("2 cases on "));
  for (const char* dry : {"", " --dry-run"}) {
    const Ran none = run_tool(folder, two + dry + " --benchmark_filter zzz --record r.jsonl");
    EXPECT_EQ(none.code, 2) << dry;
    EXPECT_THAT(none.err, HasSubstr("--benchmark_filter: no case matches zzz")) << dry;
    EXPECT_FALSE(std::filesystem::exists(folder.path / "r.jsonl")) << dry;
    const Ran unwritable = run_tool(folder, two + dry + " --benchmark_out nowhere/out.json");
    EXPECT_EQ(unwritable.code, 2) << dry;
    EXPECT_THAT(unwritable.err, HasSubstr("nowhere/out.json: No such file or directory")) << dry;
  }
  EXPECT_EQ(run_tool(folder, two + " --dry-run --benchmark_out out.json").code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path / "out.json"));
}

// No program is started, so that it is said of what would be too large for any.
TEST(Bench, ADryRunSaysWhatIsTooLargeForAny) {
  const Folder folder;
  const std::string too_large = " 'on x=2: reshard f32[1099511627776@x] -> f32[1099511627776]'";
  for (const std::string& others : {std::string(), line}) {
    const Ran ran = run_tool(folder, fake("took 1000,1000") + others + too_large + " --dry-run");
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("plumb: unrun: too large here"));
    EXPECT_EQ(ran.out.substr(0, ran.out.find(" on ")), others.empty() ? "" : "1 case");
  }
}

// What the filter leaves out is not asked for: nothing of it is unrun.
TEST(Bench, WhatTheFilterLeavesOutIsInNoRecord) {
  const Folder folder;
  const Ran ran = run_tool(folder, fake("took 1000,1000") + line + " 'on x=2: reshard f32[8@x] -> f32[8] seed=1'" +
                                       " --benchmark_filter 'seed=1' --iterations 2 --repetitions 1 --record r.jsonl");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string record = contents(folder.path / "r.jsonl");
  EXPECT_THAT(record, HasSubstr("\"cases\":1,"));
  EXPECT_THAT(record, HasSubstr("\"unrun\":0"));
}

TEST(Bench, ATornLastLineIsSaidToBeCutOff) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + line + " --iterations 2 --repetitions 2 --record r.jsonl";
  run_tool(folder, timed);
  const std::string whole = contents(folder.path / "r.jsonl");
  const std::size_t third = whole.rfind("\n{", whole.size() - 2);
  write(folder.path / "r.jsonl", whole.substr(0, third - 9));
  const Ran ran = run_tool(folder, timed + " --resume");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("r.jsonl: its last line was not whole and is cut off"));
  EXPECT_THAT(run_tool(folder, timed + " --resume").err, Not(HasSubstr("cut off")));
}

// What is refused loses nothing, and gains no line.
TEST(Bench, ARecordThatIsNotGoneOnWithStaysAsItIs) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + line + " --repetitions 2 --record r.jsonl";
  run_tool(folder, timed + " --iterations 2");
  const std::string whole = contents(folder.path / "r.jsonl"), torn = whole.substr(0, whole.rfind("\n{", whole.size() - 2) - 9);
  for (const std::string& before : {whole, torn}) {
    write(folder.path / "r.jsonl", before);
    const Ran ran = run_tool(folder, timed + " --iterations 3 --resume");
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("another --record FILE times all anew"));
    EXPECT_EQ(contents(folder.path / "r.jsonl"), before);
  }
}

TEST(Bench, ATornLastLineOfWhatIsComparedWithIsSaid) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + line + " --iterations 2 --repetitions 2";
  run_tool(folder, timed + " --record r.jsonl");
  const std::string whole = contents(folder.path / "r.jsonl");
  EXPECT_THAT(run_tool(folder, timed + " --against r.jsonl").err, Not(HasSubstr("not whole")));
  const std::string torn = whole.substr(0, whole.rfind("\n{", whole.size() - 2) - 9);
  write(folder.path / "r.jsonl", torn);
  EXPECT_THAT(run_tool(folder, timed + " --against r.jsonl").err,
              HasSubstr("r.jsonl: its last line was not whole and is left out"));
  EXPECT_EQ(contents(folder.path / "r.jsonl"), torn);
}

TEST(Bench, HelpOffersNoStatus) {
  const Folder folder;
  EXPECT_THAT(run_tool(folder, "run --help").out, HasSubstr("  status  "));
  EXPECT_THAT(run_tool(folder, "bench --help").out, Not(HasSubstr("  status  ")));
}

}  // namespace
}  // namespace plumb
