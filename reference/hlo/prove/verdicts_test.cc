// What is said of small pairs of modules that differ, or that cannot be trusted: by hand.
#include "reference/hlo/prove/testing/verdicts.h"

#include "reference/hlo/prove/where.h"

namespace plumb::hlo {
namespace {

// Where the first wrong element stands, on which device, and how many are wrong.
TEST(Verdicts, WhatDiffers) {
  const std::string on_one =
      "  %id = u32[] partition-id()\n  %one = u32[] constant(1)\n  %p = pred[] compare(%id, %one), "
      "direction=EQ\n"
      "  %m = f32[2,3] negate(%x)\n  %column = s32[2,3] iota(), iota_dimension=1\n  %c2 = s32[] constant(2)\n"
      "  %twos = s32[2,3] broadcast(%c2), dimensions={}\n  %last = pred[2,3] compare(%column, %twos), "
      "direction=EQ\n"
      "  %b = pred[2,3] broadcast(%p), dimensions={}\n  %there = pred[2,3] and(%b, %last)\n";
  const Proof p = proof(
      {
  },
      {{"  %r0 = f32[2,3] copy(%x)", on_one + "  %r0 = f32[2,3] select(%there, %m, %x)"}});
  EXPECT_EQ(p.finding, Finding::refuted);
  ASSERT_EQ(p.differences.size(), 1u);
  const Difference& d = p.differences[0];
  EXPECT_EQ(d.result, 0);
  EXPECT_EQ(d.elements, 2);
  EXPECT_EQ(d.devices, 1);
  EXPECT_EQ(d.device, 1);
  EXPECT_EQ(d.index, (Integers{0, 2}));
  EXPECT_EQ(print(d.shape), "f32[4,3]");
  EXPECT_EQ(p.results, 2);
  EXPECT_EQ(p.elements, 2 * 6 + 2 * 3);
  const Proof whole = proof(
      {
  },
      {{"tuple(%r0, %y)", "tuple(%r0, %w)"}, {"  ROOT", "  %w = f32[3] negate(%y)\n  ROOT"}});
  ASSERT_EQ(whole.differences.size(), 1u);
  EXPECT_EQ(whole.differences[0].result, 1);
  EXPECT_EQ(whole.differences[0].devices, 2);
  EXPECT_EQ(whole.differences[0].elements, 6);
}

TEST(Verdicts, EachStepIsTold) {
  const Module before = edited(kBefore, {}), after = edited(kAfter, {});
  std::vector<Step> told;
  Options options;
  options.step = [&](const Step& step) { told.push_back(step); };
  EXPECT_EQ(prove({before, after, nullptr}, options).finding, Finding::proven);
  ASSERT_EQ(told.size(), 16u * 5) << "five instructions, two sides, eight draws";
  for (std::size_t n = 0; n < told.size(); ++n) {
    EXPECT_EQ(told[n].draws, 8);
    EXPECT_EQ(told[n].draw, static_cast<int>(n / 10) + 1);
    EXPECT_EQ(told[n].after, n / 5 % 2 == 1);
    EXPECT_EQ(told[n].done, static_cast<std::int64_t>(n % 5));
    EXPECT_EQ(told[n].all, 5);
  }
}

// What differs at n = 100 alone is seen where n is drawn there.
TEST(Verdicts, ARangeIsTheUsers) {
  const std::string other =
      "  %k = s32[] constant(100)\n  %p = pred[] compare(%n, %k), direction=EQ\n"
      "  %m = f32[2,3] negate(%x)\n  %b = pred[2,3] broadcast(%p), dimensions={}\n"
      "  %r0 = f32[2,3] select(%b, %m, %x)\n";
  const Module before = edited(kBefore,
                               {
  }),
               after = edited(kAfter, {{"  %r0 = f32[2,3] copy(%x)\n", other}});
  const auto found = [&](std::int64_t low, std::int64_t high) {
    Options options;
    options.ranges[2] = {low, high, false};
    return prove({before, after, nullptr}, options).finding;
  };
  EXPECT_EQ(found(100, 100), Finding::refuted);
  EXPECT_EQ(found(3, 99), Finding::proven);
}

// The largest of the result, wherever it stands, says how far apart reals must be to be seen to differ. What
// is said is of the first draw that decides.
TEST(Verdicts, WhatNoRealShows) {
  for (const char* weights : {"1099511627776, 1, 1", "1, 1, 1099511627776", "1, 1, 1"}) {
    const std::string scaled = "  %c = f32[3] constant({" + std::string(weights) +
                               "})\n  %o = f32[3] constant({1, 1, 1})\n  %a = f32[3] abs(%y)\n"
                               "  %p = f32[3] add(%a, %o)\n  %w = f32[3] multiply(%p, %c)\n",
                      more =
                          "  %d = f32[] constant(0.001)\n  %b = f32[3] broadcast(%d), dimensions={}\n  %v = "
                          "f32[3] add(%w, %b)\n";
    const Proof p = proof(
        {
            {"  ROOT",         scaled + "  ROOT"},
            {"tuple(%r0, %y)", "tuple(%r0, %w)" }
    },
        {{"  ROOT", scaled + more + "  ROOT"}, {"tuple(%r0, %y)", "tuple(%r0, %v)"}});
    EXPECT_EQ(name(p.finding), weights == std::string("1, 1, 1") ? "refuted" : "unsettled");
    EXPECT_EQ(p.seed, 0);
    EXPECT_EQ(p.draws, 1);
  }
}

// Of what differs the share in the result is 2^(8d - 92) where y is 2^d times as large as x: in one of forty
// draws it is seen.
TEST(Verdicts, WhatOneOfManyDrawsShows) {
  const auto lines = [](const std::string& shape, const std::string& more) {
    return "  %c = f32[] constant(4.9517601571415211e27)\n  %k = " + shape +
           " broadcast(%c), dimensions={}\n  %e = f32[] constant(8)\n  %p = " + shape +
           " broadcast(%e), dimensions={}\n  %z = " + shape +
           " broadcast(%y), dimensions={1}\n  %xs = " + shape + " power(%x, %p)\n  %ys = " + shape +
           " power(%z, %p)\n  %xk = " + shape + " multiply(%xs, %k)\n  %s = " + shape +
           " add(%xk, %ys)\n  %r0 = " + shape + " " + more;
  };
  const Proof p = proof(
      {
          {"  %r0 = f32[4,3] copy(%x)", lines("f32[4,3]", "copy(%s)")}
  },
      {{"  %r0 = f32[2,3] copy(%x)", lines("f32[2,3]", "add(%s, %ys)")}});
  EXPECT_EQ(p.finding, Finding::refuted);
  EXPECT_GT(p.seed, 16);
}

// A softmax may subtract anything. In some of many draws its exponentials are larger than a double: their
// reals are anything there, and show nothing.
TEST(Verdicts, TheSameFunctionByAnotherWayIsUnsettled) {
  const auto lines = [](const std::string& subtracted) {
    return "  %k = f32[] constant(15)\n  %ks = f32[3] broadcast(%k), dimensions={}\n"
           "  %z = f32[3] multiply(%y, %ks)\n  %low = f32[] constant(-inf)\n  %zero = f32[] "
           "constant(0)\n"
           "  %m = f32[] reduce(%z, %low), dimensions={0}, to_apply=%most\n"
           "  %b = f32[3] broadcast(" +
           subtracted +
           "), dimensions={}\n  %d = f32[3] subtract(%z, %b)\n"
           "  %e = f32[3] exponential(%d)\n  %s = f32[] reduce(%e, %zero), dimensions={0}, to_apply=%add\n"
           "  %sb = f32[3] broadcast(%s), dimensions={}\n  %p = f32[3] divide(%e, %sb)\n  ROOT";
  };
  const std::string calls =
      "num_partitions=2\n\n%most {\n  %k = f32[] parameter(0)\n  %l = f32[] parameter(1)\n  ROOT %g = f32[] "
      "maximum(%k, %l)\n}\n\n%add {\n  %k = f32[] parameter(0)\n  %l = f32[] parameter(1)\n  ROOT %g = f32[] "
      "add(%k, %l)\n}\n";
  const auto found = [&](const std::string& subtracted) {
    return proof(
               {
                   {"num_partitions=2", calls              },
                   {"  ROOT %t",        lines("%m") + " %t"},
                   {"tuple(%r0, %y)",   "tuple(%r0, %p)"   }
    },
               {{"num_partitions=2", calls},
                {"  ROOT %t", lines(subtracted) + " %t"},
                {"tuple(%r0, %y)", "tuple(%r0, %p)"}})
        .finding;
  };
  EXPECT_EQ(found("%m"), Finding::proven);
  EXPECT_EQ(found("%zero"), Finding::unsettled);
}

TEST(Verdicts, EveryDrawIsProven) {
  const Proof p = proof({}, {});
  EXPECT_EQ(p.finding, Finding::proven);
  EXPECT_EQ(p.draws, 8);
  EXPECT_EQ(p.seed, 7);
  EXPECT_EQ(p.results, 2);
  EXPECT_EQ(p.elements, 2 * 6 + 2 * 3);
  EXPECT_EQ(p.devices, 2);
  EXPECT_TRUE(p.untaken.empty() && p.differences.empty() && p.why.empty());
}

// Of 4,096 numbers and more two draws are made.
TEST(Verdicts, ManyNumbersAreDrawnTwice) {
  for (const std::string columns : {"1022", "1023"}) {
    const auto wide = [&](std::string text) {
      for (std::size_t at = 0; (at = text.find(",3]", at)) != text.npos;)
        text.replace(at, 3, "," + columns + "]");
      return parse(text, "m.txt");
    };
    const Module before = wide(kBefore), after = wide(kAfter);
    EXPECT_EQ(prove({before, after, nullptr}, {}).draws,
              columns == "1022" ? 8 : 2);  // 4 rows, 3 and a single one
  }
}

// Of 3 rows in tiles of 2 the second device holds one, and behind it nothing that counts.
TEST(Verdicts, BehindTheEndOfAnArrayNothingIsCompared) {
  const Edits uneven = {
      {"f32[4,3] parameter",       "f32[3,3] parameter"      },
      {"f32[4,3] copy",            "f32[3,3] copy"           },
      {"(f32[4,3], f32[3]) tuple", "(f32[3,3], f32[3]) tuple"}
  };
  const Proof p = proof(uneven, {});
  EXPECT_EQ(p.finding, Finding::proven);
  EXPECT_EQ(p.elements, 3 * 3 + 2 * 3);
  const Proof wrong = proof(uneven, {
                                        {"f32[2,3] copy(%x)", "f32[2,3] negate(%x)"}
  });
  ASSERT_EQ(wrong.differences.size(), 1u);
  EXPECT_EQ(wrong.differences[0].elements, 3 * 3);
}

TEST(Verdicts, WhatHangsOnErrorsIsDrawnAgainSoOften) {
  const Module before = edited(kBefore,
                               {
                                   {"  ROOT",
                                    "  %c = f32[3] constant({1e-30, 1e-30, 1e-30})\n  %more = f32[3] "
                                    "add(%y, %c)\n  %most = f32[3] maximum(%y, %more)\n  ROOT"}
  }),
               after = edited(kAfter, {});
  for (const int redraws : {0, 1, 3}) {
    const Proof p = prove({before, after, nullptr}, {.draws = 1, .redraws = redraws});
    EXPECT_EQ(p.finding, Finding::mistrusted);
    EXPECT_EQ(p.seed, static_cast<std::uint64_t>(3 * redraws)) << "of BEFORE alone";
  }
}

// A fault is at the first instruction whose value comes about nowhere, and at none where nothing is wrong.
TEST(Verdicts, WhereAFaultIs) {
  const auto lines = [](const std::string& shape, const std::string& second) {
    return "  %one = " + shape +
           " sine(%x), sharding={devices=[2,1]<=[2]}, metadata={op_name=\"first\"}\n  %two = " + shape + " " +
           second +
           "(%one), sharding={devices=[2,1]<=[2]}, metadata={op_name=\"second\" source_file=\"u.py\" "
           "source_line=7}\n  %r0 = " +
           shape + " tanh(%two), sharding={devices=[2,1]<=[2]}, metadata={op_name=\"third\"}";
  };
  // What AFTER need not have: constants and the like, integers, what is laid out as a sum, what nobody reads.
  const std::string idle =
      "  %c0 = f32[2] constant({1, 2}), sharding={replicated}\n  %i0 = f32[2] iota(), iota_dimension=0, "
      "sharding={replicated}\n"
      "  %b0 = f32[2,3] broadcast(%y), dimensions={1}, sharding={replicated}\n  %k0 = s32[] add(%n, %n), "
      "sharding={replicated}\n"
      "  %u0 = f32[3] tanh(%y), sharding={unreduced}\n  %v0 = f32[3] sine(%y), sharding={manual}\n  %w0 = "
      "f32[3] cosine(%y)\n";
  const std::string there =
      "\n  %g = f32[4,3] all-gather(%x), channel_id=1, replica_groups={{1,0}}, dimensions={0}, "
      "use_global_device_ids=true, metadata={op_name=\"second\"}";
  const auto place = [&](const std::string& second) {
    const Module before = edited(kBefore, {
                                              {"  %r0 = f32[4,3] copy(%x), sharding={devices=[2,1]<=[2]}",
                                               idle + lines("f32[4,3]", "cosine")}
    });
    const Module after =
        edited(kAfter, {
                           {"  %r0 = f32[2,3] copy(%x)", lines("f32[2,3]", second) + there}
    });
    const Subject subject{before, after, &before};
    EXPECT_FALSE(locate({before, after, nullptr}, prove(subject, {})));
    return locate(subject, prove(subject, {}));
  };
  EXPECT_FALSE(place("cosine"));
  const auto found = place("negate");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->instruction, "two");
  EXPECT_EQ(found->op_name, "second");
  EXPECT_EQ(found->source, "u.py:7");
  EXPECT_EQ(found->there.substr(0, 26), "%g = f32[4,3] all-gather(%");
}

// What is right beside it, behind the same barrier or loop, was computed from its own element alone.
TEST(Verdicts, WhatIsCarriedBesideAFaultDoesNotHideIt) {
  const auto lines = [](const std::string& shape, const std::string& first) {
    return "  %one = " + shape + " " + first +
           "(%x), sharding={devices=[2,1]<=[2]}, metadata={op_name=\"first\"}\n"
           "  %two = f32[3] cosine(%y), sharding={replicated}, metadata={op_name=\"second\"}\n  %both = (" +
           shape + ", f32[3]) tuple(%one, %two)\n  %bar = (" + shape +
           ", f32[3]) opt-barrier(%both)\n  %a = " + shape +
           " get-tuple-element(%bar), index=0\n  %b = f32[3] get-tuple-element(%bar), index=1\n  %r0 = " +
           shape + " tanh(%a), sharding={devices=[2,1]<=[2]}, metadata={op_name=\"third\"}\n" +
           "  %r1 = f32[3] sine(%b), sharding={replicated}, metadata={op_name=\"fourth\"}";
  };
  const Module before = edited(
      kBefore, {
                   {"  %r0 = f32[4,3] copy(%x), sharding={devices=[2,1]<=[2]}", lines("f32[4,3]", "sine")},
                   {"tuple(%r0, %y)",                                                          "tuple(%r0, %r1)"                                                          }
  });
  const Module after = edited(kAfter, {
                                          {"  %r0 = f32[2,3] copy(%x)", lines("f32[2,3]", "negate")},
                                          {"tuple(%r0, %y)",                           "tuple(%r0, %r1)"                           }
  });
  const Subject subject{before, after, &before};
  const auto found = locate(subject, prove(subject, {}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->op_name, "first");
}

}  // namespace
}  // namespace plumb::hlo
