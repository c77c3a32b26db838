// plumb resolve as its user runs it, where no resolver is set up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/command/testing/tool.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::Not;

Ran resolve(const std::string& rules, const std::string& arguments) {
  const Folder folder;
  write(folder.path / "rules", rules);
  write(folder.path / "names", "w bf16[64,64] embed,mlp\n");
  setenv("PLUMB_HOME", folder.path.c_str(), 1);
  return run_tool(folder, "resolve rules names " + arguments);
}

const std::string maxtext =
    "mesh_axes: ['data', 'fsdp', 'tp']\nlogical_axis_rules: [['embed', 'fsdp'], ['mlp', 'tp']]\n";

TEST(Resolve, MeshesStandSideBySide) {
  const Ran ran = resolve(maxtext, "--all --mesh fsdp=8,tp=4 --mesh fsdp=32");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("mesh_axes of rules, here of size 1: data\n\n"
                                 "bytes on a device  whole  fsdp=8,tp=4  fsdp=32\n"
                                 "w                   8192          256      256\n"
                                 "    on fsdp=8,tp=4: bf16[64@fsdp,64@tp]\n"
                                 "    on fsdp=32: bf16[64@fsdp,64]\n"
                                 "all parameters      8192          256      256\n"));
}

TEST(Resolve, WhatIsFoundOnOneOfTheMeshesIsSaidOfIt) {
  const Ran ran = resolve(maxtext, "--mesh fsdp=8,tp=4 --mesh fsdp=6");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("on fsdp=6\nundivided  w  bf16[64@fsdp,64]: 64 into 6 parts, which JAX refuses\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("on fsdp=8,tp=4\nundivided")));
}

TEST(Resolve, EveryMeshIsReadBeforeAnythingIsSaid) {
  const Ran ran = resolve(maxtext, "--mesh fsdp=8 --mesh fdsp=8");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("did you mean fsdp?"));
}

}  // namespace
}  // namespace plumb
