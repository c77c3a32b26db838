// A trace that cannot have made a result.
#include "harness/judge/contradiction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/claimed.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

Collective one(const std::string& kind, const std::string& axis, std::int64_t in, std::int64_t out) {
  return {.kind = kind, .axes = {axis}, .in = in, .out = out};
}

std::string doubt(const std::string& line, const Trace& trace) {
  Outcome outcome;
  outcome.trace = trace;
  const auto found = contradiction(parse_case(line), outcome);
  if (!found) return "";
  EXPECT_EQ(found->status, Status::mistrusted);
  return found->text;
}

// What is said; where nothing is, the trace may have made it.
void expect_doubt(const std::string& line, const Trace& trace, const std::string& says) {
  const std::string said = doubt(line, trace);
  if (says.empty())
    EXPECT_EQ(said, "") << line;
  else
    EXPECT_THAT(said, testing::HasSubstr(says)) << line;
}

TEST(Contradiction, ATraceThatCannotHaveMadeTheResult) {
  const auto counted = [](std::int64_t bytes) {
    return Collective{.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32, .moved = bytes};
  };
  const auto over = [](const char* kind) {
    return [kind](const char* axis, std::int64_t in, std::int64_t out) { return one(kind, axis, in, out); };
  };
  const auto ag = over("all-gather"), ar = over("all-reduce"), rs = over("reduce-scatter");
  const Collective send = {.kind = "send"};
  Collective swap = {.kind = "collective-permute", .in = 1000, .out = 1000};
  swap.pairs = {
      {0, 1},
      {1, 0}
  };
  const std::string gather = "on x=2,y=2: reshard f32[8@x] -> f32[8]",
                    sum = "on x=2,y=2: reshard f32[8]+x -> f32[8]",
                    product = "on x=2,y=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]";
  const std::string crossed = "on x=2,y=2: einsum mk,kn->mn f32[8@x,8@y] f32[8@y,8@x] -> f32[8,8]";
  const std::string halves = "on x=2,y=2: einsum bk,bkn->bn f32[4@y,1@x] f32[4@y,1,1] -> f32[4,1@x]";
  const Collective swap_x = {
      .kind = "send", .groups = {{0, 2}, {1, 3}},
           .in = 48, .out = 128
  };
  const std::string spread = "on x=4: reshard f32[8]+x -> f32[8]",
                    both = "on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]";
  const auto s8 = [](const char* kind, std::int64_t in, std::int64_t out) {
    return Collective{.kind = kind, .axes = {"x"}, .in = in, .out = out, .op = "add", .dtype = "s8"};
  };
  const auto ordered = [&](std::int64_t additions) {
    Collective all = ar("x", 32, 32);
    all.axes = {"x", "y"}, all.additions = additions, all.roundings = 9;
    return all;
  };
  const std::string padded = "on x=2,y=2: reshard f32[7@x] -> f32[7]";
  const struct {
    std::string line;
    Trace trace;
    std::string says;
  } table[] = {
  // clang-format off
      {gather,  {ag("x", 16, 32)},                   ""},
      {gather,  {send},                              ""},
      {gather,  {one("send", "x", 16, 16)},          ""},
      {gather,  {one("send", "x", 8, 16)},           "it moved 32 bytes where no program moves fewer than 64"},
      {gather,  {one("send", "x", 16, 8)},           "device 0 received at most 8 bytes of the 16"},
      {gather,  {one("send", "x", 16, 0)},           ""},
      {gather,  {counted(64)},                       ""},
      {gather,  {counted(-1)},                       ""},
      {gather,  {counted(8)},                        "received at most 8 bytes"},
      {gather,  {ag("y", 16, 32)},                   "needs element [4] of device 2"},
      {gather,  {swap},                              "needs element [4] of device 2"},
      {gather,  {ag("x", 8, 16)},                    "device 0 received at most 8 bytes of the 16"},
      {gather,  {ag("x", 0, 100000)},                "one all-gather over 2 devices cannot make 100000 bytes of 0"},
      {gather,  {ag("x", 4, 4096)},                  "one all-gather over 2 devices cannot make 4096 bytes of 4"},
      {gather,  {ag("x", 64, 32)},                   "cannot make 32 bytes of 64"},
      {gather,  {ag("x", 20, 32)},                   "over 2 devices makes 32 bytes of 20"},
      {padded,  {ag("x", 16, 32)},                   ""},
      {sum,     {ar("x", 32, 32)},                   ""},
      {sum,     {rs("x", 32, 16), ag("x", 16, 32)},  ""},
      {sum,     {ordered(2)},                        ""},
      {sum,     {ordered(1)},                        "one all-reduce over 4 devices cannot add up with 1 additions of a part"},
      {sum,     {ar("x", 0, 64), ar("x", 64, 64)},   "one all-reduce over 2 devices cannot make 64 bytes of 0"},
      {sum,     {ar("y", 32, 32)},                   "needs element [0] of device 2"},
      {sum,     {rs("x", 16, 32)},                   "cannot make 32 bytes of 16"},
      // What is scattered is finished, and nothing is before: a gather first brings single parts.
      {spread,  {rs("x", 32, 8), ag("x", 8, 32)},    ""},
      {spread,  {ag("x", 8, 32), rs("x", 32, 8)},    "device 0 can have learnt at most 20 of the 32 terms"},
      {spread,  {one("all-to-all", "x", 32, 8), ag("x", 8, 32)}, "makes 8 bytes of 32, and no blocks of these arrays are so uneven"},
      {spread,  {s8("reduce-scatter", 32, 8), ag("x", 8, 32)}, "device 0 received at most 24 bytes of the 32"},
      {spread,  {s8("all-reduce", 4, 4), rs("x", 32, 8), ag("x", 8, 32)}, ""},  // counts something else
      {gather,  {one("collective-broadcast", "x", 32, 32)}, "device 0 (x=0,y=0) needs element [4] of device 2"},
      {gather,  Trace(2, one("collective-broadcast", "x", 32, 64)), "cannot make 64 bytes of 32"},
      // A sum scattered over y ends with other pieces than the layout has.
      {both,    {rs("x", 32, 16), ar("y", 16, 16)},  ""},
      {both,    {rs("y", 32, 16), ar("x", 16, 16)},  "the side of device 0 can have learnt at most 24 of the 32 terms of its blocks"},
      {"on x=2,y=2: reshard f32[8]+y -> f32[8@x]", {rs("y", 32, 16)}, "executed, it does not leave [0:4] of the result on device 0"},
      {product, {ar("x", 64, 64)},                   ""},
      {product, {},                                  "of operand 0, device 0 (x=0,y=0) needs element [0,4] of device 2"},
      {product, {ar("y", 64, 64)},                   "of operand 0, device 0"},
      // Rows and columns over x, terms over y: one gather of either operand leaves the other half unmade.
      {crossed, {ag("x", 64, 128), ag("x", 64, 128), ar("y", 256, 256)}, ""},
      {crossed, {ag("x", 64, 128), ar("y", 256, 256)}, "the fibre of device 0 received at most 128 bytes of the 256"},
      {crossed, {ag("x", 128, 256), ar("y", 256, 256)}, ""},
      {crossed, {ag("x", 64, 128), ar("y", 256, 256), ag("x", 128, 256)}, ""},  // of the result
      {crossed, {ag("x", 64, 128), ag("x", 64, 128), {.kind = "send", .axes = {"x"}}, ar("y", 256, 256)}, ""},
      // Two of four are its own: two values come by a sum over y, as one by a sum of one cannot.
      {halves,  {ar("y", 8, 8)},                     ""},
      {halves,  {ar("y", 4, 4)},                     "device 0"},
      {crossed, {swap_x, ar("y", 256, 256)}, "it moved 192 bytes where no program moves fewer than 512"},
  // clang-format on
  };
  for (const auto& row : table) expect_doubt(row.line, row.trace, row.says);
}

