// Bad input: one message, with the line and a caret.
#include <gtest/gtest.h>

#include <algorithm>

#include "reference/hlo/module/module.h"
#include "reference/hlo/module/testing/caret.h"

namespace plumb::hlo {
namespace {

std::string in_module(const std::string& line) {
  return "HloModule m\n\nENTRY %e (a: f32[2,3]) -> f32[2,3] {\n  %a = f32[2,3]{1,0} parameter(0)\n  " + line +
         "\n}\n";
}

TEST(Refused, ATableOfLines) {
  const std::pair<const char*, const char*> table[] = {
      {"ROOT %b = f32[2,3]{1,0} frobnicate(%a), x={1,2}",                                        "5:27: unsupported: opcode frobnicate"                 },
      {"ROOT %b = f33[2,3]{1,0} add(%a, %a)",                                                    "5:13: unsupported: type f33"                          },
      {"ROOT %b = f32[<=2,3]{1,0} add(%a, %a)",                                                  "dimension whose size only the run decides"            },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a), dimensions={0}",
       "5:40: unsupported: attribute dimensions of add"                                                                                                 },
      {"ROOT %b = f32[2,3]{1,0} custom-call(%a), custom_call_target=\"x\", window={}",
       "unsupported: attribute window of custom-call"                                                                                                   },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a), frontend_attributes={_xla_send=\"1\"}",
       "unsupported: frontend attribute _xla_send"                                                                                                      },
      {"ROOT %b = f32[2,3]{1,0} add(%a)",                                                        "add of 1 operands"                                    },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %c)",                                                    "5:35: no instruction %c stands above"                 },
      {"%t = (f32[2,3]{1,0}) tuple(%a)\n  ROOT %b = f32[2,3]{1,0} negate(%t#1)",                       "(f32[2,3]) has no element 1"                          },
      {"%t = (f32[2,3]{1,0}) tuple(%a)\n  ROOT %b = f32[2,3]{1,0} negate(%t#-1)",                      "(f32[2,3]) has no element -1"                         },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a#0)",                                                  "5:35: f32[2,3] has no element 0"                      },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %c#0)",                                                  "no instruction %c stands above"                       },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a#x)",                                                  "expected the number of an element"                    },
      {"ROOT %b = f32[2,3]{1,0} add(%a, f32[2] %a)",                                             "%a is f32[2,3]"                                       },
      {"ROOT %b = f32[2,3]{1,0} transpose(%a)",                                                  "transpose without dimensions"                         },
      {"ROOT %b = f32[2,3]{1,0} constant({...})",                                                "--xla_dump_large_constants"                           },
      {"ROOT %b = f32[2,3]{1,0} constant({ { 1, 2 }, { 3, 4 } })",                               "expected ','"                                         },
      {"ROOT %b = f32[2,3]{1,0} constant({ { 1, 2, 3 } })",                                      "expected ','"                                         },
      {"ROOT %b = f32[2,3]{1,1} add(%a, %a)",                                                    "not a layout of the shape"                            },
      {"ROOT %b = f32[2,-3]{1,0} add(%a, %a)",                                                   "a size below zero"                                    },
      {"ROOT %b = f32[4000000000,4000000000]{1,0} add(%a, %a)",                                  "more elements than any memory holds"                  },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a), sharding={devices=[2,1]0,0}",
       "these are not 2 devices, each once"                                                                                                             },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a), sharding={devices=[2,1]<=[3]}",                     "these are not 2 devices"                              },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a), sharding={devices=[2,1]<=[2,1]T(0,0)}",             "not a permutation"                                    },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a), sharding={mesh['x'=2], [{'x'}, {'x'}]}",            "an axis stands twice"                                 },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a), sharding={mesh['x'=2], [{'y'}, {}]}",               "the mesh has no axis y"                               },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a), sharding={replicated} , ",                          "expected"                                             },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a), "
       "sharding={{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{", "without end"                                          },
      {"%b = f32[2,3]{1,0} add(%a, %a)",                                                         "a computation without a ROOT"                         },
      {"ROOT %a = f32[2,3]{1,0} add(%a, %a)",                                                    "two instructions of this name"                        },
      {"ROOT %b = f32[2,4]{1,0} add(%a, %a)",                                                    "other parameters or another result than its head says"},
      {"ROOT %b = f32[2,3]{1,0} call(%a), to_apply=%f",                                          "no computation f stands above"                        },
      {"ROOT %b = f32[2,3]{1,0} parameter(2)",                                                   "parameters are numbered from 0"                       },
      {"ROOT %b = s8[] constant(128)",                                                           "out of the range of its type"                         },
      {"ROOT %b = f32[2,3]{1,0} add(%a, %a) {",                                                  "expected the end of the line"                         },
  };
  for (const auto& [line, want] : table) {
    const std::string got = message(in_module(line));
    EXPECT_NE(got.find(want), got.npos) << got;
    EXPECT_EQ(std::ranges::count(got, '\n'), 2) << got;
  }
}

