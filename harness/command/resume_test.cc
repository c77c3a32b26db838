// Nothing that was judged is lost, and nothing is judged twice.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "adapters/protocol/json.h"
#include "harness/command/testing/tool.h"
#include "reference/fill/fill.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* pattern = "on x=2,y=2,z=2: reshard f32[4,4]+* -> f32[4,4]+*";

// The records of a file without their times and runs, in an order that does not depend on who came first.
std::vector<std::string> records(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) {
    json j = parse_json(line);
    if (!j.contains("case")) continue;  // says where records come from
    j.erase("seconds"), j.erase("run");
    all.push_back(dump(j));
  }
  std::ranges::sort(all);
  return all;
}

// The tool as a child that can be signalled.
pid_t start(const Folder& folder, const std::vector<std::string>& arguments, const char* out) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (chdir(folder.path.c_str()) != 0) _exit(126);
  const int file = open(out, O_CREAT | O_WRONLY | O_TRUNC, 0666);
  dup2(file, STDOUT_FILENO), dup2(file, STDERR_FILENO);
  std::vector<char*> argv = {const_cast<char*>(PLUMB_TOOL)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(PLUMB_TOOL, argv.data());
  _exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// How many processes are exactly this program with this one argument. A child of the tool between fork and
// exec still has the tool's own words.
int running(const std::string& program, const std::string& argument) {
  const std::string whole = program + '\0' + argument + '\0';
  int n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc"))
    n += contents(entry.path() / "cmdline") == whole;
  return n;
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(Resume, AfterTwentyKillsTheRecordsAreThoseOfOneRun) {
  const Folder folder;
  const std::string line = std::string("'") + pattern + "' --quiet --record ";
  ASSERT_EQ(run_tool(folder, "run " + line + "whole.jsonl").code, 0);
  const std::vector<std::string> whole = records(folder.path / "whole.jsonl");
  ASSERT_EQ(whole.size(), 92 * 92);

  std::mt19937 random(20251121);
  int kills = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child =
        start(folder, {"run", pattern, "--quiet", "--record", "killed.jsonl", "--resume"}, "log");
    sleep_ms(10 + static_cast<int>(random() % 60));
    kill(child, SIGKILL);
    const int status = wait_for(child);
    kills += WIFSIGNALED(status);
    // The lock goes with its process, so the next run may begin at once.
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << contents(folder.path / "log");
  }
  EXPECT_EQ(kills, 20) << "the run was over too soon to be killed so often";
  const Ran last = run_tool(folder, "run " + line + "killed.jsonl --resume");
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_THAT(last.out, HasSubstr("8464"));
  EXPECT_EQ(records(folder.path / "killed.jsonl"), whole);
}

TEST(Resume, ATornLineIsCutOffAndJudgedAgain) {
  const Folder folder;
  const std::string run = "run --suite smoke --where op=reshard --record r.jsonl";
  run_tool(folder, run);
  const std::string whole = contents(folder.path / "r.jsonl");
  const auto before = records(folder.path / "r.jsonl");
  write(folder.path / "r.jsonl", whole.substr(0, whole.rfind("\n{\"ended\"") - 40));  // as a kill leaves it
  const Ran ran = run_tool(folder, run + " --resume");
  EXPECT_THAT(ran.err, HasSubstr("its last line was not whole"));
  EXPECT_EQ(records(folder.path / "r.jsonl"), before);
}

TEST(Resume, AFinishedRunHasNothingToDoAndSaysTheSame) {
  const Folder folder;
  const std::string run = "run --suite grouped --sample 50 --record r.jsonl --resume --quiet";
  const Ran first = run_tool(folder, run), second = run_tool(folder, run);
  EXPECT_EQ(first.code, second.code);
  EXPECT_EQ(records(folder.path / "r.jsonl").size(), 50);
  EXPECT_EQ(first.out.substr(0, first.out.find(" in ")), second.out.substr(0, second.out.find(" in ")));
}

// Records of before had no member `data`: a line that says no seed had other data then.
TEST(Resume, WhatRestsOnOlderDataIsJudgedAgain) {
  const Folder folder;
  const std::string run = "run --suite smoke --where op=reshard --quiet --resume --record r.jsonl";
  run_tool(folder, run);
  const std::string whole = contents(folder.path / "r.jsonl");
  const auto lines = [&] { return records(folder.path / "r.jsonl").size(); };
  const auto before = lines();
  run_tool(folder, run);
  EXPECT_EQ(lines(), before);
  std::string older = whole;
  const std::string said = "\"data\":" + std::to_string(data_generation) + ",";
  ASSERT_NE(older.find(said), older.npos);
  older.erase(older.find(said), said.size());
  write(folder.path / "r.jsonl", older);
  EXPECT_EQ(run_tool(folder, run).code, 0);
  EXPECT_EQ(lines(), before + 1);
}

// A program built anew is another: what the old one passed says nothing of it.
TEST(Resume, WhatAnotherProgramWasJudgedByIsJudgedAgain) {
  const Folder folder;
  const auto built = [&](const std::string& as) {
    write(folder.path / "mine", "#!/bin/sh\n# " + as + "\nexec '" + PLUMB_LOCAL + "'\n");
    std::filesystem::permissions(folder.path / "mine", std::filesystem::perms::owner_all);
  };
  const std::string run =
      "run --suite smoke --where op=reshard --quiet --resume --record r.jsonl --backend ./mine";
  built("first");
  EXPECT_EQ(run_tool(folder, run).code, 0);
  const std::size_t once = records(folder.path / "r.jsonl").size();
  EXPECT_EQ(run_tool(folder, run).code, 0);
  EXPECT_EQ(records(folder.path / "r.jsonl").size(), once);
  built("second");
  EXPECT_EQ(run_tool(folder, run).code, 0);
  EXPECT_EQ(records(folder.path / "r.jsonl").size(), 2 * once);
}

TEST(Interrupt, KeepsWhatWasJudgedAndLeavesNoProcess) {
  const Folder folder;
  const std::string seconds = "98765." + std::to_string(getpid());
  const std::string backend = "/bin/sleep " + seconds;
  const pid_t child = start(folder,
                            {"run", "--suite", "smoke", "--where", "op=grouped", "--backend", "local",
                             "--backend", backend, "--record", "r.jsonl"},
                            "log");
  for (int i = 0; i < 100 && running("/bin/sleep", seconds) == 0; ++i) sleep_ms(50);
  EXPECT_EQ(running("/bin/sleep", seconds), 1) << "the backend";
  kill(child, SIGINT);
  const int status = wait_for(child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(running("/bin/sleep", seconds), 0);
  EXPECT_EQ(records(folder.path / "r.jsonl").size(), 1) << "local had judged the first case";
  EXPECT_THAT(contents(folder.path / "log"), HasSubstr("unrun"));
}

// What stands after "again:" is run by a shell, and finds the same.
TEST(Finding, ItsCommandRepeatsIt) {
  const Folder folder;
  const char* line = "'on x=2,y=2: reshard f32[8@x] -> f32[8@y]'";
  for (const char* fault : {"drops-part --backend liar,fault=swaps-slices",
                            "gathers-everything --max-waste 1", "changes-reruns --reruns 1"}) {
    const Ran ran = run_tool(folder, std::string("run ") + line + " --backend liar,fault=" + fault);
    EXPECT_EQ(ran.code, 1) << ran.err;
    const std::size_t at = ran.out.find("again: plumb ");
    ASSERT_NE(at, ran.out.npos) << ran.out;
    const Ran again = run_tool(folder, ran.out.substr(at + 13, ran.out.find('\n', at) - at - 13));
    EXPECT_EQ(again.code, 1) << again.err;
    EXPECT_THAT(ran.out, HasSubstr(again.out.substr(0, again.out.find('\n'))))
        << "the same verdict of the same line";
  }
}

TEST(Resume, JudgesAgainWhatWasJudgedWithOtherLimits) {
  const Folder folder;
  const std::string run =
      "run 'on x=2,y=2: reshard f32[8@x,8] -> f32[8,8@x]' --backend liar,fault=gathers-everything "
      "--record r.jsonl --resume ";
  EXPECT_EQ(run_tool(folder, run).code, 0);
  EXPECT_EQ(run_tool(folder, run + "--max-waste 1").code, 1);
  EXPECT_EQ(records(folder.path / "r.jsonl").size(), 2);
  EXPECT_EQ(run_tool(folder, run + "--max-waste 1").code, 1);
  EXPECT_EQ(records(folder.path / "r.jsonl").size(), 2);
}

TEST(Resume, WhereAnotherRecordIsAsked) {
  const Folder folder;
  const std::string run = std::string("run '") + pattern + "' --sample 9 --quiet --record ";
  run_tool(folder, run + "old.jsonl");
  const std::string again = run + "new.jsonl --resume --against old.jsonl --where status=pass";
  run_tool(folder, again);
  const auto once = records(folder.path / "new.jsonl");
  run_tool(folder, again);
  EXPECT_EQ(records(folder.path / "new.jsonl"), once) << "what is done is not done again";
}

// A red case is looked at again with what else the backend can say of it.
TEST(Against, SelectsByLinesWhatAnotherBackendHadRed) {
  const Folder folder;
  const std::string run = std::string("run '") + pattern + "' --sample 60 --quiet ",
                    red = "--against r.jsonl --where status=wrong ";
  run_tool(folder, run + "--record r.jsonl --backend liar,fault=drops-part --backend local");
  const auto wrong = std::ranges::count_if(records(folder.path / "r.jsonl"), [](const std::string& r) {
    return r.find("\"status\":\"wrong\"") != r.npos;
  });
  ASSERT_GT(wrong, 0);
  const std::string cases = std::to_string(wrong) + " cases in";
  EXPECT_THAT(run_tool(folder, run + red + "--backend local,plan=ring").out, HasSubstr(cases));
  EXPECT_EQ(run_tool(folder, run + red + "--backend local").code, 2) << "it has the record's own word";
  EXPECT_THAT(run_tool(folder, run + red + "--backend liar,fault=drops-part").out, HasSubstr(cases));
}

// A sample, or what a dry run counts, is of the red ones alone, for run and list.
TEST(Against, ASampleIsOfWhatIsAsked) {
  const Folder folder;
  const std::string square = std::string("'") + pattern + "' ",
                    red = "--against r.jsonl --where status=wrong ";
  const std::string backend = "--backend liar,fault=drops-part ";
  run_tool(folder, "run " + square + "--quiet --record r.jsonl " + backend);
  const auto wrong = std::ranges::count_if(records(folder.path / "r.jsonl"), [](const std::string& r) {
    return r.find("\"status\":\"wrong\"") != r.npos;
  });
  ASSERT_GT(wrong, 3);
  ASSERT_LT(wrong, std::ssize(records(folder.path / "r.jsonl")));
  for (const char* seed : {"0", "1", "2"}) {
    const std::string sampled = square + red + "--sample 3 --seed " + seed + " ";
    EXPECT_THAT(run_tool(folder, "run " + sampled + "--quiet " + backend).out, HasSubstr("3 cases in"));
    EXPECT_THAT(run_tool(folder, "list " + sampled + "--count").out, HasSubstr("total      3\n"));
  }
  EXPECT_EQ(run_tool(folder, "run " + square + red + "--dry-run " + backend).out,
            std::to_string(wrong) + " cases on liar,fault=drops-part\n");
  std::int64_t parts = 0;
  for (const char* part : {"1/2", "2/2"})
    parts += std::ranges::count(run_tool(folder, "list " + square + red + "--shard " + part).out, '\n');
  EXPECT_EQ(parts, wrong) << "each in one shard";
}

TEST(Sweep, SaysInWordsWhereItFails) {
  const Folder folder;
  const std::string line = "'on dp=2,fsdp=2,tp=2: reshard f32[16,8@tp]+dp.fsdp -> f32[16@fsdp,8@tp]'";
  const Ran ran = run_tool(folder, "sweep " + line +
                                       " --axis dp=1,2,4 --axis fsdp=1,2,3 --record r.jsonl "
                                       "--backend liar,fault=leaves-one-axis");
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("wrong on 6 of 9 meshes: exactly when dp >= 2\n"));
  EXPECT_EQ(records(folder.path / "r.jsonl").size(), 9);
  const Ran more = run_tool(folder, "sweep " + line +
                                        " --axis dp=1,2,4,8 --axis fsdp=1,2,3 --record r.jsonl --resume "
                                        "--backend liar,fault=leaves-one-axis");
  EXPECT_THAT(more.out, HasSubstr("wrong on 9 of 12 meshes: exactly when dp >= 2\n"));
  EXPECT_EQ(records(folder.path / "r.jsonl").size(), 12) << "what the record has is not judged again";
  const Ran honest = run_tool(folder, "sweep " + line + " --meshes 4,8");
  EXPECT_EQ(honest.code, 0) << honest.err;
  EXPECT_THAT(honest.out, HasSubstr("pass on all 16 meshes"));
}

TEST(Waivers, HoldUntilTheirDateAndWhileTheyAreNeeded) {
  const Folder folder;
  const std::string run = "run 'on x=4: reshard f32[8]+x -> f32[8@x]' --backend local ",
                    liar = "--backend liar,fault=drops-part ";
  const std::string cases = " for upstream#1: op=reshard is=unfinished\n";
  write(folder.path / "good", "wrong on liar until 2999-12-31" + cases);
  write(folder.path / "late", "wrong on liar until 2020-12-31" + cases);
  write(folder.path / "other", "wrong on local until 2999-12-31" + cases);
  EXPECT_EQ(run_tool(folder, run + liar).code, 1);
  const Ran good = run_tool(folder, run + liar + "--waivers good --record r.jsonl");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("1 pass, 1 waived"));
  EXPECT_EQ(run_tool(folder, run + liar + "--waivers good --record r.jsonl --resume").code, 0);
  EXPECT_EQ(run_tool(folder, run + liar + "--record r.jsonl --resume").code, 1) << "a waiver is not recorded";
  EXPECT_EQ(run_tool(folder, run + liar + "--waivers late").code, 1);
  const Ran other = run_tool(folder, run + "--waivers other");
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("other:1: 1 of its cases ran on local and none was wrong"));
}

