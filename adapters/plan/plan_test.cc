#include "adapters/plan/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "adapters/plan/cells.h"
#include "adapters/plan/testing/brute.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct Moved {
  std::int64_t summed = 0, copied = 0;
  bool operator==(const Moved&) const = default;
};

Moved moved(const std::vector<Leg>& legs) {
  Moved m;
  for (const Leg& leg : legs)
    for (const Round& round : leg.rounds)
      for (const Send& send : round.sends)
        if (send.from != send.to) (round.add ? m.summed : m.copied) += elements(leg.cells, send.cell);
  return m;
}

Moved reported(const std::vector<Leg>& legs) {
  Moved m;
  for (const Leg& leg : legs)
    for (const Issued& issued : leg.issued) (issued.sums ? m.summed : m.copied) += issued.moved;
  return m;
}

// What becomes of the axes of a reshard.
struct Fates {
  std::vector<AxisId> summed, kept, fresh, others;  // others: all that are not fresh
};

// The least that must move for one element. A sum of P parts takes P - 1 additions somewhere, and
// whoever wants it and did not add it up receives it once; of devices along a fresh unfinished axis one
// is enough.
std::int64_t least(const Case& c, const Fates& axes, const brute::Index& index) {
  const Spec &from = c.op.operands[0], &to = result(c);
  std::map<std::int64_t, std::map<std::int64_t, bool>> wanting;  // kept place -> fibre -> one holds it
  for (std::int64_t device = 0; device < devices(c.mesh); ++device)
    if (brute::holds(c, to, device, index))
      wanting[brute::digits(c.mesh, device, axes.kept)][brute::digits(c.mesh, device, axes.others)] |=
          brute::holds(c, from, device, index);
  std::int64_t sum = 0;
  for (const auto& [place, fibres] : wanting) {
    std::int64_t holding = 0;
    for (const auto& [fibre, holds] : fibres) holding += holds;
    const auto want = static_cast<std::int64_t>(fibres.size());
    sum += axes_size(c.mesh, axes.summed) - 1;
    sum += axes.summed.empty() ? want - holding : want - (holding > 0);
  }
  return sum;
}

// Every choice of what becomes of the axes: one that is unfinished before and after keeps its parts or
// has them added up on one device.
std::vector<Fates> fates(const Case& c) {
  const auto n = static_cast<AxisId>(c.mesh.axes.size());
  std::vector<Fates> all;
  for (int merged = 0; merged < 1 << n; ++merged) {
    Fates axes;
    bool sensible = true;
    for (AxisId a = 0; a < n; ++a) {
      const bool was = brute::names(c.op.operands[0].unfinished, a),
                 is = brute::names(result(c).unfinished, a);
      const bool merge = merged >> a & 1;
      sensible = sensible && (!merge || (was && is));
      if (was && (!is || merge)) axes.summed.push_back(a);
      if (was && is && !merge) axes.kept.push_back(a);
      (is && (!was || merge) ? axes.fresh : axes.others).push_back(a);
    }
    if (sensible) all.push_back(axes);
  }
  return all;
}

std::int64_t least(const Case& c) {
  const std::vector<Fates> all = fates(c);
  std::int64_t sum = 0;
  for (const brute::Index& index : brute::indices(shape(result(c)))) {
    std::int64_t fewest = least(c, all[0], index);
    for (const Fates& axes : all) fewest = std::min(fewest, least(c, axes, index));
    sum += fewest;
  }
  return sum;
}

class EveryReshard : public testing::TestWithParam<const char*> {};

