#include <gtest/gtest.h>

#include <set>

#include "reference/bytes/bytes.h"
#include "reference/bytes/family.h"
#include "reference/bytes/grouped.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(Product, EinsumByHand) {
  struct {
    const char* line;
    std::int64_t best;
    const char* split;
  } const rows[] = {
      {"on x=2: einsum mk,kn->mn f32[8@x,4] f32[4,8] -> f32[8@x,8]",                                     0,                                "m@x"                },
      {"on x=2: einsum mk,kn->mn f32[8,4@x] f32[4@x,8] -> f32[8,8]+x",                                   0,                                "k@x"                },
      {"on x=2: einsum mk,kn->mn f32[2,64@x] f32[64@x,2] -> f32[2,2]",                                   2 * 16,                           "k@x"                },
      {"on x=2: einsum mk,kn->mn f32[2,64@x] f32[64@x,2] -> f32[2@x,2]",                                 16,                               "k@x"                },
      {"on x=2: einsum mk,kn->mn f32[64,2@x] f32[2@x,64] -> f32[64,64]",                                 2 * 2 * 256,                      "nothing"            },
      {"on x=4: einsum mk,kn->mn f32[8,16@x] f32[16,4] -> f32[8,4]+x",                                   0,                                "k@x"                },
      {"on x=2,y=2: einsum mk,kn->mn f32[8@x.y,2] f32[2,512] -> f32[8@y.x,512]",                         2 * 16,                           "m@y.x"              },
      {"on x=2: einsum mk,kn->mn f32[8,8]+x f32[8,2] -> f32[8,2]+x",                                     0,                                "parts of lhs@x"     },
      {"on x=2: einsum mk,kn->mn f32[8,8]+x f32[8,2] -> f32[8,2]",                                       2 * 64,                           "parts of lhs@x"     },
 // the weights are gathered, not the larger activations; the batch stays split
      {"on fsdp=2,tp=2: einsum bk,kn->bn bf16[256@fsdp,64] bf16[64,64@tp.fsdp] -> bf16[256@fsdp,64@tp]",
       4 * 16 * 64 * 2,                                                                                                                    "b@fsdp n@tp"        },
      {"on dp=2,fsdp=256,sp=2,tp=4: einsum bsh,bsf->hf f32[512@dp.fsdp,2@sp,512] f32[512@dp.fsdp,2@sp,8@tp] "
       "-> "
       "f32[512,8@tp]+dp.fsdp.sp -> f32[512@fsdp.sp,8@tp]",                                       // each device gets the other row of its batch:
       // half of lhs's columns, rhs whole; then 512
       // parts of
       // 512 x 8 sums, needed twice (over dp), half of them where a part lies
       4096 * 256 * 4 + 4096 * 2 * 4 + (512 * 8 * (511 + 2) - 2048) * 4, "b@dp.fsdp h@sp f@tp"},
  };
  for (const auto& row : rows) {
    const BestKnown best = best_known(parse_case(row.line));
    EXPECT_EQ(best.bytes, row.best) << row.line << "\n" << best.family;
    EXPECT_TRUE(best.family.starts_with("the work split " + std::string(row.split) + ":")) << best.family;
  }
}

// Nothing need move where every operand is whole everywhere and the result is finished.
TEST(Product, WholeOperandsCostNothing) {
  const Choices all = all_matmuls(parse_mesh("x=2,y=2"), DType::f32, {8, 8, 8});
  const Spec &lhs = all.specs[0].front(), &rhs = all.specs[1].front();
  for (std::int64_t n = 0; n < count(all); ++n) {
    const Case c = nth(all, n);
    if (c.op.operands[0] != lhs || c.op.operands[1] != rhs) continue;
    EXPECT_EQ(best_known(c).bytes, 0) << print(c);
  }
}

TEST(Product, NoPlanOfTheFamilyIsCheaper) {
  const Choices all = all_matmuls(parse_mesh("x=2,y=3"), DType::f32, {5, 6, 7});
  for (std::int64_t n = 0; n < count(all); ++n) {
    const Case c = nth(all, n);
    const Words letters = words(c.op);
    const std::vector<Split> plans = splits(c, letters);
    const std::int64_t best = best_known(c).bytes;
    bool met = false;
    for (const Split& split : plans) {
      const std::int64_t moved = moved_in_einsum(c, letters, split).all();
      ASSERT_LE(best, moved) << print(c);
      met = met || moved == best;
    }
    ASSERT_TRUE(met);
    ASSERT_TRUE(plans.front() == Split({plans.front().letters,
                                        std::vector<std::vector<AxisId>>(plans.front().letters.size())}));
  }
}