TEST(Samples, AreDrawnFromMoreCasesThanMemoryHolds) {
  const Folder folder;
  const Ran ran = run_tool(
      folder, "run 'on a=2,b=2,c=2,d=2,e=2,f=2,g=2: reshard f32[8,8,8]+* -> f32[8,8,8]+*' --sample 5");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("5 cases in"));
}

TEST(Shards, AreDisjointAndTogetherTheWhole) {
  const Folder folder;
  const std::string run = "run --suite grouped --quiet --record ";
  run_tool(folder, run + "whole.jsonl");
  for (const char* part : {"1/3", "2/3", "3/3"}) run_tool(folder, run + "parts.jsonl --shard " + part);
  EXPECT_EQ(records(folder.path / "parts.jsonl"), records(folder.path / "whole.jsonl"));
}

TEST(Jobs, GiveTheSameRecords) {
  const Folder folder;
  run_tool(folder, "run --suite matmul --sample 200 --quiet --record one.jsonl");
  run_tool(folder, "run --suite matmul --sample 200 --quiet --record four.jsonl --jobs 4");
  EXPECT_EQ(records(folder.path / "one.jsonl").size(), 200);
  EXPECT_EQ(records(folder.path / "one.jsonl"), records(folder.path / "four.jsonl"));
}

