#include "adapters/launch/hang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/launch/job.h"

namespace plumb::launch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Whereabouts at(const std::string& call) {
  return {.joined = true, .answers = true, .host = "a", .pid = 7, .inside = true, .entered = 3, .at = call};
}
Whereabouts after(const std::string& call) {
  Whereabouts w = at(call);
  w.inside = false;
  return w;
}
Whereabouts on(const std::string& host, Whereabouts w) {
  w.host = host;
  return w;
}
Whereabouts silent() {
  Whereabouts w = at("");
  w.answers = false;
  return w;
}
Whereabouts replied() {
  Whereabouts w = after("all-gather 2 over x");
  w.replied = true;
  return w;
}

TEST(Hang, NamesTheRankForWhichTheOthersWait) {
  const Whereabouts gather = at("all-gather 3 over x");
  const struct {
    std::vector<Whereabouts> ranks;
    const char* says;
    std::vector<std::int64_t> named;
  } rows[] = {
      {{gather, gather, on("b", after("")), gather},
       "rank 2 (host b) has not entered all-gather 3 over x; 0, 1, 3 wait in it",                                                             {2}   },
      {{gather, gather, after("all-gather 2 over x"), gather},
       "rank 2 (host a) has not entered all-gather 3 over x (the last it left is all-gather 2 over x); 0, 1, "
       "3 "
       "wait in it",                                                                                                                          {2}   },
      {{gather, at("all-reduce 3 over y"), gather},
       "rank 1 (host a) has not entered all-gather 3 over x (it waits in all-reduce 3 over y); 0, 2 wait in "
       "it",                                                                                                                                  {1}   },
      {{replied(), gather},
       "rank 0 (host a) has not entered all-gather 3 over x (it has replied); 1 waits in it",                                                 {0}   },
      {{gather, {}, gather, {}},                                         "ranks 1, 3 have not joined",                                        {1, 3}},
      {{gather, silent(), gather},                                       "rank 1 (host a) does not answer; 0, 2 wait in all-gather 3 over x", {1}   },
      {{gather, gather},                                                 "all ranks wait in all-gather 3 over x",                             {}    },
      {{replied(), after("")},                                           "rank 1 (host a) has not replied, and waits for nobody",             {1}   },
      {{gather, gather, on("b", after("")), on("c", after("")), gather},
       "ranks 2, 3 (host b and others) have not entered all-gather 3 over x; 0, 1, 4 wait in it",                                             {2, 3}},
  };
  for (const auto& [ranks, says, named] : rows) {
    const Hang hang = hang_of(ranks);
    EXPECT_EQ(hang.message, says);
    EXPECT_EQ(hang.ranks, named) << says;
    EXPECT_EQ(hang.processes.size(), ranks.size()) << says;
  }
  EXPECT_THAT(hang_of({gather, {}, silent(), replied(), after("")}).processes,
              ElementsAre("rank 0, host a, pid 7: waits in all-gather 3 over x", "rank 1: has not joined",
                          "rank 2, host a, pid 7: does not answer", "rank 3, host a, pid 7: has replied",
                          "rank 4, host a, pid 7: has waited for nobody"));
}

TEST(Hang, ManyRanksAreListedAsRuns) {
  EXPECT_EQ(listed({0, 1, 2, 5, 7, 8, 10, 11, 12, 13}), "0 to 2, 5, 7, 8, 10 to 13");
  EXPECT_EQ(hang_of(std::vector<Whereabouts>(500)).processes.size(), 64U);
}

TEST(Command, OfALauncherStartsTheProgram) {
  const auto words = [](const char* launcher) {
    return command(parse({
                       "--ranks", "4", "--launcher", launcher, "--", "./mine", "--flag"
    }),
                   {{"A", "B"}, "/shared/launch.1", 3});
  };
  EXPECT_THAT(words("own"), ElementsAre("./mine", "--flag"));
  EXPECT_THAT(words("srun"),
              ElementsAre("srun", "-n", "4", "--mpi=pmix", "--export=ALL", "--kill-on-bad-exit=1",
                          "--job-name=plumb-launch.1", "./mine", "--flag"));
  EXPECT_THAT(words("flux"), ElementsAre("flux", "run", "-n", "4", "./mine", "--flag"));
  EXPECT_THAT(words("aprun -n {n} {program} -v"), ElementsAre("aprun", "-n", "4", "./mine", "--flag", "-v"));
  EXPECT_THAT(
      words("ssh host{rank} env PLUMB_LAUNCH=file:{file} PLUMB_RANK={rank} PLUMB_WORLD={n} {program}"),
      ElementsAre("ssh", "host3", "env", "PLUMB_LAUNCH=file:/shared/launch.1", "PLUMB_RANK=3",
                  "PLUMB_WORLD=4", "./mine", "--flag"));
}

TEST(Command, BadInputSaysWhatIsMissing) {
  const auto complaint = [](const std::vector<std::string>& arguments) -> std::string {
    try {
      parse(arguments);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what()).substr(0, std::string(e.what()).find('\n'));
    }
    return "";
  };
  EXPECT_EQ(complaint({}), "plumb-launch: how many --ranks?");
  EXPECT_EQ(complaint({"--ranks"}), "plumb-launch: --ranks needs a value");
  for (const char* n : {"0", "-1", "four", "4x", "65537", ""})
    EXPECT_EQ(complaint({"--ranks", n, "--", "p"}),
              "plumb-launch: --ranks: expected a number from 1 to 65536, not '" + std::string(n) + "'");
  EXPECT_EQ(complaint({"--ranks", "4"}), "plumb-launch: which program? It stands after --");
  EXPECT_EQ(complaint({"--ranks", "4", "p"}), "plumb-launch: nothing is called 'p'");
  EXPECT_EQ(complaint({"--ranks", "4", "--launcher", "mpirum", "--", "p"}),
            "plumb-launch: no launcher 'mpirum': own, mpiexec, srun, flux, or a command with {program}");
}

}  // namespace
}  // namespace plumb::launch
