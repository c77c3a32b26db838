#include "harness/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/protocol/json.h"
#include "harness/record/testing/golden.h"
#include "reference/fill/fill.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Row {
  const char *name, *line;
};

constexpr Row goldens[] = {
    {"reduce_scatter", "on dp=2,tp=2: reshard f32[8,4@tp]+dp -> f32[8@dp,4@tp]"                        },
    {"uneven",         "on a=2,b=2: reshard f32[5@a.b] -> f32[5] nested"                               },
    {"product",
     "on x=2,y=2 ids=3,1,0,2: einsum mk,kn->mn f32[8@x,4@y] f32[4@y,8] -> f32[8@x,8]+y -> f32[8@x,8@y]"},
    {"grouped",        "on ep=2: grouped fwd f32[8@ep,4] f32[2@ep,4,6] sizes=3,5 -> f32[8@ep,6]"       },
    {"scalar",         "on x=2,y=2: reshard f32[]+x -> f32[]"                                          },
};

TEST(Explain, Golden) {
  for (const Row& row : goldens)
    expect_golden(explain_case(parse_case(row.line)), std::string(PLUMB_GOLDEN "/") + row.name + ".txt");
}

std::string explained(const char* line) { return explain_case(parse_case(line)); }

TEST(Explain, NamesWhatJoinsTheParts) {
  const std::string most = explained("on x=2: reshard f32[8]+max(x) -> f32[8]");
  EXPECT_THAT(most, HasSubstr("the max over x is finished"));
  EXPECT_THAT(most, HasSubstr("a+b are parts whose max is the value"));
  EXPECT_THAT(most, HasSubstr("it holds part 0 of the max at most"));
  EXPECT_THAT(most, HasSubstr("each max is taken on one device"));
  EXPECT_THAT(most, Not(HasSubstr("sum")));
  const std::string mean = explained("on x=4: reshard f32[8]+avg(x) -> f32[8@x]");
  EXPECT_THAT(mean, HasSubstr("the sum over x is finished, divided by the 4 over x"));
  EXPECT_THAT(mean, HasSubstr("a+b are parts whose mean is the value"));
}

// An axis of size 1 neither splits nor adds anything.
TEST(Explain, JsonHasADigestOfEachWholeOperandAndResult) {
  const auto json_of = [](const char* line) { return parse_json(explain_json(parse_case(line))); };
  const auto said =
      json_of("on x=2: einsum mk,kn->mn f32[8@x,8] f32[8,4] -> f32[8@x,4] seed=18446744073709551615");
  EXPECT_EQ(said["seed"], 18446744073709551615u);
  EXPECT_EQ(said["data"], data_generation);
  EXPECT_EQ(said["operands"][1]["role"], "rhs");
  EXPECT_EQ(said["results"][0]["spec"], "f32[8@x,4]");
  EXPECT_EQ(said["operands"][0]["digest"].get<std::string>().size(), 16u);
  const auto two = json_of("on x=2: reshard f32[8@x] -> f32[8] seed=0"),
             four = json_of("on x=4: reshard f32[8@x] -> f32[8] seed=0");
  EXPECT_EQ(two["operands"][0]["digest"], four["operands"][0]["digest"]);
  EXPECT_EQ(two["operands"][0]["digest"], two["results"][0]["digest"]) << "nothing is summed";
  EXPECT_NE(two["operands"][0]["digest"],
            json_of("on x=2: reshard f32[8@x] -> f32[8]")["operands"][0]["digest"]);
  EXPECT_EQ(
      json_of("on x=2: quantize fp8 bf16[64@x] f32[16] f32[] -> f8e4m3[64] f32[] f32[16] f32[]")["results"]
          .size(),
      4u);
  EXPECT_EQ(json_of("on x=2: resolve first f32[8'a] rules=a:x")["layout"], "f32[8@x]");
}

TEST(Explain, AxesOfSizeOne) {
  const std::string one = explained("on x=2,y=1: reshard f32[8@x]+y -> f32[8@y]");
  EXPECT_THAT(one, HasSubstr("the same array, laid out anew: one part over y is all there is"));
  EXPECT_THAT(one, HasSubstr("dimension 0: 8 whole: y has one device"));
  EXPECT_THAT(one, HasSubstr("an unfinished sum over y: 1 part\n"));
  EXPECT_THAT(one, HasSubstr("sum of 1 part, 1 of them nonzero"));
  const std::string rules =
      explained("on a=1,b=2: resolve first f32[8'embed,4'mlp] rules=embed:a,mlp:(a.b),mlp:b");
  EXPECT_THAT(rules, HasSubstr("dimension 0 'embed' is given this, of one device: it stays whole"));
  EXPECT_THAT(rules, HasSubstr("dimension 1 'mlp' is split so"));
}

// Every device that holds something stands in the picture once.
TEST(Draw, NamesEveryDeviceOnce) {
  for (const Mesh& mesh :
       {parse_mesh("x=2,y=3"), parse_mesh("x=2,y=2,z=2"), parse_mesh("x=2,y=2 ids=3,1,0,2")})
    for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
             {},
             {  5},
             { 4, 6},
             { 3, 2}
    })
      for (const Spec& spec : all_specs(mesh, DType::f32, shape, true)) {
        Case c;
        c.mesh = mesh;
        c.op = {Reshard{}, {spec}, {spec}};
        std::vector<int> times(devices(mesh));
        const std::string text = draw(c, spec);
        // Cells and the line of the idle hold the only numbers that have no ':' beside them.
        for (std::size_t at = 0; at < text.size();) {
          std::size_t end = at;
          while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
          const bool range = text[end] == ':' || (at > 0 && text[at - 1] == ':');
          if (end > at && !range) ++times.at(std::stoul(text.substr(at, end - at)));
          at = std::max(end, at + 1);
        }
        for (int n : times) ASSERT_EQ(n, 1) << print(mesh) << ' ' << print(mesh, spec) << '\n' << text;
      }
}

TEST(Draw, LargeOnesAreListed) {
  const Case c = parse_case("on x=4,y=32: reshard f32[128@x.y] -> f32[128]");
  EXPECT_THAT(draw(c, c.op.operands[0]), testing::HasSubstr("device 31    [31:32]\nand 96 devices more\n"));
}

}  // namespace
}  // namespace plumb
