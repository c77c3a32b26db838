// The words of a resolve.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "reference/words/testing/refused.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(ResolveText, CanonicalLinesPrintAsTheyWereRead) {
  for (const char* line : {
           "on fsdp=4,tp=2: resolve first f32[1024'embed,4096'mlp] rules=embed:fsdp,mlp:(fsdp.tp),norm:-",
           "on x=2: resolve first f32[8'a,8'-,0'a] rules=a:(),a:[],a:(x),a:[x],a:-,a:nowhere",
           "on x=2,y=2 ids=3,1,0,2: resolve first bf16[] rules=",
           "on x=1: resolve first s8[1'_a9] rules=_a9:x",
       })
    EXPECT_EQ(print(parse_case(line)), line);
  EXPECT_EQ(print(parse_case("on x=2:  resolve  first  f32[8'a]  rules=a:x  ")),
            "on x=2: resolve first f32[8'a] rules=a:x");
}

TEST(ResolveText, ABadLineGivesACaret) {
  const struct {
    const char *line, *message, *under;
  } rows[] = {
      {"on x=2: resolve last f32[8'a] rules=a:x",                 "expected a policy: first",                  "last f32"},
      {"on x=2: resolve first f31[8'a] rules=a:x",                "expected a dtype",                          "f31"     },
      {"on x=2: resolve first f32[8] rules=a:x",                  "expected ' and the name",                   "] rules" },
      {"on x=2: resolve first f32[8'] rules=a:x",                 "expected the name of a dimension, or -",    "] rules" },
      {"on x=2: resolve first f32[8'a@x] rules=a:x",              "expected ',' or ']'",                       "@x"      },
      {"on x=2: resolve first f32[8'a] a:x",                      "expected 'rules='",                         "a:x"     },
      {"on x=2: resolve first f32[8'a] rules=a",                  "expected ':'",                              ""        },
      {"on x=2: resolve first f32[8'a] rules=a:",                 "expected a mesh axis, (AXES), [AXES] or -", ""        },
      {"on x=2: resolve first f32[8'a] rules=a:(x",               "expected '.' or ')'",                       ""        },
      {"on x=2: resolve first f32[8'a] rules=a:[x)",              "expected '.' or ']'",                       ")"       },
      {"on x=2: resolve first f32[8'a] rules=a:x -> f32[8@x]",    "nothing follows the rules",                 "-> f32"  },
      {"on x=2: resolve first f32[8'a] rules=a:x seed=1",         "nothing follows the rules",                 "seed"    },
      {"on x=2: resolve first f32[8'a]* rules=a:x",               "expected a space",                          "* rules" },
      {"on x=2: resolve first f64[4611686018427387904'a] rules=",
       "this array would hold more than 2^62 bytes",                                                           "f64"     },
  };
  for (const auto& row : rows) {
    const std::string line = row.line;
    expect_refused(line, row.message, *row.under ? line.find(row.under) : line.size());
  }
}

TEST(ResolveText, AnArrayMayHoldAllThatIsCounted) {
  for (const char* line : {"on x=2: resolve first f64[576460752303423488'a] rules=",
                           "on x=2: resolve first f64[1,576460752303423488'a] rules="}) {
    std::string most = line;
    if (most.find("[1,") != std::string::npos) most.replace(most.find("[1,"), 3, "[1'b,");
    EXPECT_EQ(print(parse_case(most)), most);
  }
}

// Drawn cases, and each with one character changed: read back, or refused in three lines.
TEST(ResolveText, ParseIsTheInverseOfPrint) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const std::vector<std::string> names = {"x", "y", "embed", "_a", "rules", "first", "Z9"};
  for (int i = 0; i < 20000; ++i) {
    Case c = parse_case("on x=2,y=3 ids=5,4,3,2,1,0: resolve first f32[] rules=");
    Resolve& op = std::get<Resolve>(c.op.kind);
    for (std::uint64_t n = below(4); n > 0; --n) {
      c.op.chain[0].dims.push_back({static_cast<std::int64_t>(below(9)), {}});
      op.names.push_back(below(4) == 0 ? "" : names[below(names.size())]);
    }
    for (std::uint64_t n = below(5); n > 0; --n) {
      AxisRule rule{names[below(names.size())], static_cast<Value>(below(4)), {}};
      std::uint64_t axes = rule.value == Value::none ? 0 : rule.value == Value::name ? 1 : below(4);
      for (; axes > 0; --axes) rule.axes.push_back(names[below(names.size())]);
      op.rules.push_back(std::move(rule));
    }
    std::string line = print(c);
    ASSERT_TRUE(parse_case(line) == c) << line;
    line[below(line.size())] = "'-[]().,:=@ ax9"[below(15)];
    try {
      ASSERT_EQ(print(parse_case(print(parse_case(line)))), print(parse_case(line))) << line;
    } catch (const BadInput& error) {
      ASSERT_EQ(std::ranges::count(std::string(error.what()), '\n'), 2) << error.what();
    }
  }
}

}  // namespace
}  // namespace plumb
