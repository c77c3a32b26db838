#include "reference/bytes/move.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "reference/bytes/bytes.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::int64_t sum(const std::vector<std::int64_t>& all) {
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

std::vector<Mesh> meshes() {
  return {parse_mesh("x=2"),
          parse_mesh("x=3"),
          parse_mesh("x=2,y=2"),
          parse_mesh("x=2,y=3"),
          parse_mesh("x=1,y=2"),
          parse_mesh("x=2,y=2,z=2"),
          parse_mesh("x=3,y=2,z=2 ids=3,1,0,2,11,10,9,4,5,6,7,8")};
}

// Every pair of specs of small meshes, even, uneven and with empty blocks, both rules.
template <class Visit>
void each_move(bool unfinished, Visit&& visit) {
  for (const Mesh& mesh : meshes())
    for (const std::vector<std::int64_t>& sizes : {
             std::vector<std::int64_t>{12, 2},
             {5,  3}
    }) {
      const auto specs = all_specs(mesh, DType::f32, sizes, unfinished);
      for (std::size_t i = 0; i < specs.size(); ++i)
        for (std::size_t j = i % 3; j<specs.size(); j += specs.size()> 50 ? 3 : 1)
          visit(Move{mesh, specs[i], specs[j], (i + j) % 2 ? Rule::nested : Rule::flat});
    }
}

std::string print(const Move& m) {
  return print(m.mesh) + ": " + print(m.mesh, m.from) + " -> " + print(m.mesh, m.to);
}

bool inside(std::int64_t row, std::int64_t col, const Slice& slice) {
  return slice[0].begin <= row && row < slice[0].end && slice[1].begin <= col && col < slice[1].end;
}

// A move, and what each device holds before and after.
struct Blocks {
  const Move& m;
  std::vector<Slice> from, to;
  std::vector<std::vector<std::int64_t>> fibres;  // along the target's unfinished axes
};
Blocks blocks_of(const Move& m) {
  Blocks b{m, {}, {}, fibres(m.mesh, m.to.unfinished)};
  for (std::int64_t d = 0; d < devices(m.mesh); ++d) {
    b.from.push_back(block(m.mesh, m.from, m.rule, d));
    b.to.push_back(block(m.mesh, m.to, m.rule, d));
  }
  return b;
}

// One element of a move by the definition, over sets of devices.
struct Element {
  std::set<std::int64_t> holders[64];           // of each part
  std::vector<std::set<std::int64_t>> needing;  // fibres along the target's unfinished axes
};

// Only the devices at coordinate `at` along `fixed` take part; parts are told apart by `apart`.
struct View {
  std::vector<AxisId> apart, fixed;
  std::int64_t at = 0;
};
Element element(const Blocks& b, std::int64_t row, std::int64_t col, const View& view) {
  Element e;
  const auto takes_part = [&](std::int64_t d) { return coordinate(b.m.mesh, view.fixed, d) == view.at; };
  for (std::int64_t d = 0; d < devices(b.m.mesh); ++d)
    if (takes_part(d) && inside(row, col, b.from[d]))
      e.holders[coordinate(b.m.mesh, view.apart, d)].insert(d);
  for (const auto& fibre : b.fibres) {
    if (!inside(row, col, b.to[fibre.front()])) continue;
    e.needing.emplace_back();
    std::ranges::copy_if(fibre, std::inserter(e.needing.back(), e.needing.back().end()), takes_part);
  }
  return e;
}
Element element(const Blocks& b, std::int64_t row, std::int64_t col) {
  return element(b, row, col, {b.m.from.unfinished, {}});
}

bool meet(const std::set<std::int64_t>& a, const std::set<std::int64_t>& b) {
  return std::ranges::any_of(a, [&](std::int64_t device) { return b.contains(device); });
}

bool has_all_parts(const Element& e, std::int64_t parts, const std::set<std::int64_t>& fibre) {
  for (std::int64_t p = 0; p < parts; ++p)
    if (!meet(e.holders[p], fibre)) return false;
  return true;
}

std::int64_t lacking(const Element& e, std::int64_t parts) {
  return std::ranges::count_if(e.needing, [&](const auto& fibre) { return !has_all_parts(e, parts, fibre); });
}

// Values that add up one element where a part lies in a fibre in need, and take it to the others.
std::int64_t rooted(const Element& e, std::int64_t parts) {
  const bool at_home = std::ranges::any_of(e.needing, [&](const auto& fibre) {
    for (std::int64_t p = 0; p < parts; ++p)
      if (meet(e.holders[p], fibre)) return true;
    return false;
  });
  return parts - 1 + std::ssize(e.needing) - (at_home ? 1 : 0);
}

// The plans of best_known, element by element.
std::int64_t cheapest_by_hand(const Move& m) {
  std::vector<AxisId> kept, foreign;  // axes of parts that the target keeps apart, and the others
  for (AxisId axis : m.from.unfinished) (contains(m.to.unfinished, axis) ? kept : foreign).push_back(axis);
  const std::int64_t all = parts(m.mesh, m.from), others = axes_size(m.mesh, foreign);
  std::int64_t moves = 0, at_once = 0, apart = 0;
  const Blocks blocks = blocks_of(m);
  for (std::int64_t row = 0; row < m.to.dims[0].size; ++row)
    for (std::int64_t col = 0; col < m.to.dims[1].size; ++col) {
      const Element e = element(blocks, row, col);
      const std::int64_t lack = lacking(e, all);
      const std::int64_t needing = std::ssize(e.needing), home = lack < needing ? 1 : 0;
      if (lack > 0) moves += std::min(all * lack, all - 1 + needing - home);
      at_once += rooted(e, all);
      for (std::int64_t r = 0; r < axes_size(m.mesh, kept); ++r)
        apart += rooted(element(blocks, row, col, {foreign, kept, r}), others);
    }
  return others == 1 ? moves : std::min(at_once, apart);
}

