#include "adapters/nccl/seats.h"

#include <gtest/gtest.h>

#include <set>

namespace plumb::nccl {
namespace {

// Ranks on machines, each of which has so many GPUs that every rank there sees.
std::vector<Seen> ranks(const std::vector<std::pair<std::string, int>>& on) {
  std::vector<Seen> all;
  for (const auto& [machine, cards] : on) all.push_back({machine, cards});
  return all;
}

// Law: where every machine has as many GPUs as ranks, however these are dealt out, each has one of its own.
TEST(Seats, EveryRankHasACardOfItsOwn) {
  for (int cards = 2; cards <= 4; ++cards)
    for (unsigned dealt = 0; dealt < 1U << 6; ++dealt) {
      std::vector<std::pair<std::string, int>> on;
      int of_a = 0;
      for (int r = 0; r < 6; ++r)
        of_a += (dealt >> r & 1) != 0, on.emplace_back(dealt >> r & 1 ? "a" : "b", cards);
      const std::vector<Seen> all = ranks(on);
      std::set<std::pair<std::string, int>> taken;
      for (int r = 0; r < 6; ++r) {
        std::string why;
        const int number = number_of_card(all, r, Share::none, why);
        const int here = all[r].machine == "a" ? of_a : 6 - of_a;
        EXPECT_EQ(number<0, here> cards) << dealt;
        EXPECT_EQ(why.empty(), number >= 0) << dealt;
        EXPECT_LT(number, cards);
        EXPECT_TRUE(number < 0 || taken.emplace(all[r].machine, number).second) << dealt;
      }
    }
}

TEST(Seats, SharedCardsAreDealtInTurn) {
  std::string why;
  const std::vector<Seen> all = ranks({
      {"a", 2},
      {"a", 2},
      {"a", 2},
      {"a", 2}
  });
  for (int r = 0; r < 4; ++r) EXPECT_EQ(number_of_card(all, r, Share::hostid, why), r % 2);
  EXPECT_EQ(number_of_card(all, 0, Share::none, why), -1);
  EXPECT_EQ(why, "2 GPUs for 4 ranks on one machine: np=2, or share=hostid");
}

// Law: of several ranks that share some two have the same card, however many cards there are.
TEST(Seats, WhoSharesHasACardWithAnother) {
  for (int n = 2; n <= 8; ++n)
    for (int cards = 1; cards <= 9; ++cards)
      for (Share share : {Share::hostid, Share::multi}) {
        std::string why;
        const std::vector<Seen> all(n, {"a", cards});
        std::set<int> taken;
        for (int r = 0; r < n; ++r) taken.insert(number_of_card(all, r, share, why));
        EXPECT_EQ(why, "");
        EXPECT_EQ(std::ssize(taken), cards < n ? cards : 1) << n << " ranks, " << cards << " cards";
      }
}

// Whoever starts ranks may show each but its own: then all have the number 0, and differ in where it lies.
TEST(Seats, ARankThatSeesOneCardHasThat) {
  std::string why;
  EXPECT_EQ(number_of_card(ranks({
                               {"a", 1},
                               {"a", 1}
  }),
                           1, Share::none, why),
            0);
  EXPECT_EQ(shared_by_accident({
                {"a", "0000:01:00.0"},
                {"a", "0000:02:00.0"},
                {"b", "0000:01:00.0"}
  }),
            "");
  EXPECT_EQ(shared_by_accident({
                                   {"a", "0000:01:00.0"},
                                   {"b", "0000:01:00.0"},
                                   {"a", "0000:01:00.0"}
  })
                .substr(0, 48),
            "ranks 0 and 2 have the same GPU, 0000:01:00.0: f");
}

}  // namespace
}  // namespace plumb::nccl
