#include "harness/command/aside.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace plumb {
namespace {

TEST(Aside, PiecesAreDoneInOrderOneAtATime) {
  std::vector<int> done;
  std::atomic<int> at_once = 0, most = 0;
  {
    Aside aside;
    finish_aside(aside);  // nothing was given
    for (int i = 0; i < 100; ++i)
      give(aside, [&, i] {
        most = std::max(most.load(), ++at_once);
        done.push_back(i);
        --at_once;
      });
    finish_aside(aside);
    EXPECT_EQ(done.size(), 100U);
  }
  EXPECT_EQ(most, 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[i], i);
}

TEST(Aside, WhoGivesGoesOnMeanwhile) {
  std::atomic<bool> given = false;
  Aside aside;
  give(aside, [&] { given.wait(false); });
  given = true;  // else it would wait for ever
  given.notify_one();
  finish_aside(aside);
}

TEST(Aside, WhatItThrowsIsThrownByTheNextCall) {
  Aside aside;
  give(aside, [] { throw std::runtime_error("no room"); });
  EXPECT_THROW(give(aside, [] {}), std::runtime_error);
  give(aside, [] { throw std::runtime_error("no room"); });
  EXPECT_THROW(finish_aside(aside), std::runtime_error);
  EXPECT_NO_THROW(finish_aside(aside));
}

}  // namespace
}  // namespace plumb