// The judge of grouped plans: sets of elements, device by device.
struct Grid {
  Case c;
  Words letters;
  Split split;
  std::vector<std::vector<Range>> runs =
      group_rows(std::get<Grouped>(c.op.kind), c.op.operands[0].dims[0].size);

  std::int64_t size(char letter) const {
    for (int i = 0; i < 3; ++i)
      if (const auto d = letters[i].find(letter); d != std::string::npos)
        return (i < 2 ? c.op.operands[i] : result(c)).dims[d].size;
    return 0;
  }
  bool works(std::int64_t device, char letter, std::int64_t i) const {
    const Range r =
        piece(c.mesh, {size(letter), split.of(letter)}, c.rule, coordinate(c.mesh, split.of(letter), device));
    return r.begin <= i && i < r.end;
  }
  bool in_group(std::int64_t t, std::int64_t g) const {
    for (const Range& run : runs[g])
      if (run.begin <= t && t < run.end) return true;
    return false;
  }
  // Whether the device multiplies anything at row t of group g.
  bool meets(std::int64_t device, std::int64_t t, std::int64_t g) const {
    return in_group(t, g) && works(device, 't', t) && works(device, 'g', g);
  }
  bool touches(std::int64_t device, std::int64_t g) const {
    for (std::int64_t t = 0; t < size('t'); ++t)
      if (meets(device, t, g)) return true;
    return false;
  }
};

bool holds(const Grid& grid, const Spec& spec, std::int64_t device, const std::vector<std::int64_t>& at) {
  const Slice slice = block(grid.c.mesh, spec, grid.c.rule, device);
  for (std::size_t d = 0; d < at.size(); ++d)
    if (at[d] < slice[d].begin || at[d] >= slice[d].end) return false;
  return true;
}

std::int64_t operand_by_hand(const Grid& grid, int i) {
  const Spec& spec = grid.c.op.operands[i];
  std::int64_t moved = 0;
  for (std::int64_t device = 0; device < devices(grid.c.mesh); ++device)
    for (std::int64_t e = 0; e < elements(spec); ++e) {
      std::vector<std::int64_t> at(spec.dims.size());
      std::int64_t rest = e;
      for (std::size_t d = at.size(); d-- > 0;) at[d] = rest % spec.dims[d].size, rest /= spec.dims[d].size;
      bool needed = false;
      if (grid.letters[i] == "gkn") {
        needed =
            grid.touches(device, at[0]) && grid.works(device, 'k', at[1]) && grid.works(device, 'n', at[2]);
      } else {
        for (std::int64_t g = 0; g < grid.size('g'); ++g) needed = needed || grid.meets(device, at[0], g);
        needed = needed && grid.works(device, grid.letters[i][1], at[1]);
      }
      moved += needed && !holds(grid, spec, device, at);
    }
  return moved;
}

std::int64_t weights_by_hand(const Grid& grid) {
  const Spec& spec = result(grid.c);
  std::int64_t moved = 0;
  for (std::int64_t g = 0; g < grid.size('g'); ++g)
    for (std::int64_t k = 0; k < grid.size('k'); ++k)
      for (std::int64_t n = 0; n < grid.size('n'); ++n) {
        std::set<std::int64_t> parts;
        std::int64_t needing = 0, lacking = 0;
        for (std::int64_t device = 0; device < devices(grid.c.mesh); ++device) {
          const bool makes =
              grid.touches(device, g) && grid.works(device, 'k', k) && grid.works(device, 'n', n);
          const bool needs = holds(grid, spec, device, {g, k, n});
          if (makes) parts.insert(coordinate(grid.c.mesh, grid.split.of('t'), device));
          needing += needs;
          lacking += needs && !makes;
        }
        if (parts.size() == 1) moved += lacking;
        if (parts.size() > 1) moved += std::ssize(parts) - 1 + needing - (lacking < needing);
      }
  return moved;
}

std::int64_t rows_by_hand(const Grid& grid) {
  const Spec& spec = result(grid.c);
  std::int64_t moved = 0;
  for (std::int64_t device = 0; device < devices(grid.c.mesh); ++device)
    for (std::int64_t t = 0; t < spec.dims[0].size; ++t)
      for (std::int64_t j = 0; j < spec.dims[1].size; ++j)
        for (std::int64_t g = 0; g < grid.size('g'); ++g)
          if (grid.in_group(t, g) && holds(grid, spec, device, {t, j}))
            moved += !(grid.meets(device, t, g) && grid.works(device, grid.letters[2][1], j));
  return moved;
}