TEST(Budget, LeavesTheRestUnrun) {
  const Folder folder;
  const Ran ran = run_tool(folder, std::string("run '") + pattern + "' --quiet --budget 0.05s");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("unrun"));
  EXPECT_THAT(ran.out, HasSubstr("8464 cases in"));
}

// What stands after "To go on:" is run by a shell, and ends with the records of one run.
TEST(Budget, SaysTheCommandThatGoesOn) {
  const Folder folder;
  const std::string run = std::string("run '") + pattern + "' --quiet --record ";
  run_tool(folder, run + "whole.jsonl");
  Ran ran = run_tool(folder, run + "parts.jsonl --budget 0.2s");
  int more = 0;
  for (; more < 100; ++more) {
    const std::size_t at = ran.err.find("To go on: plumb ");
    if (at == ran.err.npos) break;
    ran = run_tool(folder, ran.err.substr(at + 16, ran.err.find('\n', at) - at - 16));
  }
  EXPECT_GT(more, 0);
  EXPECT_THAT(ran.err, testing::Not(HasSubstr("left")));
  EXPECT_EQ(records(folder.path / "parts.jsonl"), records(folder.path / "whole.jsonl"));
  const Ran unrecorded = run_tool(folder, std::string("run '") + pattern + "' --quiet --budget 0.05s");
  EXPECT_THAT(unrecorded.err, HasSubstr(" --record run.jsonl\n"));
}

