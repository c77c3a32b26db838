// What hangs on reals that double cannot tell apart, or cannot be trusted: small pairs of modules, by hand.
#include "reference/hlo/prove/testing/verdicts.h"

namespace plumb::hlo {
namespace {

// What hangs on rounding is no proof of a fault: |x/|x|| is 1, but for the last bits, of each row in each of
// two orders.
TEST(Verdicts, WhatIsInDoubtRefutesNothing) {
  const auto lines = [](const std::string& rows, const std::string& square) {
    const std::string
        row = "f32[" + rows + "]",
        all = "f32[" + rows + ",3]",
        by_row =
            ", lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}\n";
    std::string text =
        "  %d = R dot(%x, %x)B  %n1 = R sqrt(%d)\n  %nb = A broadcast(%n1), dimensions={0}\n"
        "  %q = A divide(%x, %nb)\n" +
        square + "  %f = R floor(%s)\n  %r0 = A broadcast(%f), dimensions={0}";
    for (const auto& [letter, is] : {
             std::pair{'R', row   },
             std::pair{'A', all   },
             std::pair{'B', by_row}
    })
      for (std::size_t at = 0; (at = text.find(letter, at)) != text.npos; at += is.size())
        text.replace(at, 1, is);
    return text;
  };
  const Module before = edited(kBefore,
                               {
                                   {"  %r0 = f32[4,3] copy(%x)", lines("4", "  %s = R dot(%q, %q)B")}
  }),
               after =
                   edited(kAfter, {{"  %r0 = f32[2,3] copy(%x)",
                                    lines("2", "  %m = R multiply(%n1, %n1)\n  %s = R divide(%d, %m)\n")}});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Proof p = prove({before, after, nullptr}, {seed});
    EXPECT_EQ(name(p.finding), "mistrusted") << seed << " " << p.why;
    EXPECT_TRUE(p.differences.empty());
  }
}

// A largest that could be either of two leaves no doubt of what is off by more than that. By itself it
// refutes nothing, nor do devices that should hold the same and have it each by its own way.
TEST(Verdicts, RealsRefuteWhereALargestIsNotKnown) {
  const std::string most =
      "  %c = f32[3] constant({1e-30, 1e-30, 1e-30})\n  %more = f32[3] add(%y, %c)\n  %w = f32[3] "
      "maximum(%y, %more)\n";
  const auto with = [&](const std::string& result, const std::string& lines = "") {
    return told(
        {
    },
        {{"  ROOT", most + lines + "  ROOT"}, {"tuple(%r0, %y)", "tuple(" + result + ")"}});
  };
  const std::string doubt = "mistrusted: 3 comparisons of reals that double cannot tell apart";
  EXPECT_EQ(with("%r0, %w"), doubt);
  EXPECT_EQ(with("%r0, %y"), doubt);
  EXPECT_EQ(with("%m, %y", "  %m = f32[2,3] negate(%x)\n"), "refuted");
  EXPECT_EQ(with("%r0, %m", "  %m = f32[3] add(%w, %w)\n"), "refuted");
  const std::string large =
      "  %p = f32[3] multiply(%y, %y)\n  %q = f32[3] add(%p, %p)\n  %r = f32[3] sqrt(%q)\n  %s = f32[3] "
      "multiply(%r, %r)\n"
      "  %m1 = f32[3] maximum(%q, %s)\n  %d = f32[3] subtract(%m1, %q)\n  %k = f32[3] constant({1e14, 1e14, "
      "1e14})\n"
      "  %l = f32[3] multiply(%d, %k)\n  %m = f32[3] add(%y, %l)\n";
  EXPECT_EQ(told(
                {
  },
                {{"  ROOT", large + "  ROOT"}, {"tuple(%r0, %y)", "tuple(%r0, %m)"}}),
            doubt)
      << "by less than it may be off";
  const std::string all =
      "%sum {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n\n"
      "%all {\n  %a = f32[3] parameter(0)\n  ROOT %g = f32[3] all-reduce(%a), channel_id=1, "
      "replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%sum\n}\n\n"
      "%none {\n  ROOT %a = f32[3] parameter(0)\n}\n\nENTRY";
  const std::string parted =
      "  %id = u32[] partition-id()\n  %one = u32[] constant(1)\n  %p = pred[] compare(%id, %one), "
      "direction=EQ\n  %m = f32[3] conditional(%p, %y, %y), true_computation=%all, false_computation=%none\n";
  EXPECT_EQ(told(
                {
  },
                {{"ENTRY", all}, {"  ROOT %t", most + parted + "  ROOT %t"}}),
            doubt);
}

// So is it where a comparison is in doubt: what is chosen by it is either of two, and off by as much.
TEST(Verdicts, RealsRefuteWhereAComparisonIsInDoubt) {
  const std::string near =
      "  %c = f32[3] constant({1e-30, 1e-30, 1e-30})\n  %more = f32[3] add(%y, %c)\n  %p = pred[3] "
      "compare(%y, %more), direction=LT\n";
  const auto with = [&](const std::string& result, const std::string& lines = "", const char* type = "f32") {
    const std::string to = std::string("tuple(") + result + ")", whole = "%r0, %y2";
    const bool floats = std::string(type) == "f32";
    const Edits before = {
        {"  ROOT",
         "  %k2 = f32[3] constant({2, 2, 2})\n  %y2 = f32[3] add(%y, %k2)\n  %b2 = pred[3] "
         "compare(%y, %y2), direction=LT\n  ROOT"                       },
        {"tuple(%r0, %y)", floats ? "tuple(%r0, %y)" : "tuple(%r0, %b2)"}
    };
    const Edits after = {
        {"  ROOT",         near + lines + "  ROOT"},
        {"tuple(%r0, %y)", to                     }
    };
    if (floats) return told(before, after);
    Edits typed_before = before, typed_after = after;
    for (Edits* edits : {&typed_before, &typed_after})
      edits->insert(edits->begin(), {", f32[3]) tuple", ", pred[3]) tuple"});
    return told(typed_before, typed_after);
  };
  const std::string doubt = "mistrusted: 3 comparisons of reals that double cannot tell apart";
  EXPECT_EQ(with("%r0, %y"), doubt) << "by itself it refutes nothing";
  const std::string either = "  %w = f32[3] select(%p, %y, %more)\n", less = "  %m = f32[2,3] negate(%x)\n",
                    twice = "  %d = f32[3] add(%y, %y)\n";
  EXPECT_EQ(with("%r0, %w", either), doubt);
  EXPECT_EQ(with("%m, %y", less), "refuted");
  EXPECT_EQ(with("%r0, %m", either + "  %m = f32[3] add(%w, %w)\n"), "refuted");
  EXPECT_EQ(with("%r0, %m", twice + "  %m = f32[3] select(%p, %d, %y)\n"), doubt) << "it may be right";
  EXPECT_EQ(with("%r0, %m", twice + "  %m = f32[3] select(%p, %d, %d)\n"), "refuted");
  // Two that are chosen by what is in doubt do not cancel.
  const std::string no =
      "  %n1 = pred[3] not(%p)\n  %v = f32[3] select(%n1, %y, %d)\n  %u = f32[3] select(%p, %y, %d)\n";
  EXPECT_EQ(with("%r0, %m", twice + no + "  %o = f32[3] subtract(%u, %v)\n  %m = f32[3] add(%d, %o)\n"),
            doubt)
      << "it is y or 3y";
  // Of predicates one decides, whatever the other is.
  const std::string constants =
      "  %true = pred[3] constant({1, 1, 1})\n  %false = pred[3] constant({0, 0, 0})\n" + twice;
  for (const char* decided : {"or(%p, %true)", "or(%true, %p)", "select(%p, %true, %true)"})
    EXPECT_EQ(
        with("%r0, %m", constants + "  %q = pred[3] " + decided + "\n  %m = f32[3] select(%q, %d, %y)\n"),
        "refuted")
        << decided;
  for (const char* decided : {"and(%p, %false)", "and(%false, %p)", "select(%p, %false, %false)"})
    EXPECT_EQ(
        with("%r0, %m", constants + "  %q = pred[3] " + decided + "\n  %m = f32[3] select(%q, %y, %d)\n"),
        "refuted")
        << decided;
  for (const char* open :
       {"and(%p, %true)", "or(%false, %p)", "xor(%p, %true)", "not(%p)", "select(%true, %p, %p)",
        "select(%p, %true, %false)", "compare(%p, %false), direction=EQ"})
    EXPECT_EQ(with("%r0, %m", constants + "  %q = pred[3] " + open + "\n  %m = f32[3] select(%q, %d, %y)\n"),
              doubt)
        << open;
  // As a number it is 0 or 1.
  const std::string number = twice + "  %f = f32[3] convert(%p)\n  %g = f32[3] multiply(%f, %y)\n";
  EXPECT_EQ(with("%r0, %m", number + "  %m = f32[3] add(%d, %g)\n"), doubt) << "2y or 3y, and off by y";
  EXPECT_EQ(with("%r0, %m", number + "  %e = f32[3] add(%d, %d)\n  %m = f32[3] add(%e, %g)\n"), "refuted");
  EXPECT_EQ(with("%r0, %p", "", "pred"), doubt);
}

// What is no longer a float's is in doubt altogether.
TEST(Verdicts, WhatADoubtDecidesIsInDoubt) {
  const std::string near =
      "  %c = f32[3] constant({1e-30, 1e-30, 1e-30})\n  %more = f32[3] add(%y, %c)\n  %p = pred[3] "
      "compare(%y, %more), direction=LT\n  %p1 = pred[1] slice(%p), slice={[0:1]}\n  %p0 = pred[] "
      "reshape(%p1)\n  %m = f32[2,3] negate(%x)\n";
  const std::string computations =
      "%no {\n  ROOT %a = pred[] parameter(0)\n}\n\n%never {\n  %a = pred[] parameter(0)\n  ROOT %f = pred[] "
      "constant(false)\n}\n\n%less {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %l = "
      "pred[] "
      "compare(%a, %b), direction=LT\n}\n\nENTRY";
  for (const char* line :
       {"%i = s32[3] convert(%p)", "%i = s32[] select(%p0, %n, %k)",
        "%w = pred[] while(%p0), condition=%no, body=%never",
        "%w = pred[] conditional(%p0, %p0, %p0), true_computation=%no, false_computation=%never",
        "%i = f32[3] constant({inf, inf, inf})\n  %s = f32[3] select(%p, %y, %i)",
        "%i = f32[6] concatenate(%y, %more), dimensions={0}\n  %s = f32[6] sort(%i), dimensions={0}, "
        "to_apply=%less"}) {
    const std::string said = told(
        {
    },
        {{"ENTRY", computations},
         {"  ROOT %t", near + "  %k = s32[] constant(77)\n  " + line + "\n  ROOT %t"},
         {"tuple(%r0, %y)", "tuple(%m, %y)"}});
    EXPECT_EQ(said.substr(0, 10), "mistrusted") << line << ": " << said;
  }
}

// Of a large number is taken away what was added: what is left of a small one has no sign that is known, and
// most draws are in doubt. Where one is proven the others are found, too.
TEST(Verdicts, WhatFewDrawsDecideIsProvenByThese) {
  const std::string sign =
      "  %k = f32[3] constant({36028797018963968, 36028797018963968, 36028797018963968})\n"
      "  %z = f32[3] constant({0, 0, 0})\n  %up = f32[3] add(%y, %k)\n  %left = f32[3] subtract(%up, %k)\n"
      "  %p = pred[3] compare(%left, %z), direction=GT\n  %w = f32[3] select(%p, %y, %z)\n  ROOT";
  const Edits edits = {
      {"  ROOT",         sign            },
      {"tuple(%r0, %y)", "tuple(%r0, %w)"}
  };
  const Module before = edited(kBefore, edits), after = edited(kAfter, edits);
  int proven = 0;
  for (std::uint64_t seed = 0; seed < 400; seed += 20) {
    const Proof p = prove({before, after, nullptr}, {seed});
    const bool is = p.finding == Finding::proven;
    EXPECT_TRUE(is || p.draws == 1) << seed << " " << name(p.finding) << " " << p.why;
    proven += is;
  }
  EXPECT_GT(proven, 10);
}

TEST(Verdicts, WhatIsMistrusted) {
  const auto both = [](const std::string& lines, const std::string& operation) {
    const auto at = [&](std::string shape) {
      std::string text = lines + "  %r0 = S " + operation;
      for (std::size_t n; (n = text.find('S')) != text.npos;) text.replace(n, 1, shape);
      return text;
    };
    return told(
        {
            {"  %r0 = f32[4,3] copy(%x)", at("f32[4,3]")}
    },
        {{"  %r0 = f32[2,3] copy(%x)", at("f32[2,3]")}});
  };
  const std::string zero = "  %c = f32[] constant(0)\n  %z = S broadcast(%c), dimensions={}\n";
  const std::string infinite = "  %i = f32[] constant(inf)\n";
  EXPECT_EQ(both(zero, "divide(%x, %z)"),
            "mistrusted: result 0 is not finite, and no constant of the program is infinite");
  EXPECT_EQ(both(infinite + zero, "divide(%x, %z)"), "proven");
  const auto called = [&](const std::string& rows) {
    return Edits{
        {"num_partitions=2",                     "num_partitions=2\n\n%most {\n  ROOT %i = f32[] constant(inf)\n}\n"},
        {"  %r0 = f32[" + rows + ",3] copy(%x)", "  %j = f32[] call(), to_apply=%most\n  %js = f32[" + rows +
                                                     ",3] broadcast(%j), dimensions={}\n  %r0 = f32[" + rows +
                                                     ",3] copy(%js)"}
    };
  };
  EXPECT_EQ(told(called("4"), called("2")), "proven") << "the constant is all that is called";
  const std::string once =
      "  %s1 = f32[1] slice(%y), slice={[0:1]}\n  %c1 = f32[1] constant({1e-30})\n  %m1 = f32[1] add(%s1, "
      "%c1)\n"
      "  %x1 = f32[1] maximum(%s1, %m1)\n  ROOT";
  EXPECT_EQ(told(
                {
                    {"  ROOT", once}
  },
                {}),
            "mistrusted: 1 comparison of reals that double cannot tell apart");
  for (const char* one : {"0, 1, 1", "1, 1, 0"}) {
    const Edits divided = {
        {"  ROOT",
         "  %c = f32[3] constant({" + std::string(one) + "})\n  %w = f32[3] divide(%y, %c)\n  ROOT"},
        {"tuple(%r0, %y)", "tuple(%r0, %w)"                                                        }
    };
    EXPECT_EQ(told(divided, divided).substr(0, 34), "mistrusted: result 1 is not finite");
  }
  const std::string tiny =
      "  %c = f32[] constant(1e-30)\n  %s = S broadcast(%c), dimensions={}\n  %more = S add(%x, %s)\n";
  EXPECT_NE(both(tiny, "maximum(%x, %more)").find("comparisons of reals that double cannot tell apart"),
            std::string::npos);
  EXPECT_EQ(told(
                {
                    {"f32[4,3] parameter",                "f32[0,3] parameter"   },
                    {"f32[4,3] copy",                     "f32[0,3] copy"        },
                    {"(f32[4,3], f32[3]) tuple(%r0, %y)", "(f32[0,3]) tuple(%r0)"},
                    {", {replicated}}",                   "}"                    }
  },
                {{"f32[2,3] parameter", "f32[0,3] parameter"},
                 {"f32[2,3] copy", "f32[0,3] copy"},
                 {"(f32[2,3], f32[3]) tuple(%r0, %y)", "(f32[0,3]) tuple(%r0)"}}),
            "mistrusted: there is no element to compare");
}

}  // namespace
}  // namespace plumb::hlo