TEST_P(EveryReshard, MovesTheLeastAndReportsIt) {
  const Case like = parse_case(GetParam());
  Choices all = all_reshards(like.mesh, like.op.operands[0].dtype, shape(like.op.operands[0]), true);
  all.like.rule = like.rule;
  for (std::int64_t n = 0; n < count(all); ++n) {
    const Case c = nth(all, n);
    const Spec &from = c.op.operands[0], &to = result(c);
    const Leg leg = direct(c.mesh, from, to, c.rule);
    const Moved m = moved({leg});
    ASSERT_EQ(m.summed + m.copied, least(c))
        << print(c) << ": " << m.summed << " summed, " << m.copied << " copied";
    ASSERT_EQ(m, reported({leg})) << print(c);
    const Volume v = volume(c.mesh, from, to, c.rule);
    ASSERT_EQ(m, (Moved{v.summed, v.copied})) << print(c);
    ASSERT_LE(v.sends, 2.0 * static_cast<double>(elements(from) * devices(c.mesh))) << print(c);
    const std::vector<Leg> rings = ring(c.mesh, from, to, c.rule);
    ASSERT_EQ(moved(rings), reported(rings)) << print(c);
  }
}

INSTANTIATE_TEST_SUITE_P(SmallMeshes, EveryReshard,
                         testing::Values("on x=2: reshard f32[3] -> f32[3]",
                                         "on x=2,y=3: reshard f32[7] -> f32[7]",
                                         "on x=2,y=3: reshard f32[7] -> f32[7] nested",
                                         "on x=2,y=2 ids=3,1,0,2: reshard f32[4,3] -> f32[4,3]",
                                         "on x=2,y=2: reshard f32[] -> f32[]",
                                         "on x=2,y=2: reshard f32[0,2] -> f32[0,2]",
                                         "on x=2,y=1,z=3 ids=5,0,2,1,4,3: reshard f32[5] -> f32[5] nested",
                                         "on x=2,y=2,z=2: reshard f32[5,3] -> f32[5,3]"));

Leg leg_of(const std::string& line) {
  const Case c = parse_case(line);
  return direct(c.mesh, c.op.operands[0], result(c), c.rule);
}

std::vector<std::string> kinds(const std::string& line) {
  std::vector<std::string> all;
  for (const Issued& issued : leg_of(line).issued) all.push_back(issued.kind);
  return all;
}

TEST(Direct, IsReportedByItsUsualName) {
  const std::map<std::string, std::vector<std::string>> table{
      {"on x=4: reshard f32[8] -> f32[8]",             {}                              },
      {"on x=4: reshard f32[8] -> f32[8@x]",           {}                              },
      {"on x=4: reshard f32[8@x] -> f32[8]+x",         {}                              },
      {"on x=4: reshard f32[8@x] -> f32[8]",           {"all-gather"}                  },
      {"on x=4: reshard f32[7@x] -> f32[7]",           {"all-gather"}                  },
      {"on x=4: reshard f32[8]+x -> f32[8@x]",         {"reduce-scatter"}              },
      {"on x=4: reshard f32[8]+x -> f32[8]",           {"reduce-scatter", "all-gather"}},
      {"on x=4: reshard f32[8@x,4] -> f32[8,4@x]",     {"all-to-all"}                  },
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]", {"collective-permute"}          },
      {"on x=2,y=2: reshard f32[8@x] -> f32[8@y]",     {"collective-permute"}          },
      {"on x=2,y=3: reshard f32[6@y] -> f32[6@x]",     {"send"}                        },
  };
  for (const auto& [line, want] : table) EXPECT_EQ(kinds(line), want) << line;
}

TEST(Direct, SharesASumAmongAllThatWantIt) {
  const Leg leg = leg_of("on x=2,y=4: reshard f32[16]+x -> f32[16]");
  ASSERT_EQ(leg.issued.size(), 2u);
  EXPECT_EQ(leg.issued[0].moved, 16);      // one addition an element, over all devices
  EXPECT_EQ(leg.issued[0].out, 2);         // and every device adds up two elements
  EXPECT_EQ(leg.issued[1].moved, 16 * 7);  // each finished element goes to the seven others
}

TEST(Direct, TakesFromTheReplicaBesideIt) {
  for (const Round& round : leg_of("on x=4,y=2: reshard f32[8@x] -> f32[8]").rounds)
    for (const Send& send : round.sends) EXPECT_EQ(send.from % 2, send.to % 2);
}