TEST(Contradiction, WhereNothingIsMovedABlockIsMadeOfWhatItsDeviceHolds) {
  const struct {
    const char *line, *says;
  } table[] = {
  // clang-format off
      {"on x=2,y=2: einsum mk,kn->mn f32[4@x,8] f32[8,4@y] -> f32[4@x,4@y]",     ""},
      {"on x=2,y=2: einsum mk,kn->mn f32[4@x,8] f32[8,4@y] -> f32[4,4@y]",       "of operand 0, device 0"},
      {"on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]+x",           ""},
      {"on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]?",            ""},  // nothing is claimed
      {"on x=2: grouped fwd f32[8,4] f32[2@x,4,4] sizes=3,5 -> f32[8,4]",        "of operand 1, device 0 (x=0) needs element [1,0,0]"},
      {"on x=2: grouped fwd f32[8@x,4] f32[2@x,4,4] sizes=4,4 -> f32[8@x,4]",    ""},
      {"on x=2: grouped fwd f32[8@x,4] f32[2@x,4,4] sizes=3,5 -> f32[8@x,4]",    "of operand 1, device 0 (x=0) needs element [1,0,0]"},
      {"on x=2: grouped fwd f32[8@x,4] f32[2,4,4] sizes=0,0 -> f32[8,4]",        ""},
      {"on x=2: grouped wgrad f32[8@x,4] f32[8@x,4] sizes=4,4 -> f32[2@x,4,4]",  ""},
      {"on x=2: grouped wgrad f32[8@x,4] f32[8@x,4] sizes=3,5 -> f32[2@x,4,4]",  "of operand 0, device 1 (x=1) needs element [3,0]"},
      {"on x=2: quantize fp8 bf16[8@x] -> f8e4m3[8@x] f32[]",                    "needs element [4]"},
      {"on x=2: quantize mxfp8 bf16[64@x] -> f8e4m3[64@x] e8m0[2@x]",            ""},
      {"on x=2: quantize mxfp8 bf16[64@x] -> f8e4m3[64@x] e8m0[2]",              "needs element [32]"},
      {"on x=2: einsum mk,kn->mn bf16[4@x,8]~fp8 bf16[8,4]~fp8 -> f32[4@x,4]",   "of operand 0, device 0 (x=0) needs element [2,0]"},
      {"on x=2: einsum mk,kn->mn bf16[4@x,8]~mxfp8 bf16[8,4]~fp8 -> f32[4@x,4]", ""},
  // clang-format on
  };
  for (const auto& row : table) expect_doubt(row.line, {}, row.says);
}

