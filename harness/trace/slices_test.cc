#include "harness/trace/slices.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

using Claim = std::vector<std::vector<Range>>;

Block holding(std::int64_t device, Claim claim) {
  Block block;
  block.device = device, block.claim = std::move(claim);
  return block;
}

std::string shown(const std::optional<Slice>& slice) { return slice ? print(*slice) : "none"; }

// Law: the pieces of a range, cut anywhere, with empty ones between them, are joined to it, in each dimension
// by itself; but for a gap between two of them.
TEST(Slices, PiecesThatFollowEachOtherAreOne) {
  constexpr std::int64_t n = 4;
  const std::vector<Range> beside[] = {{{1, 3}}, {{2, 2}}, {}};
  const Range joined_beside[] = {
      {1, 3},
      {0, 0},
      {0, 0}
  };
  for (unsigned cuts = 0; cuts < 1U << (n - 1); ++cuts)
    for (unsigned empty = 0; empty < 1U << (n + 1); ++empty)
      for (std::int64_t gap = -1; gap < n; ++gap) {
        std::vector<Range> pieces;
        std::int64_t from = 0;
        for (std::int64_t at = 0; at <= n; ++at) {
          if (at == n || (at > 0 && cuts >> (at - 1) & 1)) {
            if (from != gap) pieces.push_back({from, at});
            from = at;
          }
          if (empty >> at & 1) pieces.push_back({at, at});
        }
        std::vector<Range> full;
        for (const Range& piece : pieces)
          if (piece.size() > 0) full.push_back(piece);
        bool one = true;
        for (std::size_t i = 1; i < full.size(); ++i) one = one && full[i - 1].end == full[i].begin;
        const Range whole = full.empty() ? Range{0, 0} : Range{full.front().begin, full.back().end};
        for (std::size_t i = 0; i < std::size(beside); ++i) {
          const Range& other = joined_beside[i];
          ASSERT_EQ(shown(joined(holding(0, {pieces, beside[i]}))),
                    one ? print(Slice{whole, other}) : "none");
          ASSERT_EQ(shown(joined(holding(0, {beside[i], pieces}))),
                    one ? print(Slice{other, whole}) : "none");
        }
      }
  EXPECT_EQ(shown(joined(Block{})), "none") << "nothing is claimed";
}

TEST(Slices, OfAFreeResultAreAsItsBlocksSay) {
  const Case c = parse_case("on x=3: einsum mk,kn->mn f32[6@x,2] f32[2,4] -> f32[6,4]?");
  Outcome outcome;
  const Claim claims[] = {
      {{{0, 1}, {1, 2}}, {{0, 4}}        },
      {{{2, 6}},         {{0, 2}, {2, 4}}},
      {{{0, 6}},         {{1, 4}}        }
  };
  for (std::int64_t d : {2, 0, 1}) outcome.blocks.push_back(holding(d, claims[d]));
  const std::vector<Slice> slices = held_slices(c, outcome, 0);
  ASSERT_EQ(slices.size(), 3U);
  for (std::int64_t d = 0; d < 3; ++d) EXPECT_EQ(print(slices[d]), shown(joined(holding(d, claims[d])))) << d;
  outcome.blocks.pop_back();
  EXPECT_TRUE(held_slices(c, outcome, 0).empty()) << "one says nothing";
  outcome.blocks.push_back(holding(1, {
                                          {{0, 1}, {2, 6}},
                                          {{0, 4}     }
  }));
  EXPECT_TRUE(held_slices(c, outcome, 0).empty()) << "one has two pieces";
}

}  // namespace
}  // namespace plumb
