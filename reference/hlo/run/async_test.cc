// What is begun and waited for is what it would be in one step; bitcasts read memory in other extents.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "reference/hlo/run/maps.h"
#include "reference/hlo/run/random.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

constexpr const char* kHead = R"(HloModule m, num_partitions=4

%sum (a: s32[], b: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %s = s32[] add(%a, %b)
}

%twice (t: s32[4]) -> s32[4] {
  %t = s32[4] parameter(0)
  ROOT %u = s32[4] add(%t, %t)
}, execution_thread="other"

ENTRY %e {
  %id = u32[] partition-id()
  %d = s32[] convert(%id)
  %all = s32[4] broadcast(%d), dimensions={}
  %n = s32[4] iota(), iota_dimension=0
  %four = s32[] constant(4)
  %fours = s32[4] broadcast(%four), dimensions={}
  %scaled = s32[4] multiply(%all, %fours)
  %x = s32[4] add(%scaled, %n)
  %y = s32[4] multiply(%x, %x)
)";

// Each device's integers of the root; x is 0 to 15 over the devices, y their squares.
std::vector<Integers> on_four(const std::string& lines) {
  const Module module = parse(kHead + lines + "}\n", "m.txt");
  Reals reals;
  const Machine<Reals> machine{module, reals, 4, {}};
  Value<double> root = evaluate(machine, entry(module), {}, {});
  if (!root.array) root = root.parts.at(0);
  std::vector<Integers> lanes;
  const std::int64_t size = count(root.array->dims);
  for (std::int64_t d = 0; d < 4; ++d) {
    const auto at = root.array->integers.begin() + begin_on(*root.array, d, size);
    lanes.emplace_back(at, at + size);
  }
  return lanes;
}

TEST(Begun, EachCollectiveBringsWhatItDoesInOneStep) {
  const std::string groups = "channel_id=1, replica_groups={{0,2},{3,1}}",
                    ids = ", use_global_device_ids=true",
                    pairs = "channel_id=1, source_target_pairs={{0,1},{1,3}}";
  const struct {
    std::string opcode, result, attributes;
  } table[] = {
      {"all-reduce",           "",       groups + ids + ", to_apply=%sum"                },
      {"all-gather",           "s32[8]", groups + ids + ", dimensions={0}"               },
      {"all-to-all",           "s32[4]", groups + ", dimensions={0}"                     },
      {"reduce-scatter",       "s32[2]", groups + ids + ", dimensions={0}, to_apply=%sum"},
      {"collective-broadcast", "s32[4]", groups                                          },
      {"collective-permute",   "s32[4]", pairs                                           },
  };
  for (const auto& row : table) {
    const std::string shape = row.result.empty() ? "s32[4]" : row.result,
                      under_way = row.result.empty() ? shape : "(s32[4], " + shape + ", u32[], u32[])";
    const auto plain = on_four("  ROOT %r = " + shape + " " + row.opcode + "(%x), " + row.attributes + "\n");
    EXPECT_EQ(on_four("  %s = " + under_way + " " + row.opcode + "-start(%x), " + row.attributes +
                      "\n  ROOT %r = " + shape + " " + row.opcode + "-done(%s)\n"),
              plain)
        << row.opcode;
    EXPECT_NE(plain, on_four("  ROOT %r = s32[4] copy(%x)\n")) << row.opcode;
  }
}

// Of groups {0,2} and {3,1}: each sends its first two rows to the first of its group, its last to the second.
TEST(Begun, RaggedRowsGoWhereTheReceiverHasThem) {
  const std::string lines =
      "  %minus = s32[] constant(-1)\n  %out = s32[6] broadcast(%minus), dimensions={}\n"
      "  %three = s32[3] slice(%x), slice={[0:3]}\n  %from = s32[2] constant({0, 2})\n"
      "  %sizes = s32[2] constant({2, 1})\n  %places = s32[4] constant({0, 1, 1, 0})\n"
      "  %place = s32[1] dynamic-slice(%places, %d), dynamic_slice_sizes={1}\n"
      "  %both = s32[2] concatenate(%place, %place), dimensions={0}\n  %steps = s32[2] constant({2, 1})\n"
      "  %more = s32[2] multiply(%both, %steps)\n  %begin = s32[2] constant({0, 4})\n"
      "  %to = s32[2] add(%more, %begin)\n";
  const std::string call =
      "(%three, %out, %from, %sizes, %to, %sizes), channel_id=1, replica_groups={{0,2},{3,1}}\n";
  const std::vector<Integers> want = {
      {0,  1,  8,  9,  -1, -1},
      {-1, -1, -1, -1, 14, 6 },
      {-1, -1, -1, -1, 2,  10},
      {12, 13, 4,  5,  -1, -1}
  };
  EXPECT_EQ(on_four(lines + "  ROOT %r = s32[6] ragged-all-to-all" + call), want);
  EXPECT_EQ(
      on_four(lines +
              "  %s = ((s32[3], s32[6], s32[2], s32[2], s32[2], s32[2]), s32[6]) ragged-all-to-all-start" +
              call + "  ROOT %r = s32[6] ragged-all-to-all-done(%s)\n"),
      want);
  EXPECT_THROW(
      on_four(lines + "  %past = s32[2] constant({5, 4})\n  ROOT %r = s32[6] ragged-all-to-all(%three, %out, "
                      "%from, %sizes, %past, %sizes), channel_id=1, replica_groups={{0,2},{3,1}}\n"),
      BadModule);
}