// Of the whole array on every device, or of slices that the mesh has no name for.
TEST(Contradiction, OfAFreeResultBySlices) {
  const auto text = [](const std::vector<Range>& ranges, const Trace& trace) {
    const Case c = parse_case("on x=2,y=2: reshard f32[4@x.y] -> f32[4]?");
    Outcome outcome;
    for (std::int64_t device = 0; device < 4; ++device)
      outcome.blocks.push_back({device, 0, 0, 0, {{{ranges[device]}}}});
    outcome.claims = {std::nullopt};
    outcome.trace = trace;
    const auto found = contradiction(as_claimed(c, outcome), outcome);
    return found ? found->text : "";
  };
  const Collective gather{
      .kind = "all-gather", .axes = {"x", "y"},
           .in = 4, .out = 16
  };
  const std::vector<Range> all(4,
                               {
                                   0, 4
  }),
      turned{{3, 4}, {1, 2}, {2, 3}, {0, 1}};
  EXPECT_EQ(text(all, {gather}), "");
  EXPECT_THAT(text(all, {}), testing::HasSubstr("needs element [1] of device 1"));
  EXPECT_EQ(text(turned, {gather}), "");
  EXPECT_THAT(text(turned, {}), testing::HasSubstr("needs element [3] of device 3"));
  EXPECT_EQ(text(
                {
                    {0, 1},
                    {1, 2},
                    {2, 3},
                    {3, 4}
  },
                {}),
            "")
      << "it stays where it was";
}

TEST(Contradiction, WhatAFibreLeavesUnfinishedItReceivesTogether) {
  const std::string line = "on x=2,y=2: reshard f32[8@y] -> f32[8]+x";
  EXPECT_EQ(doubt(line,
                  {
                      {.kind = "collective-permute", .pairs = {{1, 0}, {2, 3}}, .in = 16, .out = 16}
  }),
            "");
  EXPECT_NE(doubt(line,
                  {
                      {.kind = "collective-permute", .pairs = {{1, 0}}, .in = 16, .out = 16}
  }),
            "");
}

