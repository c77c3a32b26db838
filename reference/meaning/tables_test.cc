// What each device holds, written by hand.
#include <gtest/gtest.h>

#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct Row {
  const char *mesh, *spec;
  Rule rule;
  const char* blocks;  // in device order
};

std::string blocks_of(const Row& row) {
  const Mesh mesh = parse_mesh(row.mesh);
  const Spec spec = parse_spec(row.spec, mesh);
  std::string blocks;
  for (std::int64_t device = 0; device < devices(mesh); ++device)
    blocks += std::string(device ? " " : "") + print(block(mesh, spec, row.rule, device));
  return blocks;
}

constexpr Rule flat = Rule::flat, nested = Rule::nested;

TEST(Table, OneAxis) {
  const Row rows[] = {
      {"x=2", "f32[8@x]",   flat,   "[0:4] [4:8]"                                    },
      {"x=2", "f32[8]",     flat,   "[0:8] [0:8]"                                    },
      {"x=2", "f32[8]+x",   flat,   "[0:8] [0:8]"                                    },
      {"x=1", "f32[8@x]",   flat,   "[0:8]"                                          },
      {"x=2", "f32[3@x,2]", flat,   "[0:2,0:2] [2:3,0:2]"                            },
      {"x=2", "f32[3,2@x]", flat,   "[0:3,0:1] [0:3,1:2]"                            },
      {"x=4", "f32[5@x]",   flat,   "[0:2] [2:4] [4:5] [5:5]"                        },
      {"x=4", "f32[5@x]",   nested, "[0:2] [2:4] [4:5] [5:5]"                        },
      {"x=8", "f32[2@x]",   flat,   "[0:1] [1:2] [2:2] [2:2] [2:2] [2:2] [2:2] [2:2]"},
      {"x=3", "f32[4@x]",   flat,   "[0:2] [2:4] [4:4]"                              },
      {"x=2", "f32[0@x]",   flat,   "[0:0] [0:0]"                                    },
      {"x=2", "f32[]",      flat,   "[] []"                                          },
  };
  for (const Row& row : rows) EXPECT_EQ(blocks_of(row), row.blocks) << row.mesh << " " << row.spec;
}

// XLA cuts a dimension once; DTensor cuts what the axes before left.
TEST(Table, SeveralAxesFlatAndNested) {
  const Row rows[] = {
      {"a=2,b=2",     "f32[5@a.b]",   flat,   "[0:2] [2:4] [4:5] [5:5]"                        },
      {"a=2,b=2",     "f32[5@a.b]",   nested, "[0:2] [2:3] [3:4] [4:5]"                        },
      {"a=2,b=3",     "f32[4@a.b]",   flat,   "[0:1] [1:2] [2:3] [3:4] [4:4] [4:4]"            },
      {"a=2,b=3",     "f32[4@a.b]",   nested, "[0:1] [1:2] [2:2] [2:3] [3:4] [4:4]"            },
      {"a=2,b=2,c=2", "f32[9@a.b.c]", flat,   "[0:2] [2:4] [4:6] [6:8] [8:9] [9:9] [9:9] [9:9]"},
      {"a=2,b=2,c=2", "f32[9@a.b.c]", nested, "[0:2] [2:3] [3:4] [4:5] [5:6] [6:7] [7:8] [8:9]"},
      {"a=2,b=2",     "f32[7@a.b]",   flat,   "[0:2] [2:4] [4:6] [6:7]"                        },
      {"a=2,b=2",     "f32[7@a.b]",   nested, "[0:2] [2:4] [4:6] [6:7]"                        },
      {"a=2,b=1,c=2", "f32[5@a.b.c]", nested, "[0:2] [2:3] [3:4] [4:5]"                        },
  };
  for (const Row& row : rows) EXPECT_EQ(blocks_of(row), row.blocks) << row.mesh << " " << row.spec;
}