TEST(Refused, WhatIsNoModule) {
  const std::pair<const char*, const char*> table[] = {
      {"",                                                                                     "no HLO"                                },
      {"module @jit_f {",                                                                      "no HLO"                                },
      {"HloModule m\n",                                                                        "the module is cut off: it has no ENTRY"},
      {"HloModule m\n\nENTRY %e () -> f32[] {\n  ROOT %c = f32[] constant(1)\n",               "the module is cut off"                 },
      {"HloModule m, num_partitions=0\n",                                                      "expected a number of devices"          },
      {"HloModule m, num_partitions=99999999999\n",                                            "expected a number of devices"          },
      {"HloModule m, dynamic=3\n\nENTRY %e () -> f32[] {\n  ROOT %c = f32[] constant(1)\n}\n",
       "attribute dynamic of the module"                                                                                               },
  };
  for (const auto& [text, want] : table)
    EXPECT_NE(message(text).find(want), std::string::npos) << message(text);
}

// Wherever a text ends, in the middle of a word too.
TEST(Refused, WhatIsCutOff) {
  const std::string whole =
      "HloModule m, num_partitions=2\n\n%s (x.1: f32[], y.1: f32[]) -> f32[] {\n"
      "  %x.1 = f32[] parameter(0)\n  %y.1 = f32[] parameter(1)\n  ROOT %z = f32[] add(%x.1, %y.1)\n}\n\n"
      "ENTRY %e (a: f32[2,3]) -> f32[] {\n  %a = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}\n"
      "  %c = f32[] constant(1.5)\n"
      "  ROOT %b = f32[] reduce(%a, %c), dimensions={0,1}, to_apply=%s, metadata={op_name=\"sum\"}\n}";
  EXPECT_EQ(message(whole), "no error");
  for (std::size_t n = std::string("HloModule ").size(); n < whole.size(); ++n)
    EXPECT_NE(message(whole.substr(0, n)).find("the module is cut off"), std::string::npos)
        << whole.substr(0, n) << "\n"
        << message(whole.substr(0, n));
}

TEST(Refused, BytesThatAreNoText) {
  std::string text = in_module("ROOT %b = f32[2,3] add(%a, %a), sharding={devices=[2,1]<=[2] last_tile}");
  text[text.find("_tile")] = '\0';
  const std::string got = message(text);
  EXPECT_NE(got.find("in a sharding: last?tile"), got.npos) << got;
  EXPECT_EQ(std::ranges::count(got, '\n'), 2) << got;
}

TEST(Refused, AllThatIsNotKnownAtOnce) {
  EXPECT_EQ(message(in_module("%b = f32[2,3]{1,0} fft(%a), x=1\n  %c = f32[2,3]{1,0} fft(%b)\n"
                         "  %d = f32[2,3]{1,0} add(%a, %c), y={1}\n  ROOT %e = q7[2] cholesky(%d)")),
            "m.txt:5:22: unsupported: attribute y of add, opcode cholesky, opcode fft (2 times), type q7\n"
            "    %b = f32[2,3]{1,0} fft(%a), x=1\n"
            "                       ^");
  const std::string renamed = "%b = f32[3,2]{1,0} transpose(%a), order={1,0}\n";
  EXPECT_NE(
      message(in_module(renamed + "  %c = f32[3,2]{1,0} transpose(%a), order={1,0}\n  ROOT %d = f32[2,3]{1,0} "
                             "transpose(%c), dimensions={1,0}"))
          .find("unsupported: attribute order of transpose (2 times)"),
      std::string::npos);
}

}  // namespace
}  // namespace plumb::hlo