// A trace that leaves a collective out, or moves a few bytes.
TEST(Contradiction, WhatATraceOfAProductMustMove) {
  const auto says = [](const Trace& trace) {
    Outcome outcome;
    outcome.trace = trace;
    const auto found = contradiction(
        parse_case("on x=2,y=3: einsum mk,kn->mn f32[6@x,12@y] f32[12@y,4] -> f32[6@x,4]"), outcome);
    return found ? found->text : "";
  };
  const auto over_y = [](const std::string& kind, std::int64_t in, std::int64_t out) {
    return Collective{.kind = kind, .axes = {"y"}, .in = in, .out = out};
  };
  const Collective scatter = over_y("reduce-scatter", 48, 16), gather = over_y("all-gather", 16, 48);
  EXPECT_EQ(says({over_y("all-reduce", 48, 48)}), "");
  EXPECT_EQ(says({scatter, gather}), "");
  EXPECT_EQ(says({over_y("all-gather", 48, 144), over_y("all-gather", 64, 192)}), "") << "of the operands";
  EXPECT_THAT(says({scatter}), testing::HasSubstr("received at most 16 bytes of the 48"));
  EXPECT_THAT(says({gather}), testing::HasSubstr("received at most 32 bytes of the 48"));
  EXPECT_THAT(says({over_y("all-gather", 1, 3)}), testing::HasSubstr("received at most 2 bytes of the 48"));
  Collective few = over_y("all-reduce", 48, 48);
  few.moved = 100;
  EXPECT_THAT(says({few}), testing::HasSubstr("it moved 100 bytes where no program moves fewer than 288"));
}

TEST(Contradiction, OneGatherDoesNotBringBothOperandsWhereItHasTheBytesOfOne) {
  const std::string rows = "on x=4: einsum mk,kn->mn f32[8@x,8] f32[8,8@x] -> f32[8@x,8]",
                    whole = "on x=4: einsum mk,kn->mn f32[8@x,8] f32[8,8@x] -> f32[8,8]",
                    terms = "on x=4: einsum mk,kn->mn f32[8,8@x] f32[8@x,8] -> f32[8,8]";
  const auto ag = [](std::int64_t in) { return one("all-gather", "x", in, 4 * in); };
  expect_doubt(rows, {ag(16)}, "device 0 received at most 48 bytes of the 192");
  expect_doubt(rows, {ag(64)}, "");
  expect_doubt(rows, {ag(64), ag(16)}, "");
  expect_doubt(rows, {ag(16), one("all-to-all", "x", 64, 64)}, "");  // of what was multiplied elsewhere
  expect_doubt(whole, {ag(64)}, "device 0 received at most 192 bytes of the 384");
  expect_doubt(whole, {ag(128)}, "");
  expect_doubt(whole, {ag(64), ag(64)}, "");
  expect_doubt(terms, {ag(256)}, "");  // the parts, added up where they come
  expect_doubt(terms, {one("all-reduce", "x", 256, 256)}, "");
  Collective loop = ag(16);
  loop.times = 3;
  expect_doubt(rows, {loop}, "");
}

// Each half of the mesh lacks half of the terms of its rows, and another collective within it brings none.
TEST(Contradiction, WhatIsMadeOnTheOtherSideOfAnAxisCrossesIt) {
  const std::string line = "on x=2,y=2: einsum mk,kn->mn f32[4@y,8] f32[8@x.y,4] -> f32[4@y,4]";
  const Collective within = one("all-gather", "y", 32, 64), scatter = one("reduce-scatter", "x", 32, 16),
                   gather = one("all-gather", "x", 16, 32);
  expect_doubt(line, {within, scatter, gather}, "");
  expect_doubt(line, {within, scatter}, "the fibre of device 0 received at most 32 bytes of the 64");
  expect_doubt(line, {within, one("all-reduce", "x", 32, 32)}, "");
  expect_doubt(line, {within, one("all-reduce", "x", 16, 16), within},
               "the fibre of device 0 received at most 32 bytes of the 64");
  expect_doubt(line, {one("all-gather", "x", 32, 64), one("all-gather", "y", 64, 128)},
               "");  // of the operand
  expect_doubt(line, {one("all-gather", "x", 32, 64), one("all-reduce", "y", 16, 16)},
               "the fibre of device 0");
}

