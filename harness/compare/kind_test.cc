#include "harness/compare/kind.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

Record found(const std::string& backend, const std::string& line, Fact fact,
             const std::string& last_words = "") {
  Record r;
  r.backend = backend, r.line = line, r.last_words = last_words;
  r.verdict.facts = {std::move(fact)};
  decide(r.verdict);
  return r;
}

TEST(Kinds, HaveLayoutsByTheRolesOfAxes) {
  const std::pair<const char*, const char*> table[] = {
      {"on x=2,y=4: reshard f32[8@x,4]+y -> f32[8,4@y]",                "reshard [A,]+B -> [,B]"           },
      {"on y=2,x=4: reshard bf16[16@x,4]+y -> bf16[16,4@y]",            "reshard [A,]+B -> [,B]"           },
      {"on x=2,y=4: reshard f32[8@x,4]+y -> f32[8,4@x]",                "reshard [A,]+B -> [,A]"           },
      {"on dp=2: einsum mk,kn->mn f32[4,4@dp] f32[4@dp,4] -> f32[4,4]", "einsum mk,kn->mn [,A] [A,] -> [,]"},
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8]? ",                    "reshard [A.B] -> []?"             },
      {"on x=2: reshard f32[8]+avg(x) -> f32[8]",                       "reshard []+avg(A) -> []"          },
      {"on x=2: reshard f32[8]+max(x) -> f32[8@x] -> f32[8]",           "reshard []+max(A) -> [A] -> []"   },
  };
  for (const auto& [line, layouts] : table) EXPECT_EQ(layouts_by_role(parse_case(line)), layouts) << line;
}

TEST(Kinds, AreOfAFrameworkWithItsOptions) {
  EXPECT_EQ(without_release("jax@0.10.2,style=explicit"), "jax,style=explicit");
  EXPECT_EQ(without_release("jax@0.10.2"), "jax");
  EXPECT_EQ(without_release("local"), "local");
  EXPECT_EQ(without_release("mpi,np=4"), "mpi,np=4");
  EXPECT_EQ(without_release("./my@home/echo"), "./my@home/echo");
}

TEST(Kinds, JoinWhatDiffersInSizesNamesAndReleases) {
  Fact left = fact(Status::wrong, "2 of 2 devices, 4 elements"), also = fact(Status::wrong, "4 of 8 devices");
  left.cause = "the sum over dp is left unfinished", also.cause = "the sum over tp is left unfinished";
  const Record one = found("jax@0.9.1", "on dp=2: reshard f32[8]+dp -> f32[8]", left),
               two = found("jax@0.10.2", "on x=4,tp=2: reshard bf16[16]+tp -> bf16[16]", also);
  EXPECT_EQ(kind_of(one), kind_of(two));
  EXPECT_EQ(kind_of(one).why, "the sum over A is left unfinished");
  also.cause = "the parts are added up";
  EXPECT_NE(kind_of(one), kind_of(found("jax@0.9.1", one.line, also))) << "another cause";
  EXPECT_NE(kind_of(one), kind_of(found("jax,partitioner=gspmd", one.line, left))) << "other options";
  EXPECT_NE(kind_of(one), kind_of(found("jax@0.9.1", "on dp=2: reshard f32[8]+dp -> f32[8@dp]", left)));
}

TEST(Kinds, OfACrashSayTheCheckThatEndedIt) {
  const auto crash = [](const std::string& words) {
    return kind_of(found("jax@0.9.1", "on x=2: reshard f32[8@x] -> f32[8]",
                         fact(Status::crashed, "ended by signal 6"), words));
  };
  const Kind one = crash("warming up\nF0123 spmd.cc:4711] Check failed: a.rank() == 3\n*** stack 0x7f");
  EXPECT_EQ(one.why, "ended by signal N: Check failed: a.rank() == N");
  EXPECT_EQ(one, crash("cold\nF0999 spmd.cc:17] Check failed: a.rank() == 5\n"));
  EXPECT_NE(one, crash("F0123 spmd.cc:4711] Check failed: b.rank() == 3\n"));
  EXPECT_EQ(crash("LLVM ERROR: F1125 02:42:57.5 7 a/b/spmd.cc:88] it is not supported yet").why,
            "ended by signal N: it is not supported yet");
  EXPECT_EQ(crash("terminate: vector[3] is gone").why, "ended by signal N: terminate: vector[N] is gone");
}

TEST(Kinds, OfReplicasAndWasteSayNothingOfWhereAndHowMuch) {
  const auto why = [](Status status, const std::string& text) {
    return kind_of(found("jax", "on x=2: reshard f32[8@x] -> f32[8]", fact(status, text))).why;
  };
  EXPECT_EQ(why(Status::diverged, "2 devices hold other bits: device 1 (x=1) differs at element 3"),
            "replicas");
  EXPECT_EQ(why(Status::wasteful, "moved 96 bytes, the fewest are 8: 12.00 times, the limit is 2"),
            why(Status::wasteful, "moved 16 bytes, the fewest are 0"));
}

// Its layouts are a part of the kind already: said again in its words they would make each a cause.
TEST(Kinds, OfWhatIsMisplacedSayNoLayout) {
  const auto why = [](const std::string& text) {
    return kind_of(found("jax", "on x=2,y=2: reshard f32[8@x] -> f32[8@y]", fact(Status::misplaced, text))).why;
  };
  const std::string one = why("2 of 4 devices; the first, 1 (x=0,y=1), says it holds [0:4] instead of [4:8]");
  EXPECT_EQ(one, why("4 of 4 devices; the first, 2 (y=1,x=0), says it holds [0:2&4:6] instead of [0:4]"));
  EXPECT_EQ(one, "N of N devices; the first, N ... says it holds ... instead of ...");
  EXPECT_EQ(why("claims f32[8@x] instead of f32[8@y]"), why("claims f32[8] instead of f32[8@y.x]"));
  EXPECT_NE(why("claims f32[8@x] instead of f32[8@y]"),
            why("claims f32[8]+x: other sums are left unfinished than in f32[8@y]"));
}

TEST(Kinds, OfNoFindingSayNothing) {
  Record r;
  r.backend = "local", r.line = "on x=2: reshard f32[8@x] -> f32[8]";
  decide(r.verdict);
  EXPECT_EQ(kind_of(r).why + kind_of(r).layouts, "");
}

}  // namespace
}  // namespace plumb
