// Every check of the parser, and the character it points at: lines, headers, computations. And what lies just
// within each limit, which is read.
#include "reference/hlo/module/testing/caret.h"

namespace plumb::hlo {
namespace {

// clang-format off
TEST(Caret, Instructions) {
  refused_lines("ROOT ", {
      {"@ = f32[] constant(1)", "expected an instruction"},
      {"%b@: f32[] constant(1)", "expected ' = '"},
      {"%b = f32[]@constant(1)", "expected ' '"},
      {"%b = f32[] @(%a)", "expected an opcode"},
      {"%b = f32[] @foo %a", "expected an opcode"},
      {"%b = f32[] @foo(%a)", "unsupported: opcode foo"},
      {"%b = f32[2,3] add@ (%a, %a)", "expected '('"},
      {"%b = f32[2,3] add(%@, %a)", "expected an operand"},
      {"%b = f32[2,3] add(%a, @%c)", "no instruction %c stands above"},
      {"%b = f32[2,3] add(%a, @%b)", "no instruction %b stands above"},
      {"%b = f32[2,3] add(%a, @c)", "no instruction %c stands above"},
      {"%b = f32[2,3] add(%a, @f32)", "no instruction %f32 stands above"},
      {"%b = f32[2,3] add(f32[2,3] @, %a)", "expected an operand"},
      {"%b = f32[2,3] add(%a, @f32[3,2] %a)", "%a is f32[2,3]"},
      {"%b = f32[2,3] add(%a, @s32[2,3] %a)", "%a is f32[2,3]"},
      {"%b = f32[2,3] add(%a @%a)", "expected ','"},
      {"%b = f32[2,3] add(@/* %a, %a)", "a comment without an end"},
      {"@%b = f32[2,3] add(%a)", "add of 1 operands"},
      {"@%b = f32[2,3] add(%a, %a, %a)", "add of 3 operands"},
      {"@%b = f32[2,3] concatenate(), dimensions={0}", "concatenate of 0 operands"},
      {"@%b = f32[2,3] transpose(%a)", "transpose without dimensions"},
      {"@%b = f32[2,3] reduce(%a, %a), dimensions={0}", "reduce without to_apply"},
      {"%b = f32[2,3] add(%a, %a)@{", "expected the end of the line"},
      {"%b = f32[2,3] add(%a, %a), @=1", "expected an attribute"},
      {"%b = f32[2,3] add(%a, %a), a@.b=1", "expected '='"},
      {"%b = f32[2,3] transpose(%a), dimensions@:{1,0}", "expected '='"},
      {"%b = f32[2,3] transpose(%a), dimensions={1,0}, @dimensions={1,0}", "the attribute stands twice"},
      {"%b = f32[2,3] add(%a, %a), @dimensions={0}", "unsupported: attribute dimensions of add"},
      {"%b = f32[2,3] add(%a, %a), @wings={0}", "unsupported: attribute wings of add"},
      {"@%a = f32[2,3] add(%a, %a)", "two instructions of this name"},
      {"%b = f32[2,3] add(%a, %a)\n  ROOT @%c = f32[2,3] add(%a, %a)", "a second ROOT"},
      {"%b = f32[2,3] parameter(@x)", "expected the number of a parameter"},
      {"%b = f32[2,3] parameter(@99999999999999999999)", "a number out of range"},
      {"%b = f32[2,3] parameter(1@,", "expected ')'"},
      {"@%b = f32[2,3] parameter(2)", "parameters are numbered from 0, each number once"},
      {"@%b = f32[2,3] parameter(0)", "parameters are numbered from 0, each number once"},
      {"@%b = f32[2,3] parameter(-1)", "parameters are numbered from 0, each number once"},
  });
}

TEST(Caret, Headers) {
  const std::string rest = "\n\nENTRY %e () -> f32[] {\n  ROOT %c = f32[] constant(1)\n}\n";
  const Table table = {
      {"@x", "no HLO: a module begins with HloModule"},
      {"HloModule @,", "expected the module's name"},
      {"HloModule m, @=1", "expected an attribute of the module"},
      {"HloModule m, is_scheduled@ ", "expected '='"},
      {"HloModule m @x", "expected a comma or the end of the line"},
      {"HloModule m, num_partitions=@x", "expected a number"},
      {"HloModule m, num_partitions=@0", "expected a number of devices"},
      {"HloModule m, num_partitions=@4194305", "expected a number of devices"},
      {"HloModule m, replica_count=@0", "expected a number of devices"},
      {"HloModule m, buffer_donor={ (0, {}) }, @dynamic={1}", "unsupported: attribute dynamic of the module"},
      {"HloModule m, allow_spmd_sharding_propagation_to_output=@true", "expected '{'"},
      {"HloModule m, allow_spmd_sharding_propagation_to_output={@yes}", "expected true or false"},
      {"HloModule m, allow_spmd_sharding_propagation_to_parameters={true@ false}", "expected ','"},
      {"HloModule m, input_output_alias=@x", "expected '{'"},
      {"HloModule m, input_output_alias={ @0", "expected '{'"},
      {"HloModule m, input_output_alias={ {0}@ (0, {}, may-alias) }", "expected ': ('"},
      {"HloModule m, input_output_alias={ {0}: (@x, {}, may-alias) }", "expected a parameter"},
      {"HloModule m, input_output_alias={ {0}: (0@ {}, may-alias) }", "expected ', '"},
      {"HloModule m, input_output_alias={ {0}: (0, @x, may-alias) }", "expected '{'"},
      {"HloModule m, input_output_alias={ {0}: (0, {}@ may-alias) }", "expected ', '"},
      {"HloModule m, input_output_alias={ {0}: (0, {}, @) }", "expected a kind of alias"},
      {"HloModule m, input_output_alias={ {0}: (0, {}, may-alias@, }", "expected ')'"},
      {"HloModule m, input_output_alias={ {0}: (0, {}, may-alias) @{1}", "expected ','"},
      {"HloModule m, entry_computation_layout=@()", "expected '{'"},
      {"HloModule m, entry_computation_layout={@{", "expected a shape"},
      {"HloModule m, entry_computation_layout={()@=>()}", "expected '->'"},
      {"HloModule m, entry_computation_layout={()->f32[]@ ", "expected '}'"},
      {"HloModule m\n\nFileNames\n@2 \"x\"", "the lines of a table are numbered from 1"},
      {"HloModule m\n\nFileNames\n1 \"x\"\n@3 \"y\"", "the lines of a table are numbered from 1"},
      {"HloModule m\n\nFileNames\n@0 \"x\"", "the lines of a table are numbered from 1"},
      {"HloModule m\n\nFileNames\n1 \"\"\n2 \"\"\n3 \"\"\n4 \"\"\n5 \"\"\n6 \"\"\n7 \"\"\n8 \"\"\n9 \"\"\n10 \"\"\n@12 \"\"",
       "the lines of a table are numbered from 1"},
  };
  for (const auto& [head, want] : table) refused(head + rest, want);
}

TEST(Caret, Computations) {
  const std::string head = "HloModule m\n\n", one = " {\n  ROOT %c = f32[] constant(1)\n}\n";
  const std::string other = "other parameters or another result than its head says";
  const Table table = {
      {"ENTRY %@ ()", "expected a computation"},
      {"ENTRY %e (@: f32[]) -> f32[]" + one, "expected a parameter"},
      {"ENTRY %e (a@ f32[]) -> f32[]" + one, "expected ': '"},
      {"ENTRY %e (a: f32[]@ b: f32[]) -> f32[]" + one, "expected ','"},
      {"ENTRY %e ()@" + one, "expected ' -> '"},
      {"ENTRY %e () -> f32[] @x" + one, "expected '{'"},
      {"ENTRY %e @() -> f32[1]" + one, "the computation has " + other},
      {"ENTRY %e @(a: f32[]) -> f32[]" + one, "the computation has " + other},
      {"ENTRY %e @(a: f32[], b: f32[2]) -> f32[] {\n  %b = f32[] parameter(1)\n  ROOT %a = f32[] parameter(0)\n}\n",
       "the computation has " + other},
      {"ENTRY %e @(a: f32[2], b: f32[]) -> f32[] {\n  %b = f32[] parameter(1)\n  ROOT %a = f32[] parameter(0)\n}\n",
       "the computation has " + other},
      {"ENTRY %e @() -> f32[] {\n  ROOT %a = f32[] parameter(0)\n}\n", "the computation has " + other},
      {"@ENTRY %e () -> f32[] {\n  %c = f32[] constant(1)\n}\n", "a computation without a ROOT"},
      {"ENTRY %e () -> f32[] {\n  ROOT %c = f32[] constant(1)\n  ROOT @%d = f32[] constant(1)\n}\n", "a second ROOT"},
      {"ENTRY %e () -> f32[] {\n  ROOT %c = f32[] constant(1)\n@", "the module is cut off: a computation without an end"},
      {"%e () -> f32[]" + one + "@", "the module is cut off: it has no ENTRY"},
      {"ENTRY %e () -> f32[]" + one + "\n@%e () -> f32[]" + one, "two computations of this name"},
      {"ENTRY %e () -> f32[]" + one + "\n@ENTRY %f () -> f32[]" + one, "a second ENTRY"},
      {"ENTRY %e () -> f32[] {\n  ROOT %c = f32[] constant(1)\n}@, execution_time=\"x\"\n",
       "unsupported: execution_time=\"x\""},
  };
  for (const auto& [text, want] : table) refused(head + text, want);
}
// clang-format on

// What cannot be shown stands as a question mark, and a tabulator as a space; of a long line a window is
// shown.
TEST(Caret, TheLineIsShown) {
  EXPECT_EQ(message("HloModule m ~}\t\x1f\x7f\xc3 !"),
            "m.txt:1:13: expected a comma or the end of the line\n  HloModule m ~} ??? !\n              ^");
  EXPECT_EQ(message("HloModule " + std::string(150, 'm') + " " + std::string(150, 'x')),
            "m.txt:1:162: expected a comma or the end of the line\n  " + std::string(65, 'm') + " " +
                std::string(34, 'x') + "\n  " + std::string(66, ' ') + "^");
}

TEST(Caret, WhatLiesWithinEachLimitIsRead) {
  std::string deep_tuple(64, '('), deep_sharding(63, '{');
  deep_tuple += std::string(64, ')'), deep_sharding += "{replicated}" + std::string(63, '}');
  for (const std::string line : {
           "ROOT %b = f32[281474976710656] parameter(1)",
           "ROOT %b = f32[2,140737488355328] parameter(1)",
           "ROOT %b = f32[0,281474976710656] parameter(1)",
           "ROOT %b = f32[2,3]{0,1} parameter(1)",
           "ROOT %b = f32[2,3] parameter( 1 )",
           "ROOT %b = f32[2,3] add(%a, %a), origin=[a,b], control-predecessors=(a,b)",
           "ROOT %b = s32[2]{0} constant(\n { 1,\n 2 }\n )",
           "ROOT %b = pred[] constant(1)",
           "ROOT %b = s2[] constant(-2)",
           "ROOT %b = s2[] constant(1)",
           "ROOT %b = s8[] constant(127)",
           "ROOT %b = s8[] constant(-128)",
           "ROOT %b = u8[] constant(255)",
           "ROOT %b = u32[] constant(4294967295)",
           "ROOT %b = s64[] constant(-9223372036854775808)",
           "ROOT %b = f32[2,3] add( /* x */ f32[2,3]{0,1} %a ,\t%a ), origin={(\"}\")}, metadata={ }  ",
           "ROOT %b = f32[2,3] reduce-window(%a, %a), window={size=0x1 stride=1x1}, to_apply=%f",
           "ROOT %b = f32[2,3] add(%a, %a), sharding={devices=[4194304]<=[4194304]}",
           "ROOT %b = f32[2,3] add(%a, %a), sharding={devices=[2]<=[2] last_tile_dims={manual}}",
           "ROOT %b = f32[2,3] add(%a, %a), sharding={mesh['x'=4], [{'x':(2)2}, {'x':(1)2}]}",
           "ROOT %b = f32[2,3] add(%a, %a), sharding={mesh['x'=8], [{'x':(4)2}, {'x':(1)2}, {'x':(2)2}]}",
           "ROOT %b = f32[2,3] add(%a, %a), sharding={mesh['x'=4194304], [{'x'}]}",
           "ROOT %b = f32[2,3] all-reduce(%a), to_apply=%f, replica_groups=mesh['x'=4] {'x':(4)1}",
           "ROOT %b = f32[2,3] all-reduce(%a), to_apply=%f, replica_groups=[2,1]1,0",
       })
    EXPECT_EQ(message(with(line)), "no error") << line;
  EXPECT_EQ(message(with("ROOT %b = " + deep_tuple + " parameter(1)")), "no error");
  EXPECT_EQ(message(with("ROOT %b = f32[2,3] add(%a, %a), sharding=" + deep_sharding)), "no error");
}

}  // namespace
}  // namespace plumb::hlo
