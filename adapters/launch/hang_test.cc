#include "adapters/launch/hang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// One without a device.
Whereabouts idle() {
  Whereabouts w = replied();
  w.entered = 0, w.at = "";
  return w;
}

TEST(Hang, NamesTheRankForWhichTheOthersWait) {
  const Whereabouts gather = at("all-gather 3 over x");
  Whereabouts early = at("all-gather 2 over y");
  early.entered = 2;
  const struct {
    std::vector<Whereabouts> ranks;
    const char* says;
    std::vector<std::int64_t> named;
  } rows[] = {
      {{gather, gather, on("b", after("")), gather},
       "rank 2 (host b) has not entered all-gather 3 over x; 0, 1, 3 wait in it",                                                                                  {2}   },
      {{gather, gather, after("all-gather 2 over x"), gather},
       "rank 2 (host a) has not entered all-gather 3 over x (the last it left is all-gather 2 over x); 0, 1, "
       "3 "
       "wait in it",                                                                                                                                               {2}   },
      {{gather, at("all-reduce 3 over y"), gather},
       "rank 1 (host a) has not entered all-gather 3 over x (it waits in all-reduce 3 over y); 0, 2 wait in "
       "it",                                                                                                                                                       {1}   },
      {{replied(), gather},
       "rank 0 (host a) has not entered all-gather 3 over x (it has replied); 1 waits in it",                                                                      {0}   },
      {{replied(), replied(), at("all-reduce 3 over y"), replied()},
       "rank 2 (host a) has not replied (it waits in all-reduce 3 over y); 0, 1, 3 have replied",                                                                  {2}   },
      {{replied(), replied(), replied(), gather, gather, replied()},
       "ranks 3, 4 (host a) have not replied (3, 4 wait in all-gather 3 over x); 0 to 2, 5 have replied",                                                          {3, 4}},
      {{replied(), gather, gather, replied(), gather},
       "ranks 0, 3 (host a) have not entered all-gather 3 over x (they have replied); 1, 2, 4 wait in it",                                                         {0, 3}},
 // A mesh of two axes: those of other groups have replied, or are behind.
      {{replied(), replied(), after(""), replied(), replied(), replied(), gather, replied()},
       "rank 2 (host a) has not entered all-gather 3 over x; 6 waits in it",                                                                                       {2}   },
      {{early, gather, after(""), gather, early, gather, early, gather},
       "rank 2 (host a) has not entered all-gather 2 over y; 0, 4, 6 wait in it",                                                                                  {2}   },
      {{gather, at("all-reduce 3 over y"), gather, at("all-reduce 3 over y")},
       "0, 2 wait in all-gather 3 over x; 1, 3 wait in all-reduce 3 over y",                                                                                       {}    },
      {{idle(), idle(), gather, idle()},
       "rank 2 (host a) has not replied (it waits in all-gather 3 over x); 0, 1, 3 have replied",                                                                  {2}   },
      {{idle(), idle(), idle(), idle(), gather, after("")},
       "rank 5 (host a) has not entered all-gather 3 over x; 4 waits in it",                                                                                       {5}   },
      {{gather, {}, gather, {}},                                                              "ranks 1, 3 have not joined",                                        {1, 3}},
      {{gather, silent(), gather},                                                            "rank 1 (host a) does not answer; 0, 2 wait in all-gather 3 over x", {1}   },
      {{gather, gather},                                                                      "all ranks wait in all-gather 3 over x",                             {}    },
      {{gather},                                                                              "rank 0 (host a, pid 7) waits in all-gather 3 over x",               {}    },
      {{replied(), after("")},                                                                "rank 1 (host a) has not replied, and waits for nobody",             {1}   },
      {{gather, gather, on("b", after("")), on("c", after("")), gather},
       "ranks 2, 3 (host b and others) have not entered all-gather 3 over x; 0, 1, 4 wait in it",                                                                  {2, 3}},
  };
  for (const auto& [ranks, says, named] : rows) {
    const Hang hang = hang_of(ranks);
    EXPECT_EQ(hang.message, says);
    EXPECT_EQ(hang.ranks, named) << says;
    EXPECT_EQ(hang.processes.size(), ranks.size()) << says;
  }
  Whereabouts with_device = gather;
  with_device.device = "NVIDIA H100";
  EXPECT_THAT(hang_of({with_device}).processes,
              ElementsAre("rank 0, host a, pid 7, device NVIDIA H100: waits in all-gather 3 over x"));
  EXPECT_THAT(hang_of({gather, {}, silent(), replied(), after("")}).processes,
              ElementsAre("rank 1: has not joined", "rank 0, host a, pid 7: waits in all-gather 3 over x",
                          "rank 2, host a, pid 7: does not answer", "rank 3, host a, pid 7: has replied",
                          "rank 4, host a, pid 7: has waited for nobody"));
}

TEST(Hang, OfWhomItHangsIsAmongTheProcessesThatAreShown) {
  std::vector<Whereabouts> all(500, at("all-gather 3 over x"));
  all[400] = silent();
  const Hang hang = hang_of(all);
  ASSERT_EQ(hang.processes.size(), 64U);
  EXPECT_EQ(hang.processes[0], "rank 400, host a, pid 7: does not answer");
  EXPECT_EQ(hang.processes[1], "rank 0, host a, pid 7: waits in all-gather 3 over x");
}

TEST(Hang, ManyRanksAreListedAsRuns) {
  EXPECT_EQ(listed({0, 1, 2, 5, 7, 8, 10, 11, 12, 13}), "0 to 2, 5, 7, 8, 10 to 13");
  EXPECT_EQ(hang_of(std::vector<Whereabouts>(500)).processes.size(), 64U);
}

}  // namespace
}  // namespace plumb::launch
