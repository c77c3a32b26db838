// Between which numbers integers are drawn: below all that they index, wherever they get there.
#include "reference/hlo/prove/bounds.h"

#include <gtest/gtest.h>

#include "reference/hlo/prove/draw.h"

namespace plumb::hlo {
namespace {

constexpr const char* kComputations = R"(
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  ROOT %y = f32[] parameter(1)
}

%both (x: f32[], y: f32[], v: f32[], w: f32[]) -> (f32[], f32[]) {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  %v = f32[] parameter(2)
  %w = f32[] parameter(3)
  ROOT %t = (f32[], f32[]) tuple(%v, %w)
}

%second (s: (s32[], s32[])) -> s32[] {
  %s = (s32[], s32[]) parameter(0)
  ROOT %e = s32[] get-tuple-element(%s), index=1
}

%same (n: s32[]) -> s32[] {
  ROOT %n = s32[] parameter(0)
}

%slice (n: s32[]) -> f32[1] {
  %n = s32[] parameter(0)
  %six = f32[6] iota(), iota_dimension=0
  ROOT %d = f32[1] dynamic-slice(%six, %n), dynamic_slice_sizes={1}
}

%more (s: (s32[], s32[])) -> pred[] {
  %s = (s32[], s32[]) parameter(0)
  ROOT %p = pred[] constant(false)
}

%body (s: (s32[], s32[])) -> (s32[], s32[]) {
  %s = (s32[], s32[]) parameter(0)
  %e = s32[] get-tuple-element(%s), index=1
  %d = f32[1] call(%e), to_apply=%slice
  ROOT %t = (s32[], s32[]) copy(%s)
}

%exchange (s: (s32[], s32[])) -> (s32[], s32[]) {
  %s = (s32[], s32[]) parameter(0)
  %a = s32[] get-tuple-element(%s), index=0
  %b = s32[] get-tuple-element(%s), index=1
  ROOT %t = (s32[], s32[]) tuple(%b, %a)
}

%before (a: s32[], b: s32[], c: s32[], d: s32[]) -> pred[] {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  %c = s32[] parameter(2)
  %d = s32[] parameter(3)
  ROOT %p = pred[] compare(%a, %b), direction=LT
}

%added {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %s = s32[] add(%a, %b)
}

ENTRY %e {
  %i = s32[] parameter(0)
  %j = s32[] parameter(1)
  %n = s32[3] parameter(2)
  %f = f32[5,9] iota(), iota_dimension=1
  %v = s32[2,3] iota(), iota_dimension=1
  %x = f32[] constant(1)
  %t = (s32[], s32[]) tuple(%i, %j)
  )";

// "i<5 n<9" for the parameters that index.
std::string bounds(const std::string& lines) {
  std::string text = "HloModule m, num_partitions=2\n" + std::string(kComputations) + lines +
                     "\n  ROOT %r = s32[] constant(1)\n}\n";
  std::string all;
  const char* names = "ijn";
  for (const Bounds& b : bounds_of(parse(text, "m.txt"))) {
    EXPECT_EQ(b.low, b.indexes || *names != 'n' ? 0 : -8);
    if (b.indexes)
      all += (all.empty() ? "" : " ") + std::string(1, *names) + "<" + std::to_string(b.high + 1);
    EXPECT_TRUE(b.indexes || b.high == 7);
    ++names;
  }
  return all;
}

// clang-format off
TEST(Bounds, IntegersStayBelowWhatTheyIndex) {
  const std::string gather = "%g = f32[3] gather(%f, %n), offset_dims={}, collapsed_slice_dims={0,1}, index_vector_dim=1, "
                             "slice_sizes={1,1}, start_index_map=",
                    scatter = "update_window_dims={}, inserted_window_dims={0,1}, index_vector_dim=1, scatter_dims_to_operand_dims=",
                    slice = ", dynamic_slice_sizes={1,1}",
                    columns = "%a = s32[1] reshape(%i)\n  %b = s32[1] reshape(%j)\n  %c = s32[2] concatenate(%a, %b), dimensions={0}\n",
                    by_two = "%g = f32[] gather(%f, %c), offset_dims={}, collapsed_slice_dims={0,1}, index_vector_dim=0, slice_sizes={1,1}, start_index_map=";
  const std::pair<std::string, std::string> table[] = {
      {"%q = s32[] add(%i, %j)", ""},
      {"%q = pred[3] compare(%n, %n), direction=LT\n  %s = s32[3] select(%q, %n, %n)", ""},
      {gather + "{0}", "n<5"},
      {gather + "{1}", "n<9"},
      {gather + "{1,0}", "n<5"},
      {gather + "{2}", ""},
      {gather + "{-1}", ""},
      {"%s = f32[5,9] scatter(%f, %n, %f), to_apply=%sum, " + scatter + "{1}", "n<9"},
      {"%s = (f32[5,9], f32[5,9]) scatter(%f, %f, %n, %f, %f), to_apply=%both, " + scatter + "{0}", "n<5"},
      {"%d = f32[1,1] dynamic-slice(%f, %i, %j)" + slice, "i<5 j<9"},
      {"%d = f32[1,1] dynamic-slice(%f, %j, %i)" + slice, "i<9 j<5"},
      {"%d = f32[1,1] dynamic-slice(%f, %i, %i)" + slice, "i<5"},
      {"%d = f32[1,1] dynamic-slice(%f, %i, %j, %i)" + slice, "i<5 j<9"},
      {"%d = f32[1,1] dynamic-slice(%f, %j)" + slice, "j<5"},
      {"%d = f32[5,9] dynamic-update-slice(%f, %f, %i, %j)", "i<5 j<9"},
      {"%k = s32[] add(%i, %j)\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "i<5 j<5"},
      {"%k = s32[3] reshape(%n)\n  " + gather + "{0}", "n<5"},
      {"%w = f32[] convert(%i)\n  %k = s32[] convert(%w)\n  %d = f32[1,1] dynamic-slice(%f, %k, %j)" + slice, "j<9"},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %p = pred[2,3] compare(%v, %b), direction=EQ", "n<3"},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %q = s32[2,3] add(%v, %v)\n  %p = pred[2,3] compare(%q, %b), direction=EQ", "n<3"},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %p = pred[2,3] compare(%b, %v), direction=EQ", "n<3"},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %p = pred[2,3] compare(%b, %v), direction=LT", ""},
      {"%z = s32[] constant(0)\n  %s = s32[3] reduce-window(%n, %z), window={size=3 pad=2_0}, to_apply=%added\n  %b = s32[9,3] broadcast(%s), dimensions={1}\n"
       "  %l = s32[9,3] iota(), iota_dimension=0\n  %p = pred[9,3] compare(%l, %b), direction=LT", "n<7"},
      {"%z = s32[] constant(0)\n  %s = s32[] reduce(%n, %z), dimensions={0}, to_apply=%added\n  %b = s32[9] broadcast(%s), dimensions={}\n"
       "  %l = s32[9] iota(), iota_dimension=0\n  %p = pred[9] compare(%b, %l), direction=LE", "n<7"},
      {"%z = s32[] constant(0)\n  %w = s32[9,3] broadcast(%n), dimensions={1}\n  %s = s32[9] reduce(%w, %z), dimensions={1}, to_apply=%added\n"
       "  %l = s32[9] iota(), iota_dimension=0\n  %p = pred[9] compare(%l, %s), direction=LT", "n<7"},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %q = s32[2,3] add(%b, %v)\n  %p = pred[2,3] compare(%b, %q), direction=EQ", ""},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %p = pred[2,3] compare(%b, %b), direction=EQ", ""},
      {"%k = s32[] get-tuple-element(%t), index=1\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "j<5"},
      {"%k = s32[] get-tuple-element(%t), index=2\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, ""},
      {"%k = s32[] call(%t), to_apply=%second\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "j<5"},
      {"%k = s32[] fusion(%t), calls=%second\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "j<5"},
      {"%d = f32[1] call(%i), to_apply=%slice", "i<6"},
      {"%w = (s32[], s32[]) while(%t), condition=%more, body=%body", "j<6"},
      {"%w = (s32[], s32[]) while(%t), condition=%more, body=%body\n  %k = s32[] get-tuple-element(%w), index=0\n  "
       "%d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "i<5 j<6"},
      {"%c = s32[] conditional(%i, %t, %i), branch_computations={%second, %same}\n  %d = f32[1,1] dynamic-slice(%f, %c, %c)" + slice, "i<5 j<5"},
      {"%c = s32[] conditional(%i, %j, %j), branch_computations={%same, %same}\n  %d = f32[1,1] dynamic-slice(%f, %c, %c)" + slice, "j<5"},
      // Handed on by a barrier, sorted with others, carried from one round of a loop to the next.
      {"%o = (s32[], s32[]) opt-barrier(%t)\n  %k = s32[] get-tuple-element(%o), index=1\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "j<5"},
      {"%o = (s32[3], s32[3]) sort(%n, %n), dimensions={0}, to_apply=%before\n  %k = s32[3] get-tuple-element(%o), index=1\n  "
       "%g = f32[3] gather(%f, %k), offset_dims={}, collapsed_slice_dims={0,1}, index_vector_dim=1, slice_sizes={1,1}, start_index_map={1}", "n<9"},
      {"%w = (s32[], s32[]) while(%t), condition=%more, body=%exchange\n  %k = s32[] get-tuple-element(%w), index=0\n  "
       "%d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "i<5 j<5"},
      // So many rows, and where they begin, are not negative either.
      {"%m = f32[3,9] iota(), iota_dimension=0\n  %q = f32[3,4,2] iota(), iota_dimension=0\n  %y = f32[3,4] iota(), iota_dimension=0\n"
       "  %d = f32[3,2] ragged-dot(%y, %q, %n), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}", "n<8"},
      // Each column of indices is below the extent that it indexes alone, through what becomes of them all.
      {columns + "  " + by_two + "{0,1}", "i<5 j<9"},
      {columns + "  " + by_two + "{1,0}", "i<9 j<5"},
      {columns + "  %s = f32[5,9] scatter(%f, %c, %f), to_apply=%sum, update_window_dims={}, inserted_window_dims={0,1}, index_vector_dim=0, scatter_dims_to_operand_dims={0,1}", "i<5 j<9"},
      {columns + "  %k = s32[1,2] reshape(%c)\n  %m = s32[2,1] transpose(%k), dimensions={1,0}\n  %l = s32[4,1,2] broadcast(%m), dimensions={2,1}\n"
       "  %h = s32[4,2] reshape(%l)\n  %g = f32[4] gather(%f, %h), offset_dims={}, collapsed_slice_dims={0,1}, index_vector_dim=1, slice_sizes={1,1}, start_index_map={0,1}", "i<5 j<9"},
      {columns + "  %k = s32[2] add(%c, %c)\n  %p = pred[2] compare(%k, %c), direction=LT\n  %l = s32[2] select(%p, %k, %c)\n  %d = s32[2] clamp(%l, %l, %l)\n" +
           "  %g = f32[] gather(%f, %d), offset_dims={}, collapsed_slice_dims={0,1}, index_vector_dim=0, slice_sizes={1,1}, start_index_map={0,1}", "i<5 j<9"},
      {columns + "  %k = s32[1] slice(%c), slice={[1:2]}\n  %g = f32[] gather(%f, %k), offset_dims={}, collapsed_slice_dims={0,1}, index_vector_dim=0, slice_sizes={1,1}, start_index_map={0}", "i<5 j<5"},
      {"%a = s32[1] reshape(%i)\n  %b = s32[1] reshape(%j)\n  %k = s32[1] iota(), iota_dimension=0\n  %c = s32[2] concatenate(%k, %b), dimensions={0}\n  " + by_two + "{0,1}", "j<9"},
      {"%z = f32[0,9] constant({ })\n  %d = f32[0,1] dynamic-slice(%z, %i, %j), dynamic_slice_sizes={0,1}", "j<9"},
  };
  for (const auto& [lines, want] : table) EXPECT_EQ(bounds(lines), want) << lines;
}

// What becomes an index behind an operation is drawn for the index to be all that it may be, and of what any
// number becomes one for the operation to matter.
TEST(Bounds, BehindAnOperationAnIndexIsAllThatItMayBe) {
  const auto drawn = [](const std::string& lines, const std::string& type = "s32") {
    const std::string text = "HloModule m\n\nENTRY %e {\n  %f = f32[16,16] parameter(0)\n  %t = " + type + "[] parameter(1)\n"
                             "  %c = " + type + "[] constant(64)\n  %m = " + type + "[] constant(15)\n  %d = " + type + "[] constant(4)\n"
                             "  %z = " + type + "[] constant(0)\n" + lines;
    const Bounds b = bounds_of(parse(text + "  ROOT %r = f32[1,1] dynamic-slice(%f, %k, %z), dynamic_slice_sizes={1,1}\n}\n", "m.txt"))[1];
    EXPECT_TRUE(b.indexes) << lines;
    return std::to_string(b.low) + " to " + std::to_string(b.high);
  };
  const std::pair<const char*, const char*> table[] = {
      {"%k = s32[] copy(%t)\n", "0 to 15"},
      {"%k = s32[] divide(%t, %c)\n", "0 to 1023"},
      {"%k = s32[] shift-right-arithmetic(%t, %d)\n", "0 to 255"},
      {"%k = s32[] shift-right-logical(%t, %d)\n", "0 to 255"},
      {"%k = s32[] shift-right-logical(%d, %t)\n", "0 to 15"},
      {"%k = s32[] remainder(%t, %d)\n", "0 to 1023"},
      {"%k = s32[] remainder(%t, %m)\n", "0 to 1034"},
      {"%k = s32[] and(%t, %m)\n", "0 to 1023"},
      {"%k = s32[] and(%m, %t)\n", "0 to 1023"},
      {"%k = s32[] remainder(%t, %c)\n", "0 to 15"},  // most of what it leaves is none of the rows
      {"%k = s32[] subtract(%t, %d)\n", "0 to 19"},
      {"%k = s32[] subtract(%m, %t)\n", "0 to 15"},
      {"%k = s32[] add(%t, %d)\n", "0 to 15"},
      {"%k = s32[] clamp(%z, %t, %m)\n", "-9 to 24"},
      {"%k = s32[] minimum(%t, %m)\n", "0 to 24"},
      {"%a = s32[] maximum(%z, %t)\n  %k = s32[] minimum(%m, %a)\n", "-14 to 24"},
      {"%a = s32[] divide(%t, %c)\n  %k = s32[] and(%a, %m)\n", "0 to 65535"},
      {"%a = s32[] subtract(%t, %d)\n  %k = s32[] clamp(%z, %a, %m)\n", "-5 to 28"},
      {"%a = s32[] multiply(%t, %d)\n  %k = s32[] and(%a, %m)\n", "0 to 255"},
      // As floor_divide and what is counted from the end are made.
      {"%q = s32[] divide(%t, %c)\n  %a = s32[] subtract(%q, %d)\n  %p = pred[] compare(%t, %z), direction=LT\n  %n = s32[] select(%p, %a, %q)\n"
       "  %o = pred[] compare(%n, %z), direction=LT\n  %e = s32[] add(%n, %m)\n  %k = s32[] select(%o, %e, %n)\n", "0 to 1023"},
      // Of several indices the least reaches furthest; a clipped one as far again.
      {"%q = s32[] divide(%t, %c)\n  %a = f32[1,1] dynamic-slice(%f, %q, %z), dynamic_slice_sizes={1,1}\n  %k = s32[] and(%t, %m)\n", "0 to 1023"},
      {"%q = s32[] divide(%t, %c)\n  %a = f32[1,1] dynamic-slice(%f, %q, %z), dynamic_slice_sizes={1,1}\n  %k = s32[] copy(%t)\n", "0 to 15"},
      {"%a = f32[1,1] dynamic-slice(%f, %t, %z), dynamic_slice_sizes={1,1}\n  %k = s32[] clamp(%z, %t, %m)\n", "0 to 24"},
      {"%a = f32[1,1] dynamic-slice(%f, %t, %z), dynamic_slice_sizes={1,1}\n  %k = s32[] and(%t, %m)\n", "0 to 15"},
      {"%no = f32[] constant(nan)\n  %a = f32[1,1] dynamic-slice(%f, %t, %z), dynamic_slice_sizes={1,1}\n  %k = s32[] clamp(%z, %t, %m)\n", "0 to 15"},
      // What says where in a table of integers stands what indexes is no index into the next.
      {"%w = s32[64] iota(), iota_dimension=0\n  %a = s32[1] dynamic-slice(%w, %t), dynamic_slice_sizes={1}\n  %k = s32[] reshape(%a)\n", "0 to 63"},
  };
  for (const auto& [lines, want] : table) EXPECT_EQ(drawn(std::string("  ") + lines), want) << lines;
  EXPECT_EQ(drawn("  %k = s8[] divide(%t, %c)\n", "s8"), "0 to 127");
  EXPECT_EQ(drawn("  %k = u8[] clamp(%z, %t, %m)\n", "u8"), "0 to 24");
}
// clang-format on

Module module_of(const std::string& shape) {
  return parse(
      "HloModule m\n\nENTRY %e {\n  %f = f32[2] parameter(0)\n  ROOT %x = " + shape + " parameter(1)\n}\n",
      "m.txt");
}

// Sixty computations, each of which calls the one above it twice: nobody goes through 2^60 calls.
TEST(Bounds, CallsWithoutEndAreFollowedSoFar) {
  std::string text = "HloModule m\n\n%f0 (v: s32[]) -> s32[] {\n  ROOT %v = s32[] parameter(0)\n}\n";
  for (int i = 1; i < 60; ++i) {
    const std::string n = std::to_string(i), called = "to_apply=%f" + std::to_string(i - 1) + "\n";
    text += "\n%f" + n + " (v: s32[]) -> s32[] {\n  %v = s32[] parameter(0)\n  %a = s32[] call(%v), " +
            called + "  ROOT %b = s32[] call(%a), " + called + "}\n";
  }
  text += "\nENTRY %e {\n  %x = s32[] parameter(0)\n  ROOT %r = s32[] call(%x), to_apply=%f59\n}\n";
  EXPECT_EQ(bounds_of(parse(text, "m.txt"))[0].high, 7);
}

TEST(Bounds, IntegersThatIndexNothing) {
  EXPECT_EQ(bounds_of(module_of("s8[3]"))[1].low, -8) << "of an array";
  EXPECT_EQ(bounds_of(module_of("s8[3]"))[1].high, 7);
  const std::pair<const char*, std::int64_t> table[] = {
      {"s8[]",   7                          },
      {"s64[]",  7                          },
      {"pred[]", 1                          },
      {"u2[]",   3                          },
      {"u32[]",  4294967295                 },
      {"u64[]",  (std::int64_t{1} << 62) - 1}
  };
  for (const auto& [shape, high] : table) {
    const Bounds b = bounds_of(module_of(shape))[1];
    EXPECT_EQ(b.low, 0) << shape;
    EXPECT_EQ(b.high, high) << shape;
    EXPECT_FALSE(b.indexes) << shape;
  }
}

// Of which numbers a module asks: by their own values, wherever these stand; not of what was computed of
// them.
// So that who knows better says so.
TEST(Bounds, WhatIsDrawnIsSaid) {
  const Module module = parse(
      "HloModule m\n\nENTRY %e {\n  %x = f32[9] parameter(0)\n  %labels = s32[4] parameter(1)\n"
      "  %n = s32[] parameter(2), metadata={op_name=\"batch['step']\"}\n  %k = s32[3] parameter(3)\n  %u = "
      "u8[3] parameter(4)\n"
      "  %c = s32[] constant(-100)\n  %cs = s32[4] broadcast(%c), dimensions={}\n"
      "  %p = pred[4] compare(%labels, %cs), direction=EQ\n  %i = s32[4,1] reshape(%labels)\n"
      "  ROOT %g = f32[4] gather(%x, %i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1}\n}\n",
      "m.txt");
  EXPECT_EQ(integers_drawn(module, bounds_of(module)),
            (std::vector<std::string>{"%labels s32[4] 0 to 8, or -100", "batch['step'] s32[] 0 to 1023",
                                      "%k s32[3] -1024 to 1023"}));
}

TEST(Bounds, WhatIsAsked) {
  const Module module = parse(R"(HloModule m

ENTRY %e {
  %x = s32[4] parameter(0)
  %y = s64[2,2] parameter(1)
  %u = u8[4] parameter(2)
  %f = f32[9,3] parameter(3)
  %pad = s32[] constant(-100)
  %pads = s32[4] broadcast(%pad), dimensions={}
  %m = pred[4] compare(%x, %pads), direction=NE
  %xx = s32[4] add(%x, %x)
  %other = s32[] constant(-200)
  %others = s32[4] broadcast(%other), dimensions={}
  %m1 = pred[4] compare(%xx, %others), direction=EQ
  %small = s32[4] constant({1, 2, 3, 4})
  %m2 = pred[4] compare(%x, %small), direction=EQ
  %w = s64[4] convert(%pads)
  %v = s64[4] reshape(%y)
  %m3 = pred[4] compare(%w, %v), direction=EQ
  %m4 = pred[4] compare(%v, %w), direction=EQ
  %z = s64[] constant(7)
  %zs = s64[4] broadcast(%z), dimensions={}
  %m5 = pred[4] compare(%v, %zs), direction=LT
  %k = u8[] constant(255)
  %ks = u8[4] broadcast(%k), dimensions={}
  %m6 = pred[4] compare(%u, %ks), direction=EQ
  %back = s32[4] reverse(%xx), dimensions={0}
  %m7 = pred[4] compare(%back, %others), direction=EQ
  %before = s32[8] concatenate(%xx, %x), dimensions={0}
  %behind = s32[8] concatenate(%x, %xx), dimensions={0}
  %more = s32[8] broadcast(%other), dimensions={}
  %m8 = pred[8] compare(%before, %more), direction=EQ
  %m9 = pred[8] compare(%behind, %more), direction=EQ
  %i = s32[4,1] reshape(%x)
  ROOT %g = f32[4,3] gather(%f, %i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
}
)",
                              "m.txt");
  const std::vector<Bounds> bounds = bounds_of(module);
  EXPECT_EQ(bounds[0].asked, (Integers{-100})) << "of sums nothing, wherever they are moved";
  EXPECT_EQ(bounds[0].high, 8) << "it indexes as well";
  EXPECT_EQ(bounds[1].asked, (Integers{-100}));
  EXPECT_EQ(bounds[2].asked, (Integers{255}));
  EXPECT_TRUE(bounds[3].asked.empty());
}

}  // namespace
}  // namespace plumb::hlo
