#include "reference/meaning/testing/laws.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Every layout of all small meshes: rank 1 and 2 on up to three axes, rank 3 on two; both rules.
template <class Visit>
void each_layout(Visit&& visit) {
  for (int rank : {1, 2, 3})
    for (const Mesh& mesh : small_meshes(rank == 3 ? 2 : 3))
      for (const auto& sizes : shapes_for(mesh, rank))
        for (Spec& spec : all_specs(mesh, DType::s32, sizes, true))
          for (Rule rule : {Rule::flat, Rule::nested})
            if (!visit(MeshSpec{mesh, spec, rule})) return;
}

// What breaks a law over every layout: the first, and how many.
struct Faults {
  std::string first;
  int count = 0;
  void add(std::string fault) {
    if (!fault.empty() && count++ == 0) first = std::move(fault);
  }
};

// 39 meshes and 7 or 5 shapes in rank 1 and 2, 12 meshes and 4 shapes in rank 3, two rules.
TEST(Law, ThereAreThisManyLayouts) {
  int meshes[4] = {}, layouts = 0;
  for (const Mesh& mesh : small_meshes(3)) ++meshes[mesh.axes.size()];
  each_layout([&](const MeshSpec&) { return ++layouts, true; });
  EXPECT_THAT(meshes, testing::ElementsAre(0, 3, 9, 27));
  const int rank_1 = 7 * (3 * 3 + 9 * 10 + 27 * 38), rank_2 = 5 * (3 * 4 + 9 * 18 + 27 * 92);
  const int rank_3 = 4 * (3 * 5 + 9 * 28);
  EXPECT_EQ(layouts, 2 * (rank_1 + rank_2 + rank_3));
}

TEST(Law, BlocksTileTheArray) {
  Faults faults;
  each_layout([&](const MeshSpec& layout) { return faults.add(breaks_tiling(layout, block)), true; });
  EXPECT_EQ(faults.count, 0) << faults.first;
}

TEST(Law, BlocksAreCutsOfTheListOfIndices) {
  Faults faults;
  each_layout([&](const MeshSpec& layout) { return faults.add(breaks_cuts(layout, block)), true; });
  EXPECT_EQ(faults.count, 0) << faults.first;
}

TEST(Law, ShardThenAssembleIsTheIdentity) {
  Faults faults;
  each_layout([&](MeshSpec layout) {
    layout.spec.unfinished.clear();
    return faults.add(breaks_round_trip(layout, shard)), true;
  });
  EXPECT_EQ(faults.count, 0) << faults.first;
}

TEST(Law, PartsAreHeldEqually) {
  Faults faults;
  each_layout([&](const MeshSpec& layout) { return faults.add(breaks_parts(layout)), true; });
  EXPECT_EQ(faults.count, 0) << faults.first;
}

// Every pair of specs; the middle one and the rule are drawn.
TEST(Law, AChainMeansTheSameAsItsEnds) {
  std::mt19937_64 random(1);
  Faults faults;
  for (int rank : {1, 2, 3})
    for (const Mesh& mesh : small_meshes(rank == 3 ? 2 : 3)) {
      const std::vector<std::int64_t> sizes{4, 3, 2};
      const auto specs = all_specs(mesh, DType::s32, {sizes.begin(), sizes.begin() + rank}, true);
      for (const Spec& from : specs)
        for (const Spec& to : specs) {
          const MeshSpec layout{mesh, from, random() % 2 ? Rule::nested : Rule::flat};
          faults.add(breaks_chain(layout, {from, specs[random() % specs.size()], to}, random));
        }
    }
  EXPECT_EQ(faults.count, 0) << faults.first;
}

TEST(Law, HoldsUnderPermutedDeviceIds) {
  Faults faults;
  std::mt19937_64 random(2);
  for (Mesh mesh : small_meshes(2)) {
    for (std::int64_t device = 0; device < devices(mesh); ++device) mesh.place.push_back(device);
    std::shuffle(mesh.place.begin(), mesh.place.end(), random);
    for (const Spec& spec : all_specs(mesh, DType::s32, {7, 4}, true))
      for (Rule rule : {Rule::flat, Rule::nested}) {
        faults.add(breaks_tiling({mesh, spec, rule}, block));
        faults.add(breaks_cuts({mesh, spec, rule}, block));
        faults.add(breaks_parts({mesh, spec, rule}));
        if (spec.unfinished.empty()) faults.add(breaks_round_trip({mesh, spec, rule}, shard));
        faults.add(breaks_chain({mesh, spec, rule}, {spec, spec, spec}, random));
      }
  }
  EXPECT_EQ(faults.count, 0) << faults.first;
}

// The largest of the largest: parts may be reduced along one axis after another.
TEST(Law, AMaximumIsFinishedInAnyOrder) {
  Faults faults;
  std::mt19937_64 random(3);
  for (const Mesh& mesh : small_meshes(3))
    for (Spec from : all_specs(mesh, DType::s32, {5}, true))
      for (Reduce reduction : {Reduce::max, Reduce::min}) {
        if (from.unfinished.empty()) continue;
        from.reduction = reduction;
        for (std::size_t i = 0; i < from.unfinished.size(); ++i) {
          Spec by = from;
          by.unfinished.erase(by.unfinished.begin() + static_cast<std::ptrdiff_t>(i));
          faults.add(breaks_chain({mesh, from, Rule::flat}, {from, by, finished(from)}, random));
        }
      }
  EXPECT_EQ(faults.count, 0) << faults.first;
}