TEST(Product, GroupedPlansAreCountedElementByElement) {
  const char* lines[] = {
      "on e=2,f=2: grouped fwd f32[12@e.f,4] f32[3@e,4@f,2] sizes=5,0,4 -> f32[12@e.f,2]",
      "on e=2,f=2: grouped fwd f32[12@f,4@e] f32[3,4@e,2@f] sizes=1,2,0/0,3,3 -> f32[12,2@e]",
      "on e=2,f=3: grouped dgrad f32[7@e,4] f32[3@f,5,4@e] sizes=2,0,5 -> f32[7@f.e,5]",
      "on e=2,f=2: grouped wgrad f32[12@e.f,4] f32[12@e.f,2] sizes=5,0,4 -> f32[3@e,4@f,2]",
      "on e=2,f=2: grouped wgrad f32[12@f,4] f32[12@f,2@e] sizes=1,5/3,1 -> f32[2,4,2]",
      "on e=2,f=2,d=2: grouped wgrad f32[9@d.f,3] f32[9@f,2@e] sizes=1,5,3 -> f32[3@e.f,3@d,2]",
  };
  int compared = 0;
  for (const char* line : lines) {
    const Case c = parse_case(line);
    const Words letters = words(c.op);
    const std::int64_t bytes = 4;
    for (const Split& split : splits(c, letters)) {
      const Grid grid{c, letters, split};
      const Moved moved = moved_in_grouped(c, letters, split);
      const std::string plan = std::string(line) + ", the work split " + print(c.mesh, split);
      for (int i = 0; i < 2; ++i)
        EXPECT_EQ(moved.operands[i], bytes * operand_by_hand(grid, i)) << plan << " " << i;
      if (letters[2] == "gkn") {
        EXPECT_EQ(moved.result, bytes * weights_by_hand(grid)) << plan;
      } else if (split.of(letters[0][1]).empty()) {
        EXPECT_EQ(moved.result, bytes * rows_by_hand(grid)) << plan;
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 50);
}

// Experts over ep, weights stored split over fsdp, every device sorts its own rows: forward gathers the
// weights over fsdp alone, backward scatters their gradient so: 4096 bytes a device.
TEST(Product, ExpertParallelWithFsdp) {
  const std::string sizes = " sizes=32,32,0,0/32,32,0,0/0,0,32,32/0,0,32,32 -> ";
  EXPECT_EQ(best_known(parse_case("on ep=2,fsdp=2: grouped fwd bf16[256@ep.fsdp,64] bf16[4@ep,64@fsdp,32]" +
                                  sizes + "bf16[256@ep.fsdp,32]"))
                .bytes,
            4 * 4096);
  EXPECT_EQ(best_known(parse_case("on ep=2,fsdp=2: grouped dgrad bf16[256@ep.fsdp,32] bf16[4@ep,64@fsdp,32]" +
                                  sizes + "bf16[256@ep.fsdp,64]"))
                .bytes,
            4 * 4096);
  EXPECT_EQ(best_known(parse_case("on ep=2,fsdp=2: grouped wgrad bf16[256@ep.fsdp,64] bf16[256@ep.fsdp,32]" +
                                  sizes + "bf16[4@ep,64@fsdp,32]"))
                .bytes,
            4 * 4096);
}

TEST(BestKnown, AnAxisOfOneDeviceAddsNoPlan) {
  const std::string product = ": einsum mk,kn->mn f32[8@x,8] f32[8,8@x] -> f32[8,8]?";
  const BestKnown few = best_known(parse_case("on x=2" + product));
  const BestKnown same =
      best_known(parse_case("on x=2,a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1" + product));
  EXPECT_EQ(same.bytes, few.bytes);
  EXPECT_EQ(same.family, few.family);
}

TEST(BestKnown, IsNotSoughtAmongTooManyPlans) {
  const std::string mesh = "a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2,i=2,j=2";
  for (const std::string& on : {mesh, mesh + " of z=2," + mesh}) {
    const BestKnown many =
        best_known(parse_case("on " + on + ": einsum mk,kn->mn f32[8@a,8] f32[8,8@b] -> f32[8,8]?"));
    EXPECT_EQ(many.bytes, -1) << on;
    EXPECT_EQ(many.family, "more than 20000 ways to split the work, none is tried") << on;
  }
}

}  // namespace
}  // namespace plumb
