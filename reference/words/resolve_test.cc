// The words of a resolve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
      {"on x=2: resolve first f64[4611686018427387904'a] rules=", "more than 2^62 bytes",                      "f64"     },
  };
  for (const auto& row : rows) {
    try {
      parse_case(row.line);
      ADD_FAILURE() << "accepted: " << row.line;
    } catch (const BadInput& error) {
      const std::string text = error.what(), line = row.line;
      const std::size_t caret = *row.under ? line.find(row.under) : line.size();
      EXPECT_THAT(text, testing::HasSubstr(row.message));
      EXPECT_EQ(text.substr(text.rfind('\n')), "\n  " + std::string(caret, ' ') + "^") << text;
    }
  }
}

}  // namespace
}  // namespace plumb