// Of the pairs 0 to 1 and 1 to 3, whichever begins first; two on their way over one channel come in their
// order.
TEST(Begun, WhatIsSentComesToTheTargetsOfItsPairs) {
  const std::string
      token = "  %t = token[] after-all()\n",
      pairs = "channel_id=2, frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1},{1,3}}\"}",
      send = "(s32[4], u32[], token[]) send(%x, %t), " + pairs + "\n",
      recv = "  %r = (s32[4], u32[], token[]) recv(%t), " + pairs + "\n",
      ends =
          "  %sd = token[] send-done(%s), channel_id=2\n"
          "  %d1 = (s32[4], token[]) recv-done(%r), channel_id=2\n",
      root = "  ROOT %y1 = s32[4] get-tuple-element(%d1), index=0\n";
  const std::vector<Integers> want = {
      {0, 0, 0, 0},
      {0, 1, 2, 3},
      {0, 0, 0, 0},
      {4, 5, 6, 7}
  };
  EXPECT_EQ(on_four(token + "  %s = " + send + recv + ends + root), want);
  EXPECT_EQ(on_four(token + recv + "  %s = " + send + ends + root), want);
  const std::string second = "  %s2 = (s32[4], u32[], token[]) send(%y, %t), " + pairs +
                             "\n  %d2 = (s32[4], token[]) recv-done(%r), channel_id=2\n"
                             "  ROOT %y2 = s32[4] get-tuple-element(%d2), index=0\n";
  EXPECT_EQ(on_four(token + recv + "  %s = " + send +
                    "  %d1 = (s32[4], token[]) recv-done(%r), channel_id=2\n" + second)[1],
            (Integers{0, 1, 4, 9}));
  EXPECT_THROW(on_four(token + recv + "  %d1 = (s32[4], token[]) recv-done(%r), channel_id=2\n" + root),
               BadModule);
  EXPECT_THROW(on_four(token +
                       "  %s = (s32[4], u32[], token[]) send(%x, %t), channel_id=2, "
                       "frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{2,1}}}\n" +
                       recv + ends + root),
               BadModule)
      << "a target twice";
}

// The bits of rng_default are those of CPUs and GPUs.
TEST(Random, TheDefaultIsPhilox) {
  const std::string state = "  %one = u64[2] constant({5, 7})\n  %two = u64[3] constant({5, 7, 1})\n";
  const auto bits = [&](const std::string& words, const std::string& algorithm) {
    return on_four(state + "  %t = (u64[" + (words == "%one" ? "2" : "3") + "], s32[4]) rng-bit-generator(" +
                   words + "), algorithm=" + algorithm +
                   "\n  ROOT %r = s32[4] get-tuple-element(%t), index=1\n");
  };
  EXPECT_EQ(bits("%one", "rng_default"), bits("%one", "rng_philox"));
  EXPECT_NE(bits("%one", "rng_default"), bits("%one", "rng_three_fry"));
  EXPECT_NE(bits("%two", "rng_default"), bits("%one", "rng_default"));
  EXPECT_THROW(bits("%two", "rng_three_fry"), BadModule);
  EXPECT_THROW(bits("%one", "rng_thirteen"), BadModule);
  const auto refused = [](const std::string& made) {
    EXPECT_THROW(on_four(made + "algorithm=rng_default\n  ROOT %r = s32[4] get-tuple-element(%t), index=1\n"), BadModule)
        << made;
  };
  refused("  %short = u32[2] constant({5, 7})\n  %t = (u32[2], s32[4]) rng-bit-generator(%short), ");
  refused("  %square = u64[2,1] constant({ {5}, {7} })\n  %t = (u64[2,1], s32[4]) rng-bit-generator(%square), ");
  refused(state + "  %t = (u64[2], s32[4], s32[4]) rng-bit-generator(%one), ");
}

std::uint64_t word(std::uint64_t low, std::uint64_t high) { return high << 32 | low; }
Integers words(std::vector<std::uint64_t> all) { return {all.begin(), all.end()}; }
Integers bits_of(Generator generator, const Integers& state, const Shape& shape) {
  return random_bits(generator, state, shape).bits;
}

