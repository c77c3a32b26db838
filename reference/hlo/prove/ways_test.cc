// Which ways a program went in no draw, and that those which some draw goes are judged.
#include <cmath>

#include "reference/hlo/prove/testing/verdicts.h"

namespace plumb::hlo {
namespace {

TEST(Ways, PathsThatNoDrawTook) {
  const std::string calls =
      "\n\n%id (a: s32[]) -> s32[] {\n  ROOT %a = s32[] parameter(0)\n}\n\n%no (a: s32[]) -> pred[] {\n  %a "
      "= s32[] parameter(0)\n  "
      "ROOT %p = pred[] constant(false)\n}\n";
  const std::string lines =
      "  %one = s32[] constant(1)\n  %k = s32[] conditional(%one, %n, %n, %n), branch_computations={%id, "
      "%id, %id}\n"
      "  %w = s32[] while(%n), condition=%no, body=%id\n  ROOT";
  const Edits more = {
      {"  ROOT",           lines                     },
      {"num_partitions=2", "num_partitions=2" + calls}
  };
  const Proof p = proof(more, more);
  EXPECT_EQ(p.finding, Finding::proven);
  EXPECT_EQ(p.untaken, (std::vector<std::string>{"%k branch 0", "%k branch 2", "%w"}));
}

// By which a gradient is clipped, say: what would become of the other answer is not proven.
TEST(Ways, AnswersOfFloatsThatNoDrawTook) {
  const std::string lines =
      "  %f = f32[] convert(%n)\n  %h = f32[] constant(1000000)\n  %small = pred[] compare(%f, %h), "
      "direction=LT\n  %least = pred[] compare(%h, %h), direction=LT\n  %nan = pred[] compare(%f, %f), "
      "direction=NE\n  %finite = pred[] is-finite(%f)\n  %a = f32[] minimum(%f, %h)\n  %b = f32[] "
      "maximum(%f, %h)\n  %one = f32[] constant(3)\n"
      "  %c = f32[] clamp(%one, %f, %h)\n  %d = f32[] maximum(%f, %one)\n"
      "  %many = f32[9] broadcast(%h), dimensions={}\n  %few = f32[9] broadcast(%f), dimensions={}\n"
      "  %g = pred[9] compare(%many, %few), direction=GE\n  %zero = s32[] constant(0)\n"
      "  %nn = s32[] multiply(%n, %n)\n  %less = pred[] compare(%nn, %zero), direction=LT\n  ROOT";
  const Edits more = {
      {"  ROOT", lines}
  };
  const Proof p = proof(more, more);
  EXPECT_EQ(p.finding, Finding::proven);
  EXPECT_EQ(p.untaken, (std::vector<std::string>{"%small false", "%nan true", "%finite false", "%a operand 1",
                                                 "%b operand 0", "%c operand 2", "%g false"}))
      << "constants decide nothing, nor does a constant that is compared with itself";
  EXPECT_EQ(p.unanswered, std::vector<std::string>{"%less true"});
}

// Other draws are of other sizes: one clips, others do not, and what it is clipped by is proven.
TEST(Ways, BothAnswersOfWhatLargeNumbersDecide) {
  const std::string lines =
      "  %e = f32[1] slice(%y), slice={[0:1]}\n  %s = f32[] reshape(%e)\n"
      "  %u = f32[] multiply(%s, %s)\n  %h = f32[] constant(1000)\n  %small = pred[] compare(%u, %h), "
      "direction=LT\n"
      "  ROOT";
  const Edits more = {
      {"  ROOT", lines}
  };
  EXPECT_EQ(proof(more, more).untaken, std::vector<std::string>{}) << "in some draw";
}

// The largest quotient of the first elements of y and x in these draws.
double largest_quotient(std::uint64_t from, std::uint64_t to) {
  const Module module = edited(kBefore, {});
  double most = 0;
  for (std::uint64_t seed = from; seed < to; ++seed) {
    const auto all = drawn(module, bounds_of(module), seed);
    most = std::max(most, std::fabs(all[1].array->reals[0].real / all[0].array->reals[0].real));
  }
  return most;
}

// Draws that go no other way are not judged: of 48 the one that does is, however late it comes.
TEST(Ways, TheOneDrawOfManyThatGoesItIsJudged) {
  const double before = largest_quotient(0, 30), after = largest_quotient(30, 8 + 48);
  ASSERT_GT(after, before);
  const auto lines = [&](const std::string& otherwise) {
    return "  %xe = f32[1,1] slice(%x), slice={[0:1], [0:1]}\n  %xs = f32[] reshape(%xe)\n"
           "  %ye = f32[1] slice(%y), slice={[0:1]}\n  %ys = f32[] reshape(%ye)\n"
           "  %q = f32[] divide(%ys, %xs)\n  %u = f32[] abs(%q)\n  %h = f32[] constant(" +
           std::to_string((before + after) / 2) +
           ")\n  %large = pred[] compare(%u, %h), direction=GT\n  %all = pred[3] broadcast(%large), "
           "dimensions={}\n"
           "  %other = f32[3] " +
           otherwise + "(%y)\n  %w = f32[3] select(%all, %other, %y)\n  ROOT";
  };
  // Both devices take the first row.
  const auto found = [&](const std::string& otherwise) {
    const Edits one = {
        {"  ROOT",         lines("negate") },
        {"tuple(%r0, %y)", "tuple(%r0, %w)"}
    };
    const Edits other = {
        {"  ROOT",
         "  %g = f32[4,3] all-gather(%x), channel_id=1, replica_groups={{0,1}}, dimensions={0}, "
         "use_global_device_ids=true\n" +
             lines(otherwise)              },
        {"slice(%x)",      "slice(%g)"     },
        {"tuple(%r0, %y)", "tuple(%r0, %w)"}
    };
    return proof(one, other);
  };
  EXPECT_EQ(found("negate").finding, Finding::proven);
  EXPECT_EQ(found("negate").untaken, std::vector<std::string>{});
  EXPECT_EQ(found("abs").finding, Finding::refuted);
  EXPECT_GE(found("abs").seed, 30u);
}

// What makes result 0, R being its shape and V that of a column, whole or on a device; and the computations
// that are called, which may be others in AFTER.
Proof of_lines(const std::string& lines, const std::string& calls, const std::string& calls_after) {
  const auto edits = [&](const std::string& rows, const std::string& called) {
    std::string shaped;
    for (const char c : lines)
      shaped += c == 'R' ? "[" + rows + ",3]" : c == 'V' ? "[" + rows + "]" : std::string(1, c);
    return Edits{
        {"num_partitions=2",                     "num_partitions=2\n\n" + called},
        {"  %r0 = f32[" + rows + ",3] copy(%x)", shaped                         }
    };
  };
  return proof(edits("4", calls), edits("2", calls_after));
}

using Names = std::vector<std::string>;

// Each element of an array is a draw: what none of them is, is said. That nothing is less than minus infinity
// is no way.
TEST(Ways, OperandsThatNoElementIs) {
  const std::string constants =
      "  %e = f32[] constant(0.001)\n  %es = f32R broadcast(%e), dimensions={}\n  %z = f32[] constant(-inf)\n"
      "  %zs = f32R broadcast(%z), dimensions={}\n  %h = f32[] constant(1e9)\n  %a = f32R abs(%x)\n"
      "  %one = f32[] constant(1)\n  %ones = f32R broadcast(%one), dimensions={}\n  %p = f32R add(%a, "
      "%ones)\n";
  const std::string most =
      "%most {\n  %k = f32[] parameter(0)\n  %l = f32[] parameter(1)\n  ROOT %g = f32[] maximum(%k, %l)\n}\n";
  const auto untaken = [&](const std::string& line) {
    return of_lines(constants + line, most, most).untaken;
  };
  EXPECT_EQ(untaken("  %r0 = f32R maximum(%p, %es)"), Names{"%r0 operand 1"});
  EXPECT_EQ(untaken("  %r0 = f32R maximum(%es, %p)"), Names{"%r0 operand 0"});
  EXPECT_EQ(untaken("  %r0 = f32R maximum(%a, %es)"), Names{}) << "some are zero where there are ties";
  EXPECT_EQ(untaken("  %r0 = f32R maximum(%x, %es)"), Names{});
  EXPECT_EQ(untaken("  %r0 = f32R maximum(%x, %zs)"), Names{});
  EXPECT_EQ(untaken("  %i = s32[] constant(-1)\n  %f = f32[] convert(%i)\n  %fs = f32R broadcast(%f), "
                    "dimensions={}\n  %r0 = f32R maximum(%p, %fs)"),
            Names{"%r0 operand 1"});
  EXPECT_EQ(untaken("  %r0 = f32R clamp(%e, %p, %h)"), (Names{"%r0 operand 0", "%r0 operand 2"}));
  EXPECT_EQ(untaken("  %r0 = f32R clamp(%e, %x, %one)"), Names{});
  EXPECT_EQ(untaken("  %r0 = f32R clamp(%z, %x, %one)"), Names{});
  const auto fold = [&](const std::string& of, const std::string& init) {
    return untaken("  %m = f32V reduce(" + of + ", " + init +
                   "), dimensions={1}, to_apply=%most\n  %r0 = f32R broadcast(%m), dimensions={0}");
  };
  EXPECT_EQ(fold("%p", "%e"), Names{"%m operand 1"});
  EXPECT_EQ(fold("%p", "%h"), Names{"%m operand 0"});
  EXPECT_EQ(fold("%p", "%z"), Names{});
  EXPECT_EQ(untaken("  %r0 = f32R map(%p, %es), dimensions={0,1}, to_apply=%most"), Names{"%g operand 1"})
      << "said once, where it is chosen";
}

// The place of the largest of each row; `of_equals` says which of two that are equal.
std::string largest(const std::string& of_equals) {
  return "%largest {\n  %a = f32[] parameter(0)\n  %i = s32[] parameter(1)\n  %b = f32[] parameter(2)\n"
         "  %j = s32[] parameter(3)\n  %gt = pred[] compare(%a, %b), direction=GT\n"
         "  %eq = pred[] compare(%a, %b), direction=EQ\n  %lt = pred[] compare(%i, %j), direction=" +
         of_equals +
         "\n  %tie = pred[] and(%eq, %lt)\n  %first = pred[] or(%gt, %tie)\n"
         "  %most = f32[] select(%first, %a, %b)\n  %at = s32[] select(%first, %i, %j)\n"
         "  ROOT %t = (f32[], s32[]) tuple(%most, %at)\n}\n";
}
std::string places(const std::string& operand) {
  return "  %k = s32R iota(), iota_dimension=1\n  %low = f32[] constant(-inf)\n  %none = s32[] constant(0)\n"
         "  %m = (f32V, s32V) reduce(" +
         operand +
         ", %k, %low, %none), dimensions={1}, to_apply=%largest\n  %q = s32V get-tuple-element(%m), index=1\n"
         "  %f = f32V convert(%q)\n  %r0 = f32R broadcast(%f), dimensions={0}";
}

// Which of those that are equal is taken decides where the largest is. In some draws there are ties; where
// what is compared has none, it is said that nobody saw what becomes of them.
TEST(Ways, TiesAreDrawnAndJudged) {
  const std::string counted =
      "  %c = f32R iota(), iota_dimension=1\n  %s = f32[] constant(0.01)\n  %ss = f32R broadcast(%s), "
      "dimensions={}\n"
      "  %d = f32R multiply(%c, %ss)\n  %w = f32R add(%x, %d)\n";
  const auto found = [&](const std::string& operand, const std::string& after) {
    return of_lines(counted + places(operand), largest("LT"), largest(after));
  };
  EXPECT_EQ(found("%x", "LT").finding, Finding::proven);
  EXPECT_EQ(found("%x", "LT").untaken, Names{});
  EXPECT_EQ(found("%x", "GT").finding, Finding::refuted);
  EXPECT_EQ(found("%w", "GT").finding, Finding::proven);
  EXPECT_EQ(found("%w", "GT").untaken, Names{"%eq true"});
}

// A predicate that is made of another twice, sixty times over: nobody looks 2^60 times at what it is of.
TEST(Ways, PredicatesOfPredicatesAreLookedAtOnce) {
  const std::string all =
      "%all {\n  %k = pred[] parameter(0)\n  %l = pred[] parameter(1)\n  ROOT %g = pred[] and(%k, %l)\n}\n";
  const auto untaken = [&](const std::string& first) {
    std::string lines = "  %z = f32R broadcast(%zero), dimensions={}\n  %p0 = predR " + first;
    for (int n = 1; n <= 60; ++n) {
      const std::string from = "%p" + std::to_string(n - 1);
      lines += "  %p" + std::to_string(n) + " = predR and(" + from + ", " + from + ")\n";
    }
    return of_lines(
        "  %zero = f32[] constant(0)\n  %many = s32R broadcast(%n), dimensions={}\n"
        "  %c = s32R iota(), iota_dimension=1\n" +
            lines +
            "  %yes = pred[] constant(true)\n"
            "  %m = predV reduce(%p60, %yes), dimensions={1}, to_apply=%all\n"
            "  %f = f32V convert(%m)\n  %r0 = f32R broadcast(%f), dimensions={0}",
        all, all);
  };
  EXPECT_EQ(untaken("compare(%x, %z), direction=GE\n").untaken, Names{});
  EXPECT_EQ(untaken("compare(%x, %x), direction=EQ\n").untaken, (Names{"%p0 false", "%m false"}));
  const Proof of_integers = untaken("compare(%many, %c), direction=GE\n");
  EXPECT_EQ(of_integers.untaken, Names{});
}

// What a draw shows nothing of, since its results are not finite, was not gone by it.
TEST(Ways, ThoseOfADrawThatProvesNothingAreNotTaken) {
  const auto untaken = [&](const std::string& last) {
    return of_lines(
               "  %i = f32[] constant(inf)\n  %z = f32[] constant(0)\n"
               "  %zs = f32R broadcast(%z), dimensions={}\n  %eq = predR compare(%x, %zs), direction=EQ\n"
               "  %q = f32R divide(%x, %x)\n" +
                   last,
               "", "")
        .untaken;
  };
  EXPECT_EQ(untaken("  %r0 = f32R copy(%x)"), Names{});
  EXPECT_EQ(untaken("  %r0 = f32R copy(%q)"), Names{"%eq true"});
}

// That no two were equal is told of a reduction, unless a comparison within it tells; what is told elsewhere
// does not.
TEST(Ways, ThatNoTwoWereEqualIsToldOnce) {
  const auto untaken = [](const std::string& within, const std::string& elsewhere) {
    const std::string first =
        "%first {\n  %a = f32[] parameter(0)\n  %i = s32[] parameter(1)\n  %b = f32[] parameter(2)\n"
        "  %j = s32[] parameter(3)\n" +
        within +
        "  %n = f32[] select(%is, %a, %b)\n  %k = s32[] select(%is, %i, %j)\n"
        "  ROOT %t = (f32[], s32[]) tuple(%n, %k)\n}\n";
    const std::string lines =
        "  %column = s32R iota(), iota_dimension=1\n  %one = s32[] constant(1)\n"
        "  %ones = s32R broadcast(%one), dimensions={}\n  %mixed = s32R xor(%column, %ones)\n"
        "  %steps = f32R convert(%mixed)\n  %far = f32[] constant(1e6)\n"
        "  %fars = f32R broadcast(%far), dimensions={}\n  %apart = f32R multiply(%steps, %fars)\n"
        "  %all = f32R add(%x, %apart)\n  %init = f32[] constant(-inf)\n  %none = s32[] constant(0)\n"
        "  %m = (f32V, s32V) reduce(%all, %column, %init, %none), dimensions={1}, to_apply=%first\n"
        "  %most = f32V get-tuple-element(%m), index=0\n"
        "  %mosts = f32R broadcast(%most), dimensions={0}\n" +
        elsewhere;
    return of_lines(lines, first, first).untaken;
  };
  const std::string not_less = "  %is = pred[] compare(%a, %b), direction=GE\n",
                    equal =
                        "  %further = pred[] compare(%a, %b), direction=GT\n"
                        "  %same = pred[] compare(%a, %b), direction=EQ\n"
                        "  %is = pred[] or(%further, %same)\n",
                    nothing = "  %r0 = f32R copy(%mosts)",
                    other =
                        "  %flat = f32R tanh(%x)\n  %beyond = predR compare(%flat, %fars), direction=GT\n"
                        "  %r0 = f32R select(%beyond, %x, %mosts)";
  EXPECT_EQ(untaken(not_less, nothing), Names{"%m of two that are equal"});
  EXPECT_EQ(untaken(not_less, other), (Names{"%m of two that are equal", "%beyond true"}));
  EXPECT_EQ(untaken(equal, nothing), Names{"%same true"});
  EXPECT_EQ(untaken(equal, other), (Names{"%same true", "%beyond true"}));
}

}  // namespace
}  // namespace plumb::hlo
