#include "reference/words/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "reference/words/testing/refused.h"

namespace plumb {
namespace {

TEST(Text, CanonicalLinesPrintAsTheyWereRead) {
  for (const char* line : {
           "on x=2: reshard f32[8@x] -> f32[8]",
           "on x=1: reshard f32[] -> f32[]",
           "on x=2: reshard s8[0@x,3] -> s8[0,3@x]",
           "on dp=2,fsdp=256,sp=2,tp=4: reshard f32[1024,64@tp]+dp.fsdp.sp -> f32[1024@fsdp.sp,64@tp]",
           "on x=2,y=2,z=2: einsum mk,kn->mn f32[8@x.z,4@y] f32[4@x,8] -> f32[8@x,8@z.y]",
           "on dp=2,sp=2: einsum bsh,bsf->hf bf16[4@dp,2@sp,8] bf16[4@dp,2@sp,8] -> f32[8,8]+sp.dp -> "
           "f32[8@sp,8]",
           "on x=2: einsum i,i-> f32[8@x] f32[8@x] -> f32[]",
           "on ep=2,fsdp=2: grouped fwd bf16[256@ep.fsdp,64] bf16[4@ep,64@fsdp,32] sizes=70,58,0,128 -> "
           "bf16[256@ep.fsdp,32]",
           "on ep=2: grouped wgrad bf16[8@ep,4] bf16[8@ep,6] sizes=1,2/0,4 -> f32[2,4,6]+ep",
           "on ep=2: grouped dgrad bf16[8@ep,6] bf16[2,4,6] sizes=1,2 -> bf16[8,4]",
           "on x=2: quantize fp8 bf16[64@x,96] -> f8e4m3[64@x,96] f32[]",
           "on x=2: quantize fp8e5 bf16[4@x,64,32] -> f8e5m2[4@x,64,32] f32[4@x]",
           "on x=2: quantize fp8 f32[64@x,96] sizes=40,0,24 -> f8e4m3[64,96@x] f32[3]",
           "on x=2: quantize fp8 bf16[64@x] f32[16] f32[] -> f8e4m3[64] f32[] f32[16] f32[]",
           "on x=2: quantize mxfp8 bf16[64,96@x] -> f8e4m3[64@x,96] e8m0[64@x,3] seed=2",
           "on x=2: quantize mxfp8 bf16[64,96@x] -> f8e4m3[64,96@x] e8m0[2,96@x] nested fill=normal",
           "on x=2: quantize mxfp8e5 f16[130@x,8] sizes=48,0/33,32 -> f8e5m2[130@x,8] e8m0[5,8]",
           "on x=2: einsum mk,kn->mn bf16[8,64@x]~mxfp8 bf16[64@x,8]~fp8e5 -> f32[8,8]+x -> f32[8,8]",
           "on ep=2: grouped wgrad bf16[64@ep,4]~mxfp8 bf16[64@ep,6] sizes=48,16 -> f32[2,4,6]",
           "on a=2,b=2: reshard f32[5@a.b] -> f32[5] nested",
           "on x=2: einsum mk,kn->mn f32[8@x,4] f32[4,8] -> f32[8@x,8] -> f32[8,8]?",
           "on x=2: reshard f32[]+x -> f32[]? seed=1",
           "on dp=2,pp=3,tp=2: reshard f32[8]+avg(dp.pp)+tp -> f32[8@tp]+avg(pp) -> f32[8]",
           "on dp=2,pp=3,tp=2: reshard bf16[8]+dp+avg(pp)+tp -> bf16[8]",
           "on avg=2,max=2,min=2: reshard s8[8]+max(max.avg) -> s8[8]+max(avg) -> s8[8]+min(max)",
           "on avg=2,max=2: reshard f32[8]+max.avg -> f32[8]",
           "on tp=2,dp=2 of dp=2,pp=2,tp=2: reshard f32[8@dp]+tp -> f32[8@tp.dp]",
           "on tp=2 of dp=2,tp=2 ids=3,1,0,2: einsum mk,kn->mn f32[8,4@tp] f32[4@tp,8] -> f32[8,8]?",
           "on x=2,y=2 ids=3,1,0,2: reshard f32[8@x] -> f32[8@y]",
           "on x=2: reshard bf16[8]+x -> bf16[8@x] nested acc=bf16 wire=f32 fill=normal "
           "seed=18446744073709551615",
       }) {
    EXPECT_EQ(print(parse_case(line)), line);
  }
}

TEST(Text, DefaultsAreNotPrinted) {
  const struct {
    const char *line, *canonical;
  } rows[] = {
      {"on x=2,y=2 ids=0,1,2,3: reshard f32[8@x] -> f32[8]",                         "on x=2,y=2: reshard f32[8@x] -> f32[8]"},
      {"  on  x=2:  reshard  f32[8@x]  ->  f32[8]  ",                                "on x=2: reshard f32[8@x] -> f32[8]"    },
      {"on x=2: reshard f32[8@x] -> f32[8] acc=f32 wire=f32 fill=provenance seed=0",
       "on x=2: reshard f32[8@x] -> f32[8] seed=0"                                                                           },
      {"on x=2: einsum mk,kn->mn s8[2,2] s8[2,2] -> s32[2,2] acc=s32 fill=cancel",
       "on x=2: einsum mk,kn->mn s8[2,2] s8[2,2] -> s32[2,2]"                                                                },
      {"on x=2,y=2,z=2: reshard f32[8]+x+y+avg(z) -> f32[8]",
       "on x=2,y=2,z=2: reshard f32[8]+x.y+avg(z) -> f32[8]"                                                                 },
      {"on x=2,y=2 of x=2,y=2 ids=3,2,1,0: reshard f32[8@x] -> f32[8]",
       "on x=2,y=2 ids=3,2,1,0: reshard f32[8@x] -> f32[8]"                                                                  },
      {"on x=2: reshard f64[8]+x -> f64[8] acc=f64",                                 "on x=2: reshard f64[8]+x -> f64[8]"    },
  };
  for (const auto& row : rows) {
    EXPECT_EQ(print(parse_case(row.line)), row.canonical);
    EXPECT_EQ(parse_case(print(parse_case(row.line))), parse_case(row.line));
  }
}

TEST(Text, ALineThatSaysNoSeedHasTheHashOfItself) {
  const Case c = parse_case("on  x=2: reshard f32[8@x] -> f32[8] acc=f32");
  EXPECT_EQ(data_seed(c),
            4083273703031758189u);  // FNV-1a of "on x=2: reshard f32[8@x] -> f32[8]", computed elsewhere
  EXPECT_EQ(print(c), "on x=2: reshard f32[8@x] -> f32[8]");
  EXPECT_EQ(print(seeded(c)), "on x=2: reshard f32[8@x] -> f32[8] seed=4083273703031758189");
  EXPECT_EQ(data_seed(parse_case("on x=2: reshard f32[8@x] -> f32[8] seed=0")), 0u);
  EXPECT_EQ(seeded(seeded(c)), seeded(c));
}

TEST(Text, ABadLineGivesOneMessageWithACaretAtTheCharacter) {
  const struct {
    const char *line, *message;
    std::size_t caret;
  } rows[] = {
      {"",                                                                "expected 'on '",                                         0 },
      {"on",                                                              "expected 'on '",                                         0 },
      {"on : reshard f32[8] -> f32[8]",                                   "expected the name of an axis",                           3 },
      {"on x=0: reshard f32[8] -> f32[8]",                                "an axis has at least one device",                        5 },
      {"on x=2,x=2: reshard f32[8] -> f32[8]",                            "the mesh has an axis 'x' already",                       7 },
      {"on x=99999999999999999999: reshard f32[8] -> f32[8]",             "this number is too large",                               5 },
      {"on x=65536,y=65536: reshard f32[8] -> f32[8]",                    "the mesh would have more than 16777216 devices",         3 },
      {"on x=2 ids=0,0: reshard f32[8] -> f32[8]",                        "device 0 stands twice",                                  13},
      {"on x=2 ids=0,2: reshard f32[8] -> f32[8]",                        "the mesh has devices 0 to 1",                            13},
      {"on x=2 ids=0: reshard f32[8] -> f32[8]",                          "expected ',' and the ids of all 2 devices",              12},
      {"on x=2: reshrd f32[8] -> f32[8]",                                 "expected reshard, einsum, grouped, quantize or resolve", 8 },
      {"on x=2: reshard f31[8] -> f32[8]",                                "expected a dtype",                                       16},
      {"on x=2: reshard f32[8@z] -> f32[8]",                              "the mesh has no axis 'z', only x",                       22},
      {"on x=2: reshard f32[8@x]+x -> f32[8]",                            "axis 'x' stands twice in this spec",                     25},
      {"on x=2: reshard f32[8@] -> f32[8]",                               "expected an axis of the mesh (x)",                       22},
      {"on x=2,y=2: reshard f32[8@] -> f32[8]",                           "expected an axis of the mesh (x, y)",                    26},
      {"on x=2: reshard f32[8 -> f32[8]",                                 "expected ',', '@' or ']'",                               21},
      {"on x=2: reshard f32[4611686018427387904] -> f32[8]",              "this array would hold more than 2^62 bytes",
       16                                                                                                                             },
      {"on x=2: reshard f32[8]? -> f32[8]",                               "only the result leaves its layout to the backend",       22},
      {"on x=2: reshard f32[8@x]? -> f32[8]",                             "only the result leaves its layout to the backend",       24},
      {"on x=2: reshard f32[8] -> f32[8]? -> f32[8]",                     "only the result leaves its layout to the backend",       32},
      {"on x=2: reshard f32[8] -> f32[8@x]?",                             "a free layout names no axes",                            34},
      {"on x=2: reshard f32[8] -> f32[8]?+x",                             "expected a space",                                       33},
      {"on x=2: reshard f32[8] -> f32[8]+x?",                             "expected a space",                                       34},
      {"on x=2,y=2: reshard f32[8]+max(x)+y -> f32[8]",                   "max and min stand alone",                                34},
      {"on x=2,y=2: reshard f32[8]+x+min(y) -> f32[8]",                   "max and min stand alone",                                29},
      {"on x=2,y=2: reshard f32[8]+max(x -> f32[8]",                      "expected ')'",                                           32},
      {"on x=2,y=2: reshard f32[8]+avg(x)+x -> f32[8]",                   "axis 'x' stands twice in this spec",                     34},
      {"on x=2: reshard s32[8]+avg(x) -> s32[8]",                         "integers do not average",                                22},
      {"on x=2: reshard f32[8]+max(x) -> f32[8]+x",                       "an axis that stays unfinished keeps its reduction",      39},
      {"on x=2: reshard f32[8]+avg(x) -> f32[8]+x",                       "an axis that stays unfinished keeps its reduction",      39},
      {"on x=2: reshard f32[8]+max(x) -> f32[8] fill=normal",             "max and min do not round: use cancel",                   45},
      {"on x=2: einsum mk,kn->mn f32[2,2]+avg(x) f32[2,2] -> f32[2,2]",
       "avg, max and min are for reshards: a product is a sum",                                                                     33},
      {"on y=2 of x=2: reshard f32[8] -> f32[8]",                         "the mesh after 'of' has no axis y=2",                    7 },
      {"on x=4 of x=2,y=2: reshard f32[8] -> f32[8]",                     "the mesh after 'of' has no axis x=4",                    7 },
      {"on x=2 of x=2,y=2: reshard f32[8@y] -> f32[8]",                   "the mesh has no axis 'y', only x",                       33},
      {"on x=2 ids=1,0 of x=2,y=2: reshard f32[8@y] -> f32[8]",           "expected ':'",                                           14},
      {"on x=2: reshard f32[8]",                                          "expected '->' and the result",                           22},
      {"on x=2: reshard f32[8] -> f32[9]",                                "a reshard keeps its shape",                              30},
      {"on x=2: reshard f32[8] -> f16[8]",                                "a reshard keeps its dtype",                              26},
      {"on x=2: reshard f32[8] -> f32[8] seed=1 fill=normal",
       "the order is nested acc= wire= fill= seed=",                                                                                40},
      {"on x=2: reshard f32[8] -> f32[8] seed=1 seed=1",
       "the order is nested acc= wire= fill= seed=, each once",                                                                     40},
      {"on x=2: reshard f32[8] -> f32[8] nested nested",
       "the order is nested acc= wire= fill= seed=, each once",                                                                     40},
      {"on x=2: reshard f32[8] -> f32[8] fill=odd",                       "expected provenance, cancel, normal or scaled",          38},
      {"on x=2: reshard f32[8]+x -> f32[8] fill=provenance",              "provenance is for data that nothing adds",               40},
      {"on x=2: reshard f32[8@x] -> f32[8] fill=cancel",                  "cancel is for data that are added",                      40},
      {"on x=2: reshard s32[8]+x -> s32[8] fill=normal",                  "integers do not round: use cancel",                      40},
      {"on x=2: reshard e8m0[8]+x -> e8m0[8]",                            "e8m0 holds scales: it can be moved, not summed",         23},
      {"on x=2: einsum mm,kn->mn f32[2,2] f32[2,2] -> f32[2,2]",          "letter 'm' stands twice here",                           16},
      {"on x=2: einsum mk,kn->mq f32[2,2] f32[2,2] -> f32[2,2]",          "letter 'q' stands in no operand",                        23},
      {"on x=2: einsum mk,n->mn f32[2,2] f32[2] -> f32[2,2]",             "letter 'k' stands in one operand alone",                 16},
      {"on x=2: einsum mk,kn->mn f32[2,2] f32[3,2] -> f32[2,2]",          "dimension 'k' has size 2 before",                        38},
      {"on x=2: einsum mk,kn->mn f32[2] f32[3,2] -> f32[2,2]",            "expected 2 dimensions for 'mk'",                         25},
      {"on x=2: einsum mk,kn->mn s8[2,2] f32[2,2] -> f32[2,2]",           "integers and floating point do not mix",                 33},
      {"on x=2: einsum mk,kn->mn s8[2,2] s8[2,2] -> s32[2,2] acc=f32",    "integers accumulate in s32",                             57},
      {"on x=2: grouped up f32[2,2] f32[1,2,2] sizes=2 -> f32[2,2]",      "expected fwd, dgrad or wgrad",                           16},
      {"on x=2: grouped fwd f32[2,2] f32[1,2,2] sizes=1,1 -> f32[2,2]",
       "expected the sizes of 1 groups, got 2",                                                                                     46},
      {"on x=2: grouped fwd f32[2,2] f32[1,2,2] sizes=3 -> f32[2,2]",     "the groups have more rows than the 2",
       46                                                                                                                             },
      {"on x=2: grouped fwd f32[3,2] f32[1,2,2] sizes=1/1 -> f32[3,2]",   "3 rows do not make 2 equal blocks",
       46                                                                                                                             },
      {"on x=2: grouped wgrad f32[2,2] f32[2,2] sizes=1,1 -> f32[3,2,2]", "sizes= names 2 groups",                                  57},
  };
  for (const auto& row : rows) expect_refused(row.line, row.message, row.caret);
}

// Whether `word` of a sum of an array of `dtype` may name each format; what a refusal says, at the name.
void expect_formats(const std::string& dtype, const std::string& word,
                    const std::function<std::string(const Format&)>& refusal) {
  for (const Format& f : formats()) {
    const std::string line = fmt::format("on x=2: reshard {0}[8]+x -> {0}[8] {1}={2}", dtype, word, f.name);
    if (const std::string message = refusal(f); !message.empty())
      expect_refused(line, message, line.rfind('=') + 1);
    else
      EXPECT_NO_THROW(parse_case(line)) << line;
  }
}

// Law: where an op is called as others call it, the message has a line that is read, and does that.
TEST(Text, OpsByOtherNamesAreSaidAsTheyAreWritten) {
  const std::pair<const char*, std::vector<const char*>> table[] = {
      {"reshard f32[8@x] -> f32[8]",                         {"all-gather", "all_gather", "allgather"}                            },
      {"reshard f32[8]+x -> f32[8]",                         {"all-reduce", "all_reduce", "allreduce", "psum"}                    },
      {"reshard f32[8]+x -> f32[8@x]",                       {"reduce-scatter", "reduce_scatter", "reducescatter", "psum_scatter"}},
      {"reshard f32[8@x,8] -> f32[8,8@x]",                   {"all-to-all", "all_to_all", "alltoall"}                             },
      {"einsum mk,kn->mn f32[8,8@x] f32[8@x,8] -> f32[8,8]", {"matmul", "dot", "gemm"}                                            },
  };
  for (const auto& [line, names] : table) {
    EXPECT_EQ(print(parse_case("on x=4: " + std::string(line))), "on x=4: " + std::string(line));
    for (const std::string name : names) try {
        parse_case("on x=4: " + name + " f32[8] -> f32[8]");
        ADD_FAILURE() << name;
      } catch (const BadInput& error) {
        EXPECT_NE(std::string(error.what()).find(" is " + std::string(line)), std::string::npos)
            << error.what();
      }
  }
}

TEST(Text, SumsAreAccumulatedAndSentInWhatHoldsThem) {
  expect_formats("f32", "acc", [](const Format& f) {
    return f.integer || f.bytes == 1 ? "expected an accumulate type: f16, bf16, f32 or f64" : "";
  });
  expect_formats("s8", "acc",
                 [](const Format& f) { return f.name != "s32" ? "integers accumulate in s32" : ""; });
  const auto sent = [](bool integers) {
    return [=](const Format& f) {
      if (f.name == "e8m0") return "e8m0 holds scales: it can be moved, not summed";
      return f.integer != integers ? "integers and floating point do not mix" : "";
    };
  };
  expect_formats("f32", "wire", sent(false));
  expect_formats("s8", "wire", sent(true));
}

TEST(Text, AnArrayWithItsPartsHoldsAtMost2To62Bytes) {
  const auto read = [](const std::string& spec) {
    return parse_case("on x=2: reshard " + spec + " -> " + spec);
  };
  EXPECT_EQ(elements(read("s8[4611686018427387904]").op.operands[0]), std::int64_t{1} << 62);
  EXPECT_EQ(elements(read("s8[2305843009213693952]+x").op.operands[0]), std::int64_t{1} << 61);
  EXPECT_THROW(read("s8[4611686018427387905]"), BadInput);
  EXPECT_THROW(read("s8[2305843009213693953]+x"), BadInput);
  EXPECT_THROW(read("s32[1152921504606846977]"), BadInput);
}

TEST(Text, WhatATerminalWouldActOnIsShownAsASpace) {
  EXPECT_EQ(printable(std::string_view("a\x1b[2Jb\tc\nd\x7f")), "a [2Jb c\nd ");
  EXPECT_EQ(printable(std::string_view("\xc2\x9b"
                                       "2J \xe2\x80\xaex \xe2\x81\xa6y")),
            " 2J  x  y");
  const std::string plain = "\xc3\xa9 \xe2\x82\xac \xe2\x80\x93";
  EXPECT_EQ(printable(std::string_view(plain)), plain);
}

// The first and the last of each range that a terminal acts on, and their neighbours, which it shows.
TEST(Text, TheRangesOfWhatATerminalActsOn) {
  for (const char* acted :
       {"\xc2\x80", "\xc2\x9f", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"})
    EXPECT_EQ(printable(std::string_view(acted)), " ");
  for (const char* shown : {"\xc2\xa0", "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\xa5", "\xe2\x81\xaa",
                            "\xe2\x82\xa7", "\xe2\x82\xab", "\xc3\x85"})
    EXPECT_EQ(printable(std::string_view(shown)), shown);
}

// Shown from 60 bytes before the place, or from the letter that these would cut in two.
TEST(Text, ALongLineIsShownFromAWholeLetter) {
  std::string line;
  for (int n = 0; n < 20; ++n) line += "\xc3\xa9";
  line += std::string(200, 'a');
  for (std::size_t at : {64, 65}) {
    const std::string said = bad_input("no", line, at).what();
    EXPECT_EQ(said.substr(0, 10), "no\n  ...\xc3\xa9") << at;
    EXPECT_EQ(said.substr(said.rfind('\n')), "\n     " + std::string(18 + at - 40, ' ') + "^") << at;
  }
}

TEST(Text, MeshesAndSpecsReadAlone) {
  const Mesh mesh = parse_mesh("dp=2,tp=4 ids=7,6,5,4,3,2,1,0");
  EXPECT_EQ(print(mesh), "dp=2,tp=4 ids=7,6,5,4,3,2,1,0");
  EXPECT_EQ(print(mesh, parse_spec("bf16[512@tp.dp,64]", mesh)), "bf16[512@tp.dp,64]");
  EXPECT_THROW(parse_spec("bf16[512@tp.dp,64] ", mesh), BadInput);
}

TEST(Text, AMeshHasAtMost64Axes) {
  const auto mesh = [](int axes) {
    std::string text = "a0=1";
    for (int i = 1; i < axes; ++i) text += ",a" + std::to_string(i) + "=1";
    return text;
  };
  EXPECT_EQ(parse_mesh(mesh(64)).axes.size(), 64);
  EXPECT_THROW(parse_mesh(mesh(65)), BadInput);
}

TEST(Text, Counts) {
  EXPECT_EQ(counted(1, "part"), "1 part");
  EXPECT_EQ(counted(0, "part"), "0 parts");
  EXPECT_EQ(counted(3, "mesh"), "3 meshes");
}

}  // namespace
}  // namespace plumb