// A program over a submesh lays out in each slice what it would on a mesh of its own; a block depends on no
// axis but those of the submesh, so that slices agree; the blocks of a slice tile the array.
TEST(Law, EverySliceHoldsWhatTheProgramSays) {
  std::int64_t n = 0;
  for (const char* of :
       {"z=2,x=2 of x=2,y=2,z=2", "y=3 of x=2,y=3 ids=5,0,3,1,4,2", "x=3,y=2 of y=2,x=3,z=2"}) {
    const Case named = parse_case(std::string("on ") + of + ": reshard f32[7,4] -> f32[7,4]");
    const Mesh program = program_mesh(named);
    ASSERT_EQ(std::ssize(slices(named)) * devices(program), devices(named.mesh));
    for (const Spec& spec : all_specs(program, DType::f32, {7, 4}, true)) {
      Case c = named;
      c.op.operands = c.op.chain = {renamed(spec, c.sub)};
      c.fill = default_fill(c.op);
      const Case one = slice_case(c);
      ASSERT_EQ(one.op.operands[0], spec);
      ASSERT_EQ(parse_case(print(c)), c);
      EXPECT_EQ(breaks_tiling({c.mesh, result(c), c.rule}, block), "");
      for (const auto& slice : slices(c))
        for (std::int64_t p = 0; p < devices(program); ++p, ++n) {
          ASSERT_EQ(block(c.mesh, result(c), c.rule, slice[p]), block(program, spec, c.rule, p));
          ASSERT_EQ(part(c.mesh, result(c), slice[p]), part(program, spec, p));
        }
    }
  }
  EXPECT_GE(n, 384);
}

TEST(Law, ASubmeshThatIsItsParentSaysNothing) {
  EXPECT_EQ(parse_case("on x=2,y=3 of x=2,y=3 ids=5,0,3,1,4,2: reshard f32[8@x]+y -> f32[8]"),
            parse_case("on x=2,y=3 ids=5,0,3,1,4,2: reshard f32[8@x]+y -> f32[8]"));
  const Case c = parse_case("on y=3,x=2 of x=2,y=3: reshard f32[8@x]+y -> f32[8]");
  EXPECT_EQ(slices(c), (std::vector<std::vector<std::int64_t>>{
                           {0, 3, 1, 4, 2, 5}
  }));
}

Spec reversed(Spec spec) {
  for (Dim& dim : spec.dims) std::ranges::reverse(dim.axes);
  return spec;
}

// Blocks that differ in size by one at most, as some frameworks cut.
Slice balanced(const Mesh& mesh, const Spec& spec, Rule, std::int64_t device) {
  Slice slice;
  for (const Dim& dim : spec.dims) {
    const std::int64_t n = axes_size(mesh, dim.axes), i = coordinate(mesh, dim.axes, device);
    const std::int64_t size = dim.size / n, more = dim.size % n;
    slice.push_back({i * size + std::min(i, more), (i + 1) * size + std::min(i + 1, more)});
  }
  return slice;
}

// Wrong layouts, and the law that sees each.
TEST(Law, WrongLayoutsAreSeen) {
  const BlockFunction minor_first = [](const Mesh& mesh, const Spec& spec, Rule rule, std::int64_t device) {
    return block(mesh, reversed(spec), rule, device);
  };
  const BlockFunction other_rule = [](const Mesh& mesh, const Spec& spec, Rule rule, std::int64_t device) {
    return block(mesh, spec, rule == Rule::flat ? Rule::nested : Rule::flat, device);
  };
  const BlockFunction padded = [](const Mesh& mesh, const Spec& spec, Rule rule, std::int64_t device) {
    Slice slice = block(mesh, spec, rule, device);
    for (std::size_t d = 0; d < slice.size(); ++d)
      slice[d].end = slice[d].begin + piece(mesh, spec.dims[d], rule, 0).size();
    return slice;
  };
  const BlockFunction first_device = [](const Mesh& mesh, const Spec& spec, Rule rule, std::int64_t) {
    return block(mesh, spec, rule, 0);
  };
  for (const BlockFunction& wrong :
       {minor_first, other_rule, BlockFunction(balanced), padded, first_device}) {
    Faults cuts;
    each_layout(
        [&](const MeshSpec& layout) { return cuts.add(breaks_cuts(layout, wrong)), cuts.count == 0; });
    EXPECT_GT(cuts.count, 0);
  }
  for (const BlockFunction& wrong : {padded, first_device}) {
    Faults tiles;
    each_layout(
        [&](const MeshSpec& layout) { return tiles.add(breaks_tiling(layout, wrong)), tiles.count == 0; });
    EXPECT_GT(tiles.count, 0);
  }
}

TEST(Law, AWrongShardIsSeen) {
  const ShardFunction minor_first = [](const Mesh& mesh, const Spec& spec, Rule rule, const Tensor& whole) {
    return shard(mesh, reversed(spec), rule, whole);
  };
  Faults faults;
  each_layout([&](MeshSpec layout) {
    layout.spec.unfinished.clear();
    return faults.add(breaks_round_trip(layout, minor_first)), faults.count == 0;
  });
  EXPECT_GT(faults.count, 0);
  EXPECT_THAT(breaks_round_trip({parse_mesh("x=2,y=2"), parse_spec("s32[4@x.y]", parse_mesh("x=2,y=2"))},
                                minor_first),
              testing::HasSubstr("assembled is not what was sharded"));
}

}  // namespace
}  // namespace plumb
