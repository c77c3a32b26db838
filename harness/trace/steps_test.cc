#include "harness/trace/steps.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

// By what axes each device knows one collective over these groups: "-" where it takes no part, "?" where its
// group is no fibre of the mesh.
std::string known(const std::string& mesh, std::vector<std::vector<std::int64_t>> groups) {
  std::string text;
  for (const std::vector<Step>& steps :
       steps_by_device(parse_mesh(mesh), {
                                             {.kind = "all-gather", .groups = groups, .in = 4, .out = 8}
  })) {
    text += text.empty() ? "" : " ";
    if (steps.empty()) text += "-";
    if (!steps.empty() && !steps.front().axes) text += "?";
    if (!steps.empty() && steps.front().axes)
      for (AxisId axis : *steps.front().axes) text += "xyz"[axis];
  }
  return text;
}

TEST(Steps, AGroupThatIsAFibreIsKnownByItsAxes) {
  EXPECT_EQ(known("x=2,y=2",
                  {
                      {0, 2},
                      {1, 3}
  }),
            "x x x x");
  EXPECT_EQ(known("x=2,y=2",
                  {
                      {1, 0}
  }),
            "y y - -");
  EXPECT_EQ(known("x=2,y=2",
                  {
                      {3, 1, 0, 2}
  }),
            "xy xy xy xy");
  EXPECT_EQ(known("x=2,y=2",
                  {
                      {0, 3}
  }),
            "? - - ?")
      << "two of the four of x and y";
  EXPECT_EQ(known("x=4,y=1",
                  {
                      {0, 1},
                      {2}
  }),
            "? ? - -")
      << "half of x; one alone";
}

// Law: of every set of axes each fibre is known by it, but for axes of one device.
TEST(Steps, EveryFibreIsKnownByItsAxes) {
  const Mesh mesh = parse_mesh("x=2,u=1,y=3,z=2 ids=5,2,7,0,3,6,1,4,11,10,9,8");
  for (unsigned set = 1; set < 16; ++set) {
    std::vector<AxisId> axes, seen;
    for (AxisId axis = 0; axis < 4; ++axis)
      if (set >> axis & 1) axes.push_back(axis);
    for (AxisId axis : axes)
      if (mesh.axes[axis].size > 1) seen.push_back(axis);
    const Trace trace = {
        {.kind = "all-gather", .groups = fibres(mesh, axes)}
    };
    for (const std::vector<Step>& steps : steps_by_device(mesh, trace)) {
      ASSERT_EQ(steps.size(), seen.empty() ? 0 : 1);
      if (steps.empty()) continue;
      EXPECT_EQ(steps.front().axes, seen);
    }
  }
}

}  // namespace
}  // namespace plumb
