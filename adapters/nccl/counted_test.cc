#include "adapters/nccl/counted.h"

#include <gtest/gtest.h>

namespace plumb::nccl {
namespace {

const Mesh kMesh{
    {{"x", 2}, {"y", 2}},
    {        }
};

Told told(const char* call, std::int64_t bytes, int rank, int peer = -1) {
  Told t{.call = call, .type = "ncclFloat32", .algorithm = "RING"};
  t.bytes = bytes, t.peer = peer, t.circle = {static_cast<std::uint64_t>(1 + rank / 2), 1, 2, rank % 2};
  return t;
}

// A call over y of bytes that divide in two, as the library tells it to each rank: in one piece, and of
// shares of two sizes as sends, or as reductions to one.
struct Row {
  const char* name;
  Collective said;
  std::function<std::vector<Told>(int rank)> told_to;
};
Collective over_y(const char* kind, std::int64_t in, std::int64_t out, std::optional<std::int64_t> moved) {
  Collective c{.kind = kind, .axes = {"y"}, .in = in, .out = out};
  c.moved = moved;
  return c;
}

std::vector<Row> rows() {
  using All = std::vector<Told>;
  const auto shares = [](int rank) -> std::int64_t { return rank % 2 ? 4 : 8; };
  Collective permute{.kind = "collective-permute", .in = 16, .out = 16};
  permute.pairs = {
      {0, 2},
      {2, 0},
      {1, 3},
      {3, 1}
  };
  permute.moved = 64;
  return {
      {"all-reduce",         over_y("all-reduce",                 16,                           16, {}), [](int r) { return All{told("AllReduce", 16, r)}; }},
      {"halves",                 over_y("all-reduce", 16,                             16, {}),
       [](int r) {
         return All{told("AllReduce", 8, r), told("AllReduce", 8, r)};
       }},
      {"reduce-scatter",over_y("reduce-scatter",                  16,                8, 32),
       [](int r) { return All{told("ReduceScatter", 8, r)}; }},
      {"reductions",                    over_y("reduce-scatter",                                                       12,                                                                    8, 24),
       [](int r) {
         return All{told("Reduce", 8, r, 0), told("Reduce", 4, r, 1)};
       }},
      {"all-gather",                  over_y("all-gather",                                   8,                                             16, 32), [](int r) { return All{told("AllGather", 8, r)}; }},
      {"gather by sends",                    over_y("all-gather",                                            8,                              12, 24),
       [shares](int r) {
         return All{told("Send", shares(r), r, 0), told("Send", shares(r), r, 1), told("Recv", 8, r, 0),
                    told("Recv", 4, r, 1)};
       }},
      {"all-to-all",                   over_y("all-to-all",                                                   8,                                                                                       8, 32),
       [](int r) {
         return All{told("Send", 8, r, 1 - r % 2), told("Recv", 8, r, 1 - r % 2)};
       }},
      {"permute",         permute,
       [](int r) {
         All both{told("Send", 16, r, (r + 2) % 4), told("Recv", 16, r, (r + 2) % 4)};
         for (Told& t : both) t.circle = {7, 1, 4, r};
         return both;
       }},
  };
}

std::vector<std::vector<Counted>> counted(const Row& row) {
  std::vector<std::vector<Counted>> all;
  for (int r = 0; r < 4; ++r) all.push_back({count(row.told_to(r))});
  return all;
}

TEST(CountedCalls, WhatWasCalledAsSaidIsTrue) {
  for (const Row& row : rows()) EXPECT_EQ(untrue(kMesh, {row.said}, counted(row)), "") << row.name;
}

// Whatever one rank, or all of them, did otherwise.
TEST(CountedCalls, WhatWasCalledOtherwiseIsFound) {
  using Alter = std::function<void(Counted&)>;
  const std::vector<std::pair<const char*, Alter>> alterations{
      {"another call",    [](Counted& c) { c.kind = Counted::another; }            },
      {"another of ours",
       [](Counted& c) {
         c.kind = c.kind == Counted::all_reduce ? Counted::reduce_scatter : Counted::all_reduce;
       }                                                                           },
      {"more given",      [](Counted& c) { c.in += 4, c.out += 4, c.brought += 4; }},
      {"less brought",    [](Counted& c) { c.out -= 4, c.brought -= 4, c.in -= 4; }},
  };
  for (const Row& row : rows())
    for (const auto& [name, alter] : alterations)
      for (std::size_t rank = 0; rank <= 4; ++rank) {
        auto all = counted(row);
        for (std::size_t r = 0; r < 4; ++r)
          if (rank == 4 || rank == r) alter(all[r][0]);
        EXPECT_NE(untrue(kMesh, {row.said}, all), "") << row.name << ": " << name << " by " << rank;
      }
}

// A rank that is with others, or sends to another.
TEST(CountedCalls, WhoWasInItTogetherIsCompared) {
  for (const Row& row : rows())
    for (std::size_t rank = 0; rank < 4; ++rank) {
      auto all = counted(row);
      if (row.said.pairs.empty())
        all[rank][0].circle = 3 - all[rank][0].circle;
      else
        all[rank][0].to = static_cast<std::int64_t>(rank + 1) % 4;
      EXPECT_NE(untrue(kMesh, {row.said}, all), "") << row.name;
    }
}

TEST(CountedCalls, OfACallWithNothingForARankTheOthersSpeak) {
  auto all = counted(rows()[0]);
  all[2][0] = all[3][0] = {};
  EXPECT_EQ(untrue(kMesh, {rows()[0].said}, all), "");
  EXPECT_EQ(added_in(0, all).roundings, 2);
}

TEST(Used, HowPartsAreAddedFollowsTheAlgorithm) {
  const struct {
    const char *algorithm, *type;
    int machines, ranks;
    std::int64_t additions, roundings;
  } table[] = {
      {"RING",           "ncclBfloat16",   1,  8,  7,  8 },
      {"RING",           "ncclFloat8e4m3", 4,  64, 63, 64},
      {"TREE",           "ncclBfloat16",   1,  8,  7,  8 }, // a chain
      {"TREE",           "ncclBfloat16",   8,  8,  6,  7 },
      {"TREE",           "ncclBfloat16",   64, 64, 12, 13},
      {"TREE",           "ncclBfloat16",   2,  16, 15, 16}, // the chains may have any length
      {"TREE",           "ncclBfloat16",   0,  8,  0,  0 },
      {"NVLS",           "ncclBfloat16",   1,  8,  7,  2 },
      {"NVLS",           "ncclFloat32",    1,  8,  7,  2 },
      {"NVLS",           "ncclFloat8e5m2", 1,  8,  0,  0 }, // in f16
      {"NVLS",           "ncclBfloat16",   2,  16, 0,  0 },
      {"NVLS_TREE",      "ncclBfloat16",   2,  16, 0,  0 },
      {"COLLNET_DIRECT", "ncclBfloat16",   2,  16, 0,  0 },
      {"PAT",            "ncclBfloat16",   16, 16, 0,  0 },
      {"Unknown",        "ncclBfloat16",   1,  8,  0,  0 },
  };
  for (const auto& row : table) {
    Told t{.call = "AllReduce", .type = row.type, .algorithm = row.algorithm};
    t.circle = {1, row.machines, row.ranks, 0};
    const Added added = how_added(t, row.ranks);
    EXPECT_EQ(added.additions, row.additions) << row.algorithm << row.machines;
    EXPECT_EQ(added.roundings, row.roundings) << row.algorithm << row.machines;
  }
}

// Of several calls, or ranks, the most; nothing where it is not known of one.
TEST(Used, HowPartsAreAddedIsKnownOfAllOrNone) {
  const Row row = rows()[0];
  for (const char* other : {"PAT", "RING"}) {
    std::vector<Told> calls = row.told_to(0);
    calls.push_back(calls[0]);
    calls[1].algorithm = other;
    const Added added = count(calls).added;
    EXPECT_EQ(added.roundings, std::string(other) == "RING" ? 2 : 0);
    std::swap(calls[0], calls[1]);
    EXPECT_EQ(count(calls).added.roundings, added.roundings);
  }
}

}  // namespace
}  // namespace plumb::nccl