// Half of each block is scattered over x, and the other half is gathered over y, but not before.
TEST(Contradiction, WhatIsGatheredBeforeASumHasNothingOfIt) {
  const std::string line = "on x=2,y=2: einsum mk,kn->mn f32[12,12@x.y] f32[12@x,12] -> f32[12@x,12]";
  const Collective operand = one("all-gather", "y", 144, 288), sum = one("reduce-scatter", "x", 288, 144),
                   result = one("all-gather", "y", 144, 288);
  expect_doubt(line, {operand, sum, result}, "");
  expect_doubt(line, {operand, sum},
               "device 0 was brought at most 144 bytes of what its fibre lacks, and needs 288");
  expect_doubt(line, {operand, one("reduce-scatter", "x", 576, 288)}, "");
  expect_doubt(line, {one("all-gather", "x", 144, 288), operand, result}, "");  // of operands across x
}

TEST(Contradiction, WhatOneDeviceSendsIsNoSumOverOthers) {
  const auto ar = [](const char* axis, const char* op) {
    Collective sum = one("all-reduce", axis, 32, 32);
    sum.op = op;
    return sum;
  };
  const Collective broadcast = one("collective-broadcast", "y", 32, 32);
  const std::string sum = "on x=2,y=2: reshard f32[8]+x.y -> f32[8]",
                    most = "on x=2,y=2: reshard f32[8]+max(x.y) -> f32[8]";
  const char* const lacks =
      "needs element [0] of device 1 (x=0,y=1), and no collective takes it there across y";
  expect_doubt(sum, {ar("x", ""), broadcast}, lacks);
  expect_doubt(sum, {ar("x", ""), broadcast, broadcast}, "");  // from each in turn, and added up there
  expect_doubt(sum, {ar("x", ""), ar("y", "")}, "");
  expect_doubt("on x=2,y=2: reshard f32[8]+x -> f32[8]", {ar("x", ""), broadcast}, "");
  expect_doubt(most, {ar("x", "max"), ar("y", "add")}, lacks);
  expect_doubt(most, {ar("x", "max"), ar("y", "max")}, "");
  expect_doubt(most, {ar("x", "max"), ar("y", "")}, "");
  // Blocks beside zeros: of each element another device has the value.
  expect_doubt("on x=2,y=2: reshard f32[8@y]+max(x) -> f32[8]", {ar("x", "max"), ar("y", "add")}, "");
  expect_doubt("on x=2,y=2: reshard f32[8]+max(x) -> f32[8]+max(x) -> f32[8] -> f32[8]+y",
               {ar("x", "max"), ar("y", "add")}, "");
}

// Of codes with one scale the largest magnitude of all devices is none of one device.
TEST(Contradiction, OneDevicesLargestMagnitudeIsNotThatOfAll) {
  const Collective broadcast = one("collective-broadcast", "x", 4, 4);
  const std::string line = "on x=4: quantize fp8 bf16[64@x,64] -> f8e4m3[64@x,64] f32[]";
  expect_doubt(line, {broadcast}, "device 0 (x=0) needs element [16,0] of device 1");
  expect_doubt(line, Trace(3, broadcast), "device 0 (x=0) needs element");
  expect_doubt(line, Trace(4, broadcast), "");
  expect_doubt("on x=4,y=2: quantize fp8 bf16[64@y,64] -> f8e4m3[64@y,64] f32[]", {broadcast}, "across y");
}

// Who is brought what others have by a narrow way over y has no more of it by a wide one over x.
TEST(Contradiction, WhatASideOfTheMeshLacksComesToIt) {
  const auto ag = [](const char* axis, std::int64_t in) { return one("all-gather", axis, in, 2 * in); };
  const std::string line = "on x=2,y=2: reshard f32[64@y,2] -> f32[64,2]";
  expect_doubt(line, {ag("y", 4), ag("x", 256)}, "the fibre of device 0 received at most 8 bytes of the 256");
  expect_doubt(line, {ag("y", 128), ag("x", 256)}, "");  // half a block each
  expect_doubt(line, {ag("y", 256), ag("x", 256)}, "");
  expect_doubt(line, {ag("y", 4), ag("y", 4), ag("x", 256)}, "received at most 16 bytes of the 256");
  Collective relay{
      .kind = "collective-permute", .pairs = {{3, 2}, {0, 1}},
           .in = 8, .out = 8
  };
  expect_doubt(line, {relay, ag("x", 256)}, "received at most 8 bytes of the 256");
  relay.in = relay.out = 256;
  expect_doubt(line, {relay, ag("x", 256)}, "");
  // Sides that are no fibres: devices 0 and 3, and 1 and 2.
  const Collective within{
      .kind = "all-gather", .groups = {{0, 3}, {1, 2}},
           .in = 256, .out = 512
  };
  const Collective between{
      .kind = "collective-permute", .pairs = {{0, 1}, {1, 0}, {2, 3}, {3, 2}},
           .in = 8, .out = 8
  };
  const std::string sides = "on d=4 ids=0,3,1,2: reshard f32[64]+d -> f32[64]";
  expect_doubt(sides, {within, between}, "the fibre of device 0 received at most 16 bytes of the 256");
}

