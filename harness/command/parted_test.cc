// What a program does once its requests have ended belongs to no case, and is said by each command that asks
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/command/testing/timed.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Asks {
  std::string before, after;  // the backend
  bool records = true;        // which run it is, at its end
};

TEST(Parted, IsSaidByEachCommand) {
  const Asks all[] = {
      {"run --record r.jsonl --backend ",              line},
      {"sweep --record r.jsonl --axis x=2 --backend ", line, false},
      {"bench --record r.jsonl --iterations 3 --backend ",                                              line},
  };
  for (const Asks& asks : all)
    for (const std::string last : {"", " exits-last 3"}) {
      SCOPED_TRACE(asks.before + last);
      const Folder folder;
      const Ran ran =
          run_tool(folder, asks.before + "'" PLUMB_FAKE " took 1000,1000" + last + "' " + asks.after);
      const std::string record = contents(folder.path / "r.jsonl");
      if (last.empty()) {
        EXPECT_EQ(ran.code, 0) << ran.out;
        EXPECT_THAT(ran.err, Not(HasSubstr("once its requests had ended")));
        EXPECT_THAT(record, Not(HasSubstr("afterwards")));
        continue;
      }
      EXPECT_EQ(ran.code, 1) << ran.out;
      EXPECT_THAT(ran.err, HasSubstr("once its requests had ended: "));
      if (asks.records) {
        EXPECT_THAT(record, HasSubstr("\"afterwards\":[\""));
      }
    }
}

}  // namespace
}  // namespace plumb
