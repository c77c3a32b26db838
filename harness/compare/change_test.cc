#include "harness/compare/change.h"

#include <gtest/gtest.h>

#include <set>

namespace plumb {
namespace {

std::vector<Status> all() {
  std::vector<Status> list;
  for (int i = 0; i < statuses; ++i) list.push_back(static_cast<Status>(i));
  return list;
}

const std::set silent{Status::misplaced, Status::leaked, Status::wrong, Status::diverged, Status::unstable};

// What stands in the header, of every two statuses.
Change due(Status from, Status to) {
  if (from == Status::unrun || to == Status::unrun) return Change::uncompared;
  if (from == to) return Change::same;
  if (to == Status::waived) return Change::waived;
  if (to == Status::pass) return from == Status::unsupported ? Change::gained : Change::fixed;
  if (to == Status::unsupported) return from == Status::pass ? Change::lost : Change::hidden;
  if (from == Status::pass || from == Status::waived) return Change::regression;
  if (from == Status::unsupported) return Change::exposed;
  return silent.contains(to) && !silent.contains(from) ? Change::worse : Change::changed;
}

TEST(Changes, AreTotal) {
  for (Status from : all())
    for (Status to : all()) EXPECT_EQ(change(from, to), due(from, to)) << name(from) << " -> " << name(to);
}

TEST(Changes, NothingIsFixedButByAPass) {
  for (Status from : all())
    for (Status to : all())
      if (change(from, to) == Change::fixed) {
        EXPECT_EQ(to, Status::pass);
        EXPECT_TRUE(finding(from) || from == Status::waived) << name(from);
      }
}

TEST(Changes, HaveNamesOfTheirOwn) {
  for (int i = 0; i < change_kinds; ++i) {
    const auto change = static_cast<Change>(i);
    EXPECT_EQ(change_named(name(change)), change) << name(change);
  }
  EXPECT_EQ(change_named("better"), std::nullopt);
}

}  // namespace
}  // namespace plumb