TEST(Contradiction, OfAProductInPartsBothFactorsOfATermMeetSomewhere) {
  const std::string line = "on x=2: einsum mk,kn->mn f32[8@x,8] f32[8@x,8] -> f32[8,8]+x",
                    terms = "on x=2: einsum mk,kn->mn f32[8,8@x] f32[8@x,8] -> f32[8,8]+x",
                    groups = "on x=2: grouped wgrad f32[8,4@x] f32[8@x,4] sizes=4,4 -> f32[2,4,4]+x",
                    own = "on x=2: grouped wgrad f32[8@x,4] f32[8@x,4] sizes=4,4 -> f32[2,4,4]+x";
  expect_doubt(line, {}, "can have both factors of the term m = 0, k = 4, n = 0");
  expect_doubt(line, {one("all-gather", "x", 128, 256)}, "");
  expect_doubt(groups, {}, "can have both factors of the term");
  const std::string of_parts = "on x=2: einsum mk,kn->mn f32[4@x,4] f32[4,4]+x -> f32[4,4]+x";
  expect_doubt(of_parts, {}, "can have both factors of the term m = 0, k = 0, n = 0");
  expect_doubt("on x=2: einsum mk,kn->mn f32[4,4]+x f32[4,4]+x -> f32[4,4]+x", {}, "can have both factors");
  for (const std::string& at_hand : {terms, own}) expect_doubt(at_hand, {}, "");
}

TEST(Contradiction, LessThanMustMoveIsMistrusted) {
  const Case c = parse_case("on x=4: reshard f32[16@x] -> f32[16]");
  Outcome outcome;
  const auto doubt = short_fact(cost(c, outcome));
  ASSERT_TRUE(doubt);
  EXPECT_EQ(doubt->status, Status::mistrusted);
  EXPECT_THAT(doubt->text, testing::HasSubstr("0 bytes"));
  EXPECT_THAT(doubt->text, testing::HasSubstr("192"));
  outcome.trace.push_back({.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 64});
  EXPECT_FALSE(short_fact(cost(c, outcome))) << "not a byte too few";
  outcome.trace.push_back({.kind = "send", .in = 16, .out = 64});
  EXPECT_FALSE(short_fact(cost(c, outcome))) << "of unknown price";
}

TEST(Contradiction, OfAProductNothingMustMove) {
  const Case c = parse_case("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]");
  EXPECT_FALSE(short_fact(cost(c, Outcome{})));
}

// bf16 has fewer digits than f16, which has fewer exponents.
TEST(Contradiction, FloatsAreAddedUpInWhatHoldsThem) {
  const auto says = [](const std::string& held, const char* dtype, const char* more = "") {
    Collective sum = one("all-reduce", "x", 0, 0);
    sum.dtype = dtype, sum.in = sum.out = 8 * format(*dtype_named(dtype)).bytes;
    return doubt("on x=2: reshard " + held + "[8]+x -> " + held + "[8]" + more, {sum});
  };
  for (const auto& [held, dtype] : {
           std::pair{"f16",    "bf16"  },
           {"bf16",   "f16"   },
           {"f8e4m3", "f8e5m2"}
  })
    EXPECT_THAT(says(held, dtype), testing::HasSubstr("does not hold the values of " + std::string(held)))
        << dtype;
  for (const auto& [held, dtype] : {
           std::pair{"f16",    "f32" },
           {"f16",    "f16" },
           {"f8e5m2", "bf16"},
           {"f8e4m3", "f16" }
  })
    EXPECT_EQ(says(held, dtype), "") << held << dtype;
  for (const char* asked : {" wire=bf16", " acc=bf16"}) EXPECT_EQ(says("f16", "bf16", asked), "") << asked;
}

}  // namespace
}  // namespace plumb