TEST(Shares, TileTheBoxEqually) {
  for (std::int64_t rows = 0; rows < 6; ++rows)
    for (std::int64_t n = 1; n < 9; ++n) {
      const auto all = cut_evenly(
          {
              {2, 2 + rows},
              {1, 4       }
      },
          n);
      EXPECT_LE(std::ssize(all), n);
      std::set<std::pair<std::int64_t, std::int64_t>> seen;
      for (const auto& box : all)
        for (std::int64_t i = box[0].begin; i < box[0].end; ++i)
          for (std::int64_t j = box[1].begin; j < box[1].end; ++j)
            EXPECT_TRUE(seen.insert({i, j}).second) << rows << " " << n;
      EXPECT_EQ(std::ssize(seen), rows * 3);
    }
}

TEST(Plan, RefusesMoreSendsThanAskedFor) {
  const Case c = parse_case("on x=64: reshard f32[64@x] -> f32[64]");
  EXPECT_NO_THROW(plan(c, Style::direct, 64 * 65));
  EXPECT_THROW(plan(c, Style::direct, 64 * 63), std::length_error);
}

TEST(LocalProduct, ComputesWhereTheOperandsLie) {
  const auto layouts = [](const std::string& line) {
    const Case c = parse_case(line);
    const LocalProduct p = *plan(c, Style::direct, 1e6).product;
    return print(c.mesh, p.lhs_spec) + " " + print(c.mesh, p.rhs_spec) + " " + print(c.mesh, p.out_spec);
  };
  EXPECT_EQ(layouts("on x=2,y=2: einsum mk,kn->mn f32[8@x,4] f32[4,6@y] -> f32[8@x,6@y]"),
            "f32[8@x,4] f32[4,6@y] f32[8@x,6@y]");
  EXPECT_EQ(layouts("on x=2: einsum mk,kn->mn f32[8,64@x] f32[64@x,8] -> f32[8,8]"),
            "f32[8,64@x] f32[64@x,8] f32[8,8]+x");
  EXPECT_EQ(layouts("on x=4: einsum mk,kn->mn f32[2,64@x] f32[64,64] -> f32[2,64@x]"),
            "f32[2,64@x] f32[64@x,64] f32[2,64]+x");
  EXPECT_EQ(layouts("on e=2: grouped fwd f32[8@e,2] f32[4@e,2,3] sizes=4,2,1,1 -> f32[8@e,3]"),
            "f32[8@e,2] f32[4,2,3] f32[8@e,3]");
}

std::int64_t moved(const Plan& p) {
  std::int64_t sum = 0;
  for (const auto* all : {&p.inputs[0], &p.inputs[1], &p.legs}) {
    const Moved m = moved(*all);
    EXPECT_EQ(m, reported(*all));
    sum += m.summed + m.copied;
  }
  return sum;
}

// Neither weights of groups that a device has no rows of, nor parts of a sum that are zeros. In elements.
TEST(Product, OfGroupsMovesWhatIsReadAndWhatIsNotZero) {
  const struct {
    const char* line;
    std::int64_t direct, ring;
  } rows[] = {
  // clang-format off
      // Rows lie with their experts: weights are gathered along fsdp alone, gradients scattered along it.
      {"on ep=2,fsdp=2: grouped fwd f32[64@ep.fsdp,4] f32[4@ep,4@fsdp,6] sizes=8,8,0,0/8,8,0,0/0,0,8,8/0,0,8,8 -> f32[64@ep.fsdp,6]", 96, 96},
      {"on ep=2,fsdp=2: grouped wgrad f32[64@ep.fsdp,4] f32[64@ep.fsdp,6] sizes=8,8,0,0/8,8,0,0/0,0,8,8/0,0,8,8 -> f32[4@ep,4@fsdp,6]", 96, 96},
      // The first expert has all rows: its weights go round, once to each.
      {"on ep=4: grouped fwd f32[8@ep,2] f32[4@ep,2,3] sizes=8,0,0,0 -> f32[8@ep,3]", 18, 18},
      // Each device has the rows of the expert after it: a ring passes its weights on by the third.
      {"on ep=3: grouped fwd f32[12@ep,2] f32[3@ep,2,3] sizes=0,4,0/0,0,4/4,0,0 -> f32[12@ep,3]", 18, 36},
      {"on ep=2: grouped fwd f32[8@ep,4] f32[2@ep,4,6] sizes=4,4 -> f32[8@ep,6]", 0, 0},
      // Rows of no group are nobody's: one of four elements is read elsewhere.
      {"on ep=2: grouped fwd f32[8@ep,4] f32[2,4,6@ep] sizes=1,0 -> f32[8,6@ep]", 4, 4},
  // clang-format on
  };
  for (const auto& row : rows) {
    EXPECT_EQ(moved(plan(parse_case(row.line), Style::direct, 1e6)), row.direct) << row.line;
    EXPECT_EQ(moved(plan(parse_case(row.line), Style::ring, 1e6)), row.ring) << row.line;
  }
}