// The first axis named is the major one. Devices stand as (0,0), (0,1), (1,0), (1,1).
TEST(Table, MajorToMinor) {
  const Row rows[] = {
      {"dp=2,tp=2",   "f32[8@dp.tp]",   flat,   "[0:2] [2:4] [4:6] [6:8]"                        },
      {"dp=2,tp=2",   "f32[8@tp.dp]",   flat,   "[0:2] [4:6] [2:4] [6:8]"                        },
      {"dp=2,tp=2",   "f32[5@tp.dp]",   flat,   "[0:2] [4:5] [2:4] [5:5]"                        },
      {"dp=2,tp=2",   "f32[5@tp.dp]",   nested, "[0:2] [3:4] [2:3] [4:5]"                        },
      {"a=2,b=3",     "f32[6@b.a]",     flat,   "[0:1] [2:3] [4:5] [1:2] [3:4] [5:6]"            },
      {"x=2,y=2",     "f32[4@y,2@x]",   flat,   "[0:2,0:1] [2:4,0:1] [0:2,1:2] [2:4,1:2]"        },
      {"x=2,y=2,z=2", "f32[8@x.z,4@y]", flat,
       "[0:2,0:2] [2:4,0:2] [0:2,2:4] [2:4,2:4] [4:6,0:2] [6:8,0:2] [4:6,2:4] [6:8,2:4]"         },
      {"x=2,y=2,z=2", "f32[8@z.y]",     flat,   "[0:2] [4:6] [2:4] [6:8] [0:2] [4:6] [2:4] [6:8]"},
  };
  for (const Row& row : rows) EXPECT_EQ(blocks_of(row), row.blocks) << row.mesh << " " << row.spec;
}

// Positions 0 1 2 3 of the mesh are held by devices 3 1 0 2.
TEST(Table, PermutedDeviceIds) {
  const Row rows[] = {
      {"x=2,y=2 ids=3,1,0,2", "f32[8@x]",   flat,   "[4:8] [0:4] [4:8] [0:4]"},
      {"x=2,y=2 ids=3,1,0,2", "f32[8@y]",   flat,   "[0:4] [4:8] [4:8] [0:4]"},
      {"x=2,y=2 ids=3,1,0,2", "f32[8@x.y]", flat,   "[4:6] [2:4] [6:8] [0:2]"},
      {"x=2,y=2 ids=3,1,0,2", "f32[5@x.y]", nested, "[3:4] [2:3] [4:5] [0:2]"},
      {"x=3 ids=2,0,1",       "f32[4@x]",   flat,   "[2:4] [4:4] [0:2]"      },
  };
  for (const Row& row : rows) EXPECT_EQ(blocks_of(row), row.blocks) << row.mesh << " " << row.spec;
}

TEST(Table, WhichPartADeviceHolds) {
  const Mesh mesh = parse_mesh("dp=2,sp=3");
  const auto parts_of = [&](const char* text) {
    std::vector<std::int64_t> held;
    for (std::int64_t d = 0; d < 6; ++d) held.push_back(part(mesh, parse_spec(text, mesh), d));
    return held;
  };
  using Parts = std::vector<std::int64_t>;
  EXPECT_EQ(parts_of("f32[8]"), (Parts{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(parts_of("f32[8]+dp"), (Parts{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(parts_of("f32[8]+dp.sp"), (Parts{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(parts_of("f32[8]+sp.dp"), (Parts{0, 2, 4, 1, 3, 5}));
}

// Six devices hold 0,1,2,3 each; the sums, scattered in nested cuts, are 0 6 - 12 18 -.
TEST(Table, ReduceScatterOfFourElementsOverTwoTimesThree) {
  const Case c = parse_case("on a=2,b=3: reshard s32[4]+a.b -> s32[4@a.b] nested");
  Tensor parts = zeros(DType::s32, {6, 4});
  for (std::int64_t i = 0; i < 24; ++i) store(DType::s32, parts.bytes.data() + 4 * i, i % 4);
  const std::vector<Tensor> blocks = shard(c.mesh, result(c), c.rule, evaluate(c, {parts}));
  std::vector<std::vector<double>> values;
  for (const Tensor& t : blocks) {
    values.emplace_back();
    for (std::int64_t i = 0; i < elements(t.shape); ++i) values.back().push_back(value(t, i));
  }
  EXPECT_EQ(values, (std::vector<std::vector<double>>{{0}, {6}, {}, {12}, {18}, {}}));
}

}  // namespace
}  // namespace plumb
