// Which modules belong together, and how their results and parameters are laid out: small pairs by hand.
#include "reference/hlo/prove/testing/verdicts.h"

namespace plumb::hlo {
namespace {

const std::string kRows = "sharding={{devices=[2,1]<=[2]}, {replicated}}";

TEST(Belong, WhatBelongsTogether) {
  const Edits four =
                  {
                      {"num_partitions=2", "num_partitions=4"}
  },
              replicas = {{"num_partitions=2", "num_partitions=2, replica_count=2"}};
  const Edits another =
                  {
                      {"  ROOT", "  %z = f32[] parameter(3)\n  ROOT"}
  },
              one = {{"(f32[2,3], f32[3]) tuple(%r0, %y)", "(f32[2,3]) tuple(%r0)"}};
  const Edits wide = {
      {"f32[2,3] parameter", "f32[4,3] parameter"                      },
      {"f32[2,3] copy(%x)",  "f32[2,3] slice(%x), slice={[0:2], [0:3]}"}
  };
  const Edits whole = {
      {"f32[2,3] copy(%x)",        "f32[3] copy(%y)"       },
      {"(f32[2,3], f32[3]) tuple", "(f32[3], f32[3]) tuple"}
  };
  const Edits alone_before = {
      {", num_partitions=2",   ""            },
      {"{devices=[2,1]<=[2]}", "{replicated}"},
      {"{devices=[2,1]<=[2]}", "{replicated}"},
      {"{devices=[2,1]<=[2]}", "{replicated}"}
  };
  const Edits alone_after = {
      {", num_partitions=2", ""          },
      {"f32[2,3] p",         "f32[4,3] p"},
      {"f32[2,3] c",         "f32[4,3] c"},
      {"(f32[2,3]",          "(f32[4,3]" }
  };
  const Edits manual =
                  {
                      {"sharding={replicated}", "sharding={manual}"}
  },
              manual_result = {{"{replicated}}", "{manual}}"}};
  const Edits nothing =
                  {
                      {", " + kRows, ""}
  },
              first_only = {{kRows, "sharding={{devices=[2,1]<=[2]}}"}};
  const Edits token = {
      {"  ROOT",                            "  %k = token[] after-all()\n  ROOT"},
      {"(f32[4,3], f32[3]) tuple(%r0, %y)", "(f32[4,3], token[]) tuple(%r0, %k)"}
  };
  EXPECT_EQ(told({}, {}), "proven");
  EXPECT_EQ(told({}, four), "not the same program: 2 partitions before, 4 after");
  EXPECT_EQ(told({}, another), "not the same program: 3 parameters before, 4 after");
  EXPECT_EQ(told({}, one), "not the same program: 2 results before, 1 after");
  EXPECT_EQ(told({}, wide), "a device holds f32[2,3] of parameter 0, this module has f32[4,3]");
  EXPECT_EQ(told({}, whole), "a device holds f32[2,3] of result 0, this module has f32[3]");
  EXPECT_EQ(told(alone_before, {}), "not the same program: 1 partition before, 2 after");
  EXPECT_EQ(told(alone_before, alone_after), "one partition: nothing was partitioned");
  const Edits unpartitioned = {
      {", num_partitions=2", ""}
  };
  EXPECT_EQ(told(unpartitioned, unpartitioned), "one partition: nothing was partitioned")
      << "whatever its layouts";
  EXPECT_EQ(told(replicas, {}), "unsupported: more replicas than one");
  EXPECT_EQ(told({}, replicas), "unsupported: more replicas than one");
  EXPECT_EQ(told(manual, {}), "unsupported: a result or parameter laid out as {manual}");
  EXPECT_EQ(told(manual_result, {}), "unsupported: a result or parameter laid out as {manual}");
  EXPECT_EQ(told(token, {}), "unsupported: a result that is no array");
  EXPECT_EQ(told(nothing, {}).substr(0, 29), "result 0 has no layout here; ");
  EXPECT_EQ(told(nothing, another), "not the same program: 3 parameters before, 4 after")
      << "before a layout is asked";
  const Edits laid_out = {
      {"f32[3]) tuple(%r0, %y)", "f32[3]) tuple(%r0, %y), " + kRows}
  };
  EXPECT_EQ(told(nothing, laid_out), "nothing is laid out here, but in AFTER: the two modules are exchanged");
  EXPECT_EQ(told({}, laid_out), "proven");
  EXPECT_EQ(told(first_only, {}).substr(0, 29), "result 1 has no layout here; ");
  const Edits none;
  EXPECT_EQ(told(nothing, {}, &none), "proven");
  EXPECT_TRUE(proof(nothing, {}, &none).as_propagated);
  EXPECT_FALSE(proof({}, {}, &none).as_propagated);
  EXPECT_EQ(told(nothing, {}, &nothing), "result 0 has no layout, neither here nor after propagation");
  // What is replicated has none after propagation, and each device holds all of it: y is, after both.
  const Edits all_of_it = {
      {"f32[2,3] copy(%x)",         "f32[3] copy(%y)"        },
      {"(f32[2,3], f32[3]) tuple(", "(f32[3], f32[3]) tuple("}
  };
  const Edits replicated = {
      {"f32[4,3] copy(%x)",         "f32[3] copy(%y)"        },
      {"(f32[4,3], f32[3]) tuple(", "(f32[3], f32[3]) tuple("},
      {", " + kRows,                ""                       }
  };
  EXPECT_EQ(told(replicated, all_of_it, &replicated), "proven");
  EXPECT_EQ(told(replicated, all_of_it).substr(0, 29), "result 0 has no layout here; ");
  EXPECT_EQ(told(first_only, {}, &none), "proven");
}

// What is wrong of a module as a whole has no place in it.
TEST(Belong, WhatIsWrongOfAWholeModuleTakesOneLine) {
  const Edits wrong[] = {{{"num_partitions=2", "num_partitions=4"}},
                         {{"num_partitions=2", "num_partitions=2, replica_count=2"}},
                         {{"  ROOT", "  %z = f32[] parameter(3)\n  ROOT"}},
                         {{"(f32[2,3], f32[3]) tuple(%r0, %y)", "(f32[2,3]) tuple(%r0)"}}};
  for (const Edits& after : wrong) try {
      proof({}, after);
      FAIL() << after[0].second;
    } catch (const BadModule& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
}

// What cannot be run is said before anything is: all of it, with counts, of all that the entry reaches.
TEST(Belong, WhatCannotBeRun) {
  const Edits calls = {
      {"ENTRY %e {",
       "%f (p: f32[3]) -> f32[3] {\n  %p = f32[3] parameter(0)\n  ROOT %c = f32[3] custom-call(%p), "
       "custom_call_target=\"__cublas$gemm\"\n}\n\n"
       "%g (q: f32[3]) -> f32[3] {\n  %q = f32[3] parameter(0)\n  ROOT %d = f32[3] custom-call(%q), "
       "custom_call_target=\"nobody\"\n}\n\nENTRY %e {"                        },
      {"  ROOT %t",
       "  %a = f32[3] call(%y), to_apply=%f\n"
       "  %b = f32[3] custom-call(%a), custom_call_target=\"__cublas$gemm\"\n"
       "  %h = f32[3] custom-call(%a), custom_call_target=\"Sharding\", sharding={replicated}\n"
       "  %s = f32[3] custom-call(%a), custom_call_target=\"cufft\"\n  ROOT %t"}
  };
  const std::string all = "unsupported: custom-call __cublas$gemm (2 times), custom-call cufft";
  EXPECT_EQ(told(calls, {}), all);
  EXPECT_EQ(told({}, calls), all);
  const Edits prints = {
      {"  ROOT %t", "  %u = () custom-call(%y), custom_call_target=\"prints\"\n  ROOT %t"}
  };
  EXPECT_EQ(told(prints, {}), "proven") << "of a call that gives nothing nothing is computed";
  EXPECT_EQ(told(prints, prints), "proven");
}

// A result that is free is laid out as the partitioner chose, whatever stands there.
TEST(Belong, FreeResults) {
  const std::string head = "num_partitions=2";
  const Edits free =
                  {
                      {head, "allow_spmd_sharding_propagation_to_output={true,false}, " + head}
  },
              other = {{head, "allow_spmd_sharding_propagation_to_output={false,true}, " + head}};
  const Edits columns = {
      {kRows, "sharding={{devices=[1,2]<=[2]}, {replicated}}"}
  };
  const Edits none;
  EXPECT_EQ(told(free, {}, &none), "proven");
  EXPECT_EQ(told(free, {}, &columns), "a device holds f32[4,2] of result 0, this module has f32[2,3]");
  EXPECT_EQ(told(other, {}, &columns), "proven");
  EXPECT_EQ(told(free, {}), "proven");
}

TEST(Belong, ParametersWithoutALayoutAreAsTheyAreHeld) {
  const Edits unsaid =
                  {
                      {", sharding={devices=[2,1]<=[2]}", ""}
  },
              held = {{"parameter(0)", "parameter(0), sharding={devices=[2,1]<=[2]}"}};
  EXPECT_EQ(told(unsaid, held), "proven");
  EXPECT_EQ(told(unsaid, {}), "a device holds f32[4,3] of parameter 0, this module has f32[2,3]");
  const Edits none, columns = {
                        {"sharding={devices=[2,1]<=[2]}", "sharding={devices=[1,2]<=[2]}"}
  };
  EXPECT_EQ(told(unsaid, {}, &none), "proven");  // as propagated
  EXPECT_EQ(told(unsaid, {}, &unsaid), "a device holds f32[4,3] of parameter 0, this module has f32[2,3]");
  EXPECT_EQ(told(unsaid, held, &columns), "proven");  // AFTER's own comes first
  EXPECT_EQ(told(
                {
                    {"parameter(1), sharding={replicated}", "parameter(1)"}
  },
                {}),
            "proven");
}

// Those of BEFORE stay; others are of parameters that are given away, of as many bits, each once.
TEST(Belong, Aliases) {
  const auto with = [](const std::string& what) {
    return Edits{
        {"num_partitions=2", what + ", num_partitions=2"}
    };
  };
  const auto alias = [&](const std::string& list) { return with("input_output_alias={ " + list + " }"); };
  const Edits first = alias("{0}: (0, {}, may-alias)"),
              both = alias("{0}: (0, {}, may-alias), {1}: (1, {}, may-alias)"),
              given = with("buffer_donor={ (0, {}), (1, {}) }"),
              second_given = with("buffer_donor={ (1, {}) }");
  EXPECT_EQ(told(first, first), "proven");
  EXPECT_EQ(told(given, first), "proven") << "memory that is taken over as well";
  EXPECT_EQ(told(given, both), "proven");
  EXPECT_EQ(told(given, {}), "proven");
  EXPECT_EQ(told(second_given, first),
            "refuted: result {0} in the memory of parameter 0, which nobody gives away");
  EXPECT_EQ(told(first, both), "refuted: result {1} in the memory of parameter 1, which nobody gives away");
  EXPECT_EQ(told(first, {}), "refuted: no longer result {0} in the memory of parameter 0");
  EXPECT_EQ(told(both, first), "refuted: no longer result {1} in the memory of parameter 1");
  const Edits must = alias("{0}: (0, {}, must-alias)");
  EXPECT_EQ(told(must, must), "proven");
  EXPECT_EQ(told(first, must), "proven") << "it may be, and is";
  EXPECT_EQ(told(must, first),
            "refuted: result {0} in the memory of parameter 0, where it must be and now only may");
  EXPECT_EQ(told(must, {}), "refuted: no longer result {0} in the memory of parameter 0");
  EXPECT_EQ(told(first, alias("{0}: (0, {}, may-alias), {0}: (0, {}, must-alias)")),
            "refuted: result {0} in the memory of parameter 0, one of both twice");
  EXPECT_EQ(told(given, alias("{1}: (0, {}, may-alias)")),
            "refuted: result {1} in the memory of parameter 0, of another size");
  EXPECT_EQ(told(given, alias("{0}: (0, {}, may-alias), {0}: (0, {}, must-alias)")),
            "refuted: result {0} in the memory of parameter 0, one of both twice");
  for (const char* wrong : {"{1}: (2, {}, may-alias)", "{1}: (3, {}, may-alias)", "{1}: (-1, {}, may-alias)",
                            "{2}: (1, {}, may-alias)", "{-1}: (1, {}, may-alias)", "{1}: (1, {0}, may-alias)",
                            "{}: (1, {}, may-alias)"})
    EXPECT_NE(told(given, alias(wrong)).find(", of another size"), std::string::npos) << wrong;
}

}  // namespace
}  // namespace plumb::hlo