TEST(Move, FewestIsCountedElementByElement) {
  each_move(true, [](const Move& m) {
    std::int64_t want = 0;
    const Blocks blocks = blocks_of(m);
    for (std::int64_t row = 0; row < m.to.dims[0].size; ++row)
      for (std::int64_t col = 0; col < m.to.dims[1].size; ++col)
        want += lacking(element(blocks, row, col), parts(m.mesh, m.from));
    ASSERT_EQ(sum(fewest_elements(m)), want) << print(m);
  });
}

TEST(Move, CheapestIsCountedElementByElement) {
  each_move(true, [](const Move& m) {
    ASSERT_GE(cheapest_bytes(m, DType::f32), 4 * sum(fewest_elements(m))) << print(m);
    ASSERT_EQ(cheapest_bytes(m, DType::f32), 4 * cheapest_by_hand(m)) << print(m);
    for (DType wire : {DType::f8e5m2, DType::f64})
      ASSERT_GE(cheapest_bytes(m, wire), least_bytes(m, wire) * sum(fewest_elements(m))) << print(m);
  });
}

TEST(Move, AFinishedOneIsFreeExactlyWhereTheTargetLiesInTheSource) {
  each_move(false, [](const Move& m) {
    const std::vector<std::int64_t> fewest = fewest_elements(m);
    for (std::int64_t d = 0; d < devices(m.mesh); ++d) {
      const Slice from = block(m.mesh, m.from, m.rule, d), to = block(m.mesh, m.to, m.rule, d);
      bool lies_in = true;
      for (std::int64_t row = to[0].begin; row < to[0].end; ++row)
        for (std::int64_t col = to[1].begin; col < to[1].end; ++col)
          lies_in = lies_in && inside(row, col, from);
      ASSERT_EQ(fewest[d] == 0, lies_in) << print(m) << " device " << d;
      ASSERT_LE(fewest[d], elements(to));
    }
    ASSERT_EQ(cheapest_bytes(m, DType::f64), 4 * sum(fewest)) << print(m);
  });
}

TEST(Move, GoingByAThirdLayoutIsNeverFewer) {
  for (const char* text : {"x=2,y=2", "x=2,y=3"}) {
    const Mesh mesh = parse_mesh(text);
    for (Rule rule : {Rule::flat, Rule::nested}) {
      const auto specs = all_specs(mesh, DType::f32, {5, 6}, false);
      for (const Spec& a : specs)
        for (const Spec& b : specs)
          for (const Spec& c : specs) {
            const auto direct = fewest_elements({mesh, a, c, rule}),
                       first = fewest_elements({mesh, a, b, rule}),
                       second = fewest_elements({mesh, b, c, rule});
            for (std::size_t d = 0; d < direct.size(); ++d) ASSERT_LE(direct[d], first[d] + second[d]);
          }
    }
  }
}

TEST(Move, ByHand) {
  struct {
    const char* line;
    const char* fewest;
    std::int64_t best;
  } const rows[] = {
      {"on x=2: reshard f32[8@x] -> f32[8]",                 "16 16",                           32      },
      {"on x=2: reshard f32[8] -> f32[8@x]",                 "0 0",                             0       },
      {"on x=2: reshard f32[8] -> f32[8]+x",                 "0 0",                             0       },
      {"on x=2: reshard f32[8@x] -> f32[8]+x",               "0 0",                             0       },
      {"on x=2: reshard f32[8]+x -> f32[8]+x",               "0 0",                             0       },
      {"on x=2: reshard bf16[8]+x -> bf16[8]",               "16 16",                           32      },
      {"on x=1: reshard f32[8]+x -> f32[8]",                 "0",                               0       },
 // sums move on the wire, finished values in their own dtype
      {"on x=4: reshard bf16[8]+x -> bf16[8] wire=f32",      "16 16 16 16",                     144     },
      {"on x=4: reshard f32[8]+x -> f32[8] wire=bf16",       "16 16 16 16",                     144     },
 // replicas over y and z hold the same parts: both go to both devices that lack them
      {"on x=2,y=2,z=2: reshard f32[7@z,5]+x -> f32[7,5]+x", "60 80 60 80 0 0 0 0",             560     },
 // the fibre along y lacks half of the array, counted on its first device
      {"on x=2,y=2: reshard f32[8@x] -> f32[8]+y",           "16 0 16 0",                       32      },
 // parts over x stay apart; those over y are added up in each
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]+x",         "32 32 0 0",                       128     },
 // experts 0..3 over (f,e) to e alone: devices receive 1, 2, 2 and 1 of the 4
      {"on f=2,e=2: reshard f32[4@f.e] -> f32[4@e]",         "4 8 8 4",                         24      },
      {"on x=4: reshard f32[5@x] -> f32[5]",                 "12 12 16 20",                     60      },
      {"on x=2,y=2,z=2: reshard f32[8,4]+x.y.z -> f32[8,4]", "128 128 128 128 128 128 128 128", 14 * 128},
  };
  for (const auto& row : rows) {
    const Case c = parse_case(row.line);
    EXPECT_EQ(fmt::format("{}", fmt::join(fewest_bytes(c), " ")), row.fewest) << row.line;
    EXPECT_EQ(best_known(c).bytes, row.best) << row.line;
  }
}

}  // namespace
}  // namespace plumb