// However unevenly an array is cut: a ring says of its gather what the device has that begins with most.
TEST(Ring, SaysWhatTheDeviceHasThatHasMost) {
  for (std::int64_t rows = 1; rows < 9; ++rows)
    for (std::int64_t columns = 1; columns < 9; ++columns)
      for (int n = 2; n < 6; ++n) {
        const Case c =
            parse_case(fmt::format("on x={0}: reshard f32[{1},{2}]+x -> f32[{1},{2}]", n, rows, columns));
        const Leg leg = ring(c.mesh, c.op.operands[0], result(c), c.rule).front();
        std::map<std::uint32_t, std::int64_t> begins;
        for (const Round& round : leg.rounds)
          for (const Send& send : round.sends)
            if (send.from == send.to) begins[send.from] += elements(leg.cells, send.cell);
        std::int64_t most = 0;
        for (const auto& [device, size] : begins) most = std::max(most, size);
        ASSERT_EQ(leg.issued.size(), 2u);
        EXPECT_EQ(leg.issued[0].out, most) << rows << "x" << columns << " over " << n;
        EXPECT_EQ(leg.issued[1].in, most) << rows << "x" << columns << " over " << n;
      }
}

// A sum is scattered along the cut of the target, and only dimensions that are cut otherwise are gathered.
TEST(Ring, GathersNothingThatIsCutAgain) {
  const auto kinds = [](const char* line) {
    const Case c = parse_case(line);
    std::vector<std::string> all;
    for (const Leg& leg : ring(c.mesh, c.op.operands[0], result(c), c.rule))
      for (const Issued& issued : leg.issued) all.push_back(issued.kind);
    return all;
  };
  const std::map<std::string, std::vector<std::string>> table{
      {"on x=4: reshard f32[8]+x -> f32[8@x]",            {"reduce-scatter"}                            },
      {"on x=4: reshard f32[7]+x -> f32[7@x]",            {"reduce-scatter"}                            },
      {"on x=4: reshard f32[8]+x -> f32[8]",              {"reduce-scatter", "all-gather"}              },
      {"on x=2,y=2: reshard f32[8]+y.x -> f32[8@x.y]",    {"reduce-scatter", "reduce-scatter"}          },
      {"on x=2,y=2: reshard f32[8@x]+y -> f32[8@x.y]",    {"reduce-scatter"}                            },
      {"on x=2,y=2: reshard f32[8]+x -> f32[8@x.y]",      {"reduce-scatter"}                            },
      {"on x=2,y=2: reshard f32[7@x]+y -> f32[7@x.y]",    {"reduce-scatter", "all-gather", "all-gather"}},
      {"on x=2,y=2: reshard f32[8@x] -> f32[8@x.y]",      {}                                            },
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@x]",      {"all-gather"}                                },
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8]",        {"all-gather", "all-gather"}                  },
      {"on x=2,y=2: reshard f32[7@x.y] -> f32[7]",        {"all-gather"}                                },
      {"on x=2,y=2: reshard f32[7@x.y] -> f32[7] nested", {"all-gather", "all-gather"}                  },
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]",    {"all-gather", "all-gather"}                  },
  };
  for (const auto& [line, want] : table) EXPECT_EQ(kinds(line.c_str()), want) << line;
}

}  // namespace
}  // namespace plumb