// A thousand findings of a kind are one text and a line.
TEST(Findings, AreToldByKind) {
  const Folder folder;
  const std::string run = std::string("run '") + pattern + "' --sample 400 --backend liar,fault=drops-part";
  const Ran ran = run_tool(folder, run), every = run_tool(folder, run + " --every"),
            quiet = run_tool(folder, run + " --quiet");
  EXPECT_EQ(ran.code, 1);
  const auto lines = [](const Ran& r) { return std::ranges::count(r.out, '\n'); };
  EXPECT_LT(lines(ran), 40) << ran.out;
  EXPECT_GT(lines(every), 400) << every.out;
  EXPECT_LT(lines(quiet), 6) << quiet.out;
  EXPECT_THAT(ran.out, HasSubstr("more patterns of layouts"));
}

TEST(Starts, ThatFailThreeTimesAreOneFinding) {
  const Folder folder;
  const Ran ran =
      run_tool(folder, std::string("run '") + pattern + "' --backend /bin/false --junit j.xml --record r");
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.err,
              HasSubstr("plumb: /bin/false did not start three times in a row for 8 devices: its other "
                        "cases of them are unrun\n"));
  EXPECT_THAT(ran.out, HasSubstr("8464 cases in"));
  EXPECT_THAT(ran.out, HasSubstr("1 crashed"));
  EXPECT_THAT(ran.out, HasSubstr("8463 unrun"));
  EXPECT_EQ(records(folder.path / "r").size(), 1);
  EXPECT_THAT(contents(folder.path / "j.xml"), HasSubstr("its backend does not start for 8 devices"));
}

}  // namespace
}  // namespace plumb
