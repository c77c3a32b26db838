#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <sstream>

#include "harness/record/testing/golden.h"
#include "harness/report/finding.h"
#include "harness/report/junit.h"
#include "harness/report/paint.h"
#include "harness/report/progress.h"
#include "harness/report/table.h"

namespace plumb {
namespace {

using testing::HasSubstr;

Verdict verdict(Status status, std::string why = "") {
  Verdict v;
  v.status = status;
  if (!why.empty()) v.facts.push_back({status, std::move(why), {}, {}});
  return v;
}

Tally two_suites() {
  Tally tally;
  Verdict alone = verdict(Status::pass), plan = verdict(Status::pass), clones = verdict(Status::pass),
          bound = verdict(Status::pass);
  alone.alone = true, plan.plan = true, clones.clones = true, bound.rounded = 7;
  for (int i = 0; i < 1200; ++i) add_verdict(tally, "reshard", "local", verdict(Status::pass));
  for (int i = 0; i < 1000; ++i)
    add_verdict(tally, "reshard", "jax@0.9.1,partitioner=gspmd", verdict(Status::pass));
  for (int i = 0; i < 150; ++i)
    add_verdict(
        tally, "reshard", "jax@0.9.1,partitioner=gspmd",
        verdict(Status::unsupported, i % 3 ? "uneven split of an argument" : "an unfinished operand"));
  for (int i = 0; i < 50; ++i)
    add_verdict(tally, "reshard", "jax@0.9.1,partitioner=gspmd", verdict(Status::wrong));
  add_verdict(tally, "smoke", "local", alone);
  add_verdict(tally, "smoke", "local", plan);
  for (int i = 0; i < 3; ++i) add_verdict(tally, "smoke", "torch@2.15.0,engine=local", clones);
  add_verdict(tally, "smoke", "torch@2.15.0,engine=local", bound);
  add_verdict(tally, "smoke", "local", verdict(Status::hung));
  add_verdict(tally, "smoke", "local", verdict(Status::unrun));
  return tally;
}

Record wrong() {
  Record r;
  r.line = "on x=2: reshard f32[8]+x -> f32[8]";
  r.backend = "liar,fault=drop-reduce";
  r.verdict.status = Status::wrong;
  r.verdict.facts = {
      fact(Status::wrong, "16 elements on 2 devices; the first on device 0 (x=0) at [0]: want 3, got 1"),
      fact(Status::diverged, "device 1 (x=1) differs from device 0 (x=0)")};
  r.verdict.facts[0].cause = "the sum over x is left unfinished";
  r.last_words = "one\ntwo\n";
  return r;
}

TEST(Table, Golden) {
  expect_golden(tally_table(two_suites(), {false}) + summary(two_suites(), 12.34), PLUMB_GOLDEN "/table.txt");
}

TEST(Table, AddsUp) {
  const Tally tally = two_suites();
  const Count all = total(tally);
  EXPECT_EQ(cases(all), 2408);
  std::int64_t sum = 0;
  for (const Count& count : tally.counts) sum += cases(count);
  EXPECT_EQ(sum, cases(all));
  EXPECT_EQ(passes(all), 2206);
  EXPECT_EQ(findings(all), 51);
}

TEST(Table, AReasonIsOneLine) {
  Tally tally;
  add_verdict(tally, "smoke", "mine", verdict(Status::unsupported, "two\nlines \x1b[31mé"));
  EXPECT_THAT(tally_table(tally, {false}), HasSubstr("\n       1  two lines  [31mé\n"));
}

TEST(ExitCode, IsThatOfTheDesign) {
  const auto code = [](std::initializer_list<Status> list) {
    Tally tally;
    for (Status status : list) add_verdict(tally, "s", "b", verdict(status));
    return exit_code(tally);
  };
  using enum Status;
  EXPECT_EQ(code({pass}), 0);
  EXPECT_EQ(code({pass, unsupported, waived, unrun}), 0);
  EXPECT_EQ(code({}), 2);
  EXPECT_EQ(code({unrun}), 2);
  EXPECT_EQ(code({unsupported}), 2);
  EXPECT_EQ(code({waived}), 0);
  for (int s = 0; s < statuses; ++s)
    if (finding(static_cast<Status>(s))) {
      EXPECT_EQ(code({pass, static_cast<Status>(s)}), 1) << s;
    }
}

TEST(Finding, Golden) {
  const Record r = wrong();
  expect_golden(describe(r, repeat(r, r.backend), {false}), PLUMB_GOLDEN "/finding.txt");
}

// Thirteen lines, seven, six and one.
TEST(Finding, ShowsTheFirstOfTheLastWordsAndTheLast) {
  Record r = wrong();
  const auto shown = [&](const char* words) {
    r.last_words = words;
    const std::string text = describe(r, "", {false});
    const std::size_t from = text.find("last words:") + 12;
    return text.substr(from, text.find("    again") - from);
  };
  EXPECT_EQ(
      shown("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n"),
      "    1\n    2\n    3\n    4\n    5\n    6\n    ...\n    8\n    9\n    10\n    11\n    12\n    13\n");
  // As MPICH says that it is started by another mpiexec, which speaks after it.
  EXPECT_EQ(shown("Fatal error:\nin init:\nunsupported PMI version\n-----\n1\n2\n3\n4\n5\n6\n-----\n"),
            "    Fatal error:\n    in init:\n    unsupported PMI version\n    ...\n    2\n    3\n    4\n    "
            "5\n    6\n    -----\n");
  EXPECT_EQ(shown("1\n2\n3\n4\n5\n6\n7"), "    1\n    2\n    3\n    4\n    5\n    6\n    7\n");
  EXPECT_EQ(shown("1\n2\n3\n4\n5\n6"), "    1\n    2\n    3\n    4\n    5\n    6\n");
  EXPECT_EQ(shown("1\n"), "    1\n");
  // As mpiexec does it: the first line that says something.
  EXPECT_EQ(shown("\n-----\nno slots\n\n2\n3\n4\n5\n6\n7\n-----\n"),
            "    no slots\n    ...\n    3\n    4\n    5\n    6\n    7\n    -----\n");
  EXPECT_EQ(shown("-----\n=====\n"), "    -----\n    =====\n");
}

// "moved as f32", "reduce-scatter not formed": why more was moved.
TEST(Finding, OfWasteShowsWhatTheBackendSays) {
  Record r = wrong();
  r.notes = {"reduce-scatter not formed"};
  EXPECT_THAT(describe(r, "", {false}), testing::Not(HasSubstr("reduce-scatter")));
  r.verdict.facts = {fact(Status::wasteful, "moved 96 bytes, the fewest are 8")};
  decide(r.verdict);
  EXPECT_THAT(describe(r, "", {false}), HasSubstr("    the backend says: reduce-scatter not formed\n"));
  r.trace = {
      Collective{.kind = "all-gather"   },
      Collective{ .kind = "all-reduce", .note = "moved as f32"}
  };
  r.trace.push_back(r.trace.back());
  EXPECT_THAT(
      describe(r, "again", {false}),
      HasSubstr(
          "reduce-scatter not formed\n    the backend says: all-reduce: moved as f32\n    its last words"));
}

TEST(Finding, OfAHungBackendShowsItsProcesses) {
  Record r = wrong();
  r.processes.assign(22, "  42 rank: waits in recvfrom(7)");
  r.processes[0] = "41 python3: waits in wait4";
  const std::string text = describe(r, "", {false});
  EXPECT_THAT(
      text,
      HasSubstr("its processes:\n    41 python3: waits in wait4\n      42 rank: waits in recvfrom(7)\n"));
  EXPECT_THAT(text, HasSubstr("    ... and 2 more\n"));
}

TEST(Finding, TheCommandCarriesTheLimitThatDecided) {
  Record r = wrong();
  r.limits = {1.5, 2, 3};
  const std::string line = shell_quoted(r.line), backend = "plumb run --backend liar,fault=drop-reduce ";
  EXPECT_EQ(repeat(r, r.backend), backend + line);
  r.verdict.facts = {fact(Status::wasteful, "")};
  EXPECT_EQ(repeat(r, r.backend), backend + "--max-waste 1.5 " + line);
  r.verdict.facts = {fact(Status::unstable, "")};
  EXPECT_EQ(repeat(r, r.backend), backend + "--reruns 2 " + line);
  r.verdict.facts = {fact(Status::wrong, "")};
  r.verdict.facts[0].seed = 7;
  EXPECT_EQ(repeat(r, r.backend), backend + "--reruns 2 " + line);
  EXPECT_EQ(facts(r.verdict), "run again on other data, seed=7: \n");
  r.verdict.facts = {fact(Status::hung, "")};
  EXPECT_EQ(repeat(r, r.backend), backend + "--timeout 3 " + line);
}

TEST(Finding, TheCommandIsWhatAShellReads) {
  EXPECT_EQ(shell_quoted("jax@0.9.1,partitioner=gspmd"), "jax@0.9.1,partitioner=gspmd");
  for (std::string text :
       {"on x=2: reshard f32[8]+x -> f32[8]", "./mine 'a b' $HOME `ls` \"c\" \\", "", "*"}) {
    const std::string command = "printf %s " + shell_quoted(text);
    FILE* pipe = popen(command.c_str(), "r");
    std::string said(256, '\0');
    said.resize(std::fread(said.data(), 1, said.size(), pipe));
    pclose(pipe);
    EXPECT_EQ(said, text);
  }
}

TEST(Progress, Golden) {
  std::string text;
  for (const Progress& p : {
           Progress{0,    8464,  0,  0  },
           Progress{1200, 8464,  1,  0.7},
           Progress{30,   10000, 2,  20 },
           Progress{3,    10000, 0,  20 },
           Progress{8464, 8464,  40, 5  }
  })
    text += progress_line(p) + '\n';
  expect_golden(text, PLUMB_GOLDEN "/progress.txt");
}

TEST(Junit, Golden) {
  const Record r = wrong();
  const auto junit = [](const std::string& suite, const std::string& backend, Status status,
                        const std::string& said) {
    return JunitCase{suite,
                     backend,
                     "on x=2: reshard f32[8@x] -> f32[8]",
                     junit_element(status),
                     std::string(name(status)),
                     said,
                     0.25};
  };
  std::ostringstream out;
  write_junit(out, {junit("smoke", "local", Status::pass, ""),
                    junit("smoke", r.backend, Status::wrong, facts(r.verdict)),
                    junit("smoke", r.backend, Status::hung, "no \x1b\uffff reply\n"),
                    junit("smoke", r.backend, Status::malformed, "not JSON\n"),
                    junit("reshard", "jax@0.10.2,style=explicit", Status::unsupported, "no <&> \"here\"\n")});
  expect_golden(out.str(), PLUMB_GOLDEN "/junit.xml");
}

// What GitLab reads of each element: attributes, and of what is not a pass the text.
TEST(Junit, HasEveryElementThatGitLabReads) {
  std::ostringstream out;
  write_junit(out, {
                       {"smoke", "local", "a", "",        "pass",        "",               0.25},
                       {"smoke", "local", "b", "failure", "wrong",       "bits\nagain: c", 0.25},
                       {"smoke", "local", "c", "error",   "hung",        "no reply",       0.25},
                       {"smoke", "local", "d", "skipped", "unsupported", "no",             0.25}
  });
  const std::string xml = out.str();
  const std::map<std::string, std::vector<std::string>> read{
      {"testsuites", {"time"}                     },
      {"testsuite",  {"name", "time"}             },
      {"testcase",   {"classname", "name", "time"}}
  };
  for (const auto& [element, attributes] : read)
    for (std::size_t at = xml.find("<" + element + " "); at != xml.npos;
         at = xml.find("<" + element + " ", at + 1))
      for (const std::string& attribute : attributes)
        EXPECT_THAT(xml.substr(at, xml.find('>', at) - at), HasSubstr(" " + attribute + "=\"")) << element;
  for (const char* text : {">bits\nagain: c</failure>", ">no reply</error>", ">no</skipped>"})
    EXPECT_THAT(xml, HasSubstr(text));
}

TEST(Paint, OnlyWhereATerminalShowsIt) {
  EXPECT_EQ(painted({false}, Status::wrong, "wrong"), "wrong");
  EXPECT_EQ(painted({true}, Status::wrong, "wrong"), "\x1b[31mwrong\x1b[0m");
  const Tally tally = two_suites();
  EXPECT_THAT(tally_table(tally, {true}), HasSubstr("\x1b["));
  EXPECT_THAT(tally_table(tally, {false}), Not(HasSubstr("\x1b")));
}

// A terminal of the test's own.
struct Terminal {
  int ours = ::posix_openpt(O_RDWR | O_NOCTTY), theirs = -1;
  Terminal() {
    ::grantpt(ours), ::unlockpt(ours);
    theirs = ::open(::ptsname(ours), O_RDWR | O_NOCTTY);
  }
  ~Terminal() { ::close(theirs), ::close(ours); }
  Terminal(const Terminal&) = delete;
};

TEST(Paint, IsForTerminalsThatTakeIt) {
  const Terminal terminal;
  ASSERT_GE(terminal.theirs, 0) << "this machine has no pseudo-terminals: mount devpts";
  const auto painted = [&](const char* term, const char* no_color, const char* when = "auto") {
    ::setenv("TERM", term, 1), ::setenv("NO_COLOR", no_color, 1);
    return paint_for(when, terminal.theirs).on;
  };
  EXPECT_TRUE(painted("xterm", ""));
  EXPECT_FALSE(painted("xterm", "1"));
  EXPECT_TRUE(moves_its_cursor(terminal.theirs)) << "NO_COLOR says nothing of a progress line";
  EXPECT_FALSE(painted("dumb", ""));
  EXPECT_FALSE(moves_its_cursor(terminal.theirs));
  EXPECT_FALSE(painted("", ""));
  EXPECT_TRUE(painted("dumb", "1", "always"));
  EXPECT_FALSE(paint_for("auto", ::fileno(std::tmpfile())).on) << "a file is no terminal";
}

}  // namespace
}  // namespace plumb
