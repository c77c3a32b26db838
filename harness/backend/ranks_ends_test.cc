// How ranks behind plumb-launch end, and who is named for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "harness/backend/testing/alive.h"
#include "harness/backend/testing/fake.h"
#include "harness/backend/testing/remains.h"

namespace plumb {
namespace {

using testing::MatchesRegex;

// Four ranks, of which one has a fault.
Command four(const Faults& faults) {
  Command command{
      "ranks", {PLUMB_LAUNCH, "--ranks", "4", "--", PLUMB_RANK},
       { },
       5
  };
  command.argv.insert(command.argv.end(), faults.begin(), faults.end());
  return command;
}

// The job before takes longer to end than the next case has to be made ready.
TEST(RanksEnd, AHangAfterAHangHasTheSameName) {
  const Remains remains;
  {
    Process process(four({"stubborn", "2"}), {.start = 60, .compile = 1.8, .run = 4});
    for (int i = 0; i < 2; ++i)
      EXPECT_THAT(
          expect<Hung>(process.run(gather("", 4), operands())).what,
          MatchesRegex("rank 2 \\(host .*\\) has not entered all-gather 2 over x .*; 0, 1, 3 wait in it"));
  }
  EXPECT_THAT(remains.now(), testing::IsEmpty());
}

}  // namespace
}  // namespace plumb