// The known answers of Random123, philox4x32-10 and threefry2x32-20.
TEST(Random, AnswersAsItsAuthorsSay) {
  const Shape four{Type::u32, {4}, {}, {}, {}}, two{Type::u32, {2}, {}, {}, {}};
  const std::uint64_t ones = ~std::uint64_t{0},
                      pi[] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0};
  const auto philox = [&](const std::vector<std::uint64_t>& state) {
    return bits_of(Generator::philox, words(state), four);
  };
  const auto three_fry = [&](const std::vector<std::uint64_t>& state) {
    return bits_of(Generator::three_fry, words(state), two);
  };
  EXPECT_EQ(philox({0, 0, 0}), words({0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({ones, ones, ones}), words({0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({word(pi[4], pi[5]), word(pi[0], pi[1]), word(pi[2], pi[3])}),
            words({0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ(three_fry({0, 0}), words({0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(three_fry({ones, ones}), words({0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(three_fry({word(pi[2], pi[3]), word(pi[0], pi[1])}), words({0xc4923a9c, 0x483df7a0}));
}

TEST(Random, TheCounterIsCarriedAndLeftBehindTheBits) {
  const Shape eight{Type::u32, {8}, {}, {}, {}}, four{Type::u32, {4}, {}, {}, {}},
      wide{Type::u64, {3}, {}, {}, {}};
  const std::uint64_t last = ~std::uint64_t{0};
  const Bits across = random_bits(Generator::philox, words({1, last, 5}), eight);
  EXPECT_EQ(across.state, words({1, 1, 6}));
  Integers both = bits_of(Generator::philox, words({1, last, 5}), four);
  std::ranges::copy(bits_of(Generator::philox, words({1, 0, 6}), four), std::back_inserter(both));
  EXPECT_EQ(across.bits, both);
  EXPECT_EQ(random_bits(Generator::philox, words({1, last - 1, 5}), eight).state, words({1, 0, 6}));
  EXPECT_EQ(random_bits(Generator::philox, words({1, 7}), {Type::u32, {5}, {}, {}, {}}).state, words({1, 9}));
  const Bits joined = random_bits(Generator::philox, words({1, last, 5}), wide);
  EXPECT_EQ(joined.state, words({1, 1, 6}));
  Integers pairs;
  for (std::size_t i = 0; i < 6; i += 2)
    pairs.push_back(static_cast<std::int64_t>(
        word(static_cast<std::uint64_t>(both[i]), static_cast<std::uint64_t>(both[i + 1]))));
  EXPECT_EQ(joined.bits, pairs);
}

// The two words of a step lie beside each other along the first dimension that is even, else the largest.
TEST(Random, OfThreeFryTheWordsOfAStepLieSideBySide) {
  const struct {
    Integers dims;
    std::size_t along;
    std::int64_t steps;
  } table[] = {
      {{4},       0, 2 },
      {{5},       0, 3 },
      {{3, 4},    1, 6 },
      {{4, 3},    0, 6 },
      {{3, 5},    1, 9 },
      {{5, 3},    0, 9 },
      {{3, 2, 4}, 1, 12}
  };
  for (const auto& row : table) {
    const Bits got = random_bits(Generator::three_fry, words({3, 40}), {Type::u32, row.dims, {}, {}, {}});
    const Integers steps =
        bits_of(Generator::three_fry, words({3, 40}), {Type::u64, {row.steps}, {}, {}, {}});
    EXPECT_EQ(got.state, words({3, static_cast<std::uint64_t>(40 + row.steps)}));
    Integers half = row.dims, want;
    half[row.along] = (half[row.along] + 1) / 2;
    each_index(row.dims, [&](const Integers& index) {
      std::int64_t n = 0;
      for (std::size_t d = 0; d < row.dims.size(); ++d)
        n = n * half[d] + (d == row.along ? index[d] / 2 : index[d]);
      const auto step = static_cast<std::uint64_t>(steps[static_cast<std::size_t>(n)]);
      want.push_back(static_cast<std::int64_t>(index[row.along] % 2 ? step >> 32 : step & 0xffffffff));
    });
    EXPECT_EQ(got.bits, want) << row.dims.size() << " " << row.dims[0];
  }
}

TEST(Random, AScalarHasTheBitsOfAnArrayOfOne) {
  const Integers state{5, 7};
  const Shape one{Type::u32, {1}, {}, {}, {}}, scalar{Type::u32, {}, {}, {}, {}};
  for (const Generator generator : {Generator::philox, Generator::three_fry}) {
    const Bits wanted = random_bits(generator, state, one), got = random_bits(generator, state, scalar);
    EXPECT_EQ(got.bits.size(), 1U);
    EXPECT_EQ(got.bits, wanted.bits);
    EXPECT_EQ(got.state, wanted.state);
  }
}

TEST(Begun, SeveralInOneInstructionAreEachAlone) {
  const std::string
      rest = ", channel_id=1, replica_groups={{0,2},{3,1}}, use_global_device_ids=true, to_apply=%sum\n",
      pairs = ", channel_id=1, source_target_pairs={{0,1},{1,3}}\n";
  const auto second = [](const std::string& line) {
    return on_four(line + "  ROOT %r = s32[4] get-tuple-element(%t), index=1\n");
  };
  EXPECT_EQ(second("  %t = (s32[4], s32[4]) all-reduce(%x, %y)" + rest),
            on_four("  ROOT %r = s32[4] all-reduce(%y)" + rest));
  EXPECT_EQ(second("  %t = (s32[4], s32[4]) collective-permute(%x, %y)" + pairs),
            on_four("  ROOT %r = s32[4] collective-permute(%y)" + pairs));
  EXPECT_EQ(second("  %s = ((s32[4], s32[4]), (s32[4], s32[4])) collective-permute-start(%x, %y)" + pairs +
                   "  %t = (s32[4], s32[4]) collective-permute-done(%s)\n"),
            on_four("  ROOT %r = s32[4] collective-permute(%y)" + pairs));
}

TEST(Begun, CopiesAndCallsOfOtherThreads) {
  EXPECT_EQ(on_four("  %s = (s32[4], s32[4], u32[]) copy-start(%y)\n  ROOT %r = s32[4] copy-done(%s)\n"),
            on_four("  ROOT %r = s32[4] copy(%y)\n"));
  EXPECT_EQ(
      on_four(
          "  %s = ((s32[4]), s32[4], u32[]) async-start(%y), async_execution_thread=\"other\", calls=%twice\n"
          "  %u = ((s32[4]), s32[4], u32[]) async-update(%s)\n  ROOT %r = s32[4] async-done(%u)\n"),
      on_four("  ROOT %r = s32[4] add(%y, %y)\n"));
}

TEST(Begun, OfWhatWasNotBegun) {
  EXPECT_THROW(on_four("  ROOT %r = s32[4] all-gather-done(%x)\n"), BadModule);
  EXPECT_THROW(on_four("  ROOT %r = s32[4] copy-done(%x)\n"), BadModule);
  EXPECT_THROW(on_four("  %s = s32[4] copy-start(%x)\n  ROOT %r = s32[4] copy-done(%s)\n"), BadModule);
}

// Memory of a 2 x 3 array x: rows one after another, or columns.
TEST(Bitcast, ReadsTheSameMemory) {
  const std::string x = "  %i = s32[8] iota(), iota_dimension=0\n  %six = s32[6] slice(%i), slice={[0:6]}\n";
  const struct {
    std::string operand, result;
    Integers elements;
  } table[] = {
      {"s32[2,3]{1,0}",     "s32[6]{0}",     {0, 1, 2, 3, 4, 5}},
      {"s32[2,3]{1,0}",     "s32[3,2]{1,0}", {0, 1, 2, 3, 4, 5}},
      {"s32[2,3]{1,0}",     "s32[3,2]{0,1}", {0, 3, 1, 4, 2, 5}},
      {"s32[2,3]{0,1}",     "s32[6]{0}",     {0, 3, 1, 4, 2, 5}},
      {"s32[2,3]{0,1}",     "s32[3,2]{1,0}", {0, 3, 1, 4, 2, 5}},
      {"s32[2,3]{0,1}",     "s32[2,3]{1,0}", {0, 3, 1, 4, 2, 5}},
      {"s32[2,3]{0,1}",     "s32[3,2]{0,1}", {0, 4, 3, 2, 1, 5}},
      {"s32[1,2,3]{1,2,0}", "s32[3,2]{1,0}", {0, 3, 1, 4, 2, 5}},
      {"s32[2,3]",          "s32[3,2]{0,1}", {0, 3, 1, 4, 2, 5}},
      {"s32[2,3]{1,0}",     "u32[2,3]{1,0}", {0, 1, 2, 3, 4, 5}},
  };
  for (const auto& row : table)
    EXPECT_EQ(on_four(x + "  %a = " + row.operand + " reshape(%six)\n  ROOT %r = " + row.result +
                      " bitcast(%a)\n")[0],
              row.elements)
        << row.operand << " " << row.result;
  for (const std::string result : {"s32[5]{0}", "s16[6]{0}", "s32[2,3]{1}", "s32[3,2]{1,0:T(2,128)}"})
    EXPECT_THROW(on_four(x + "  ROOT %r = " + result + " bitcast(%six)\n"), BadModule) << result;
}

}  // namespace
}  // namespace plumb::hlo
