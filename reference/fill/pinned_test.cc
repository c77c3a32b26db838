// The data of lines whose operands are quantized, mixed, or thin: other bits are another generation of data.
#include <gtest/gtest.h>

#include "reference/fill/fill.h"
#include "reference/fill/unit.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::uint64_t digest(const std::string& line) {
  Case c = parse_case(line);
  c.seed = 0;
  std::uint64_t digest = 0;
  for (int i = 0; i < static_cast<int>(c.op.operands.size()); ++i)
    for (std::byte b : fill(c, i).bytes) digest = digest * 1099511628211u + static_cast<std::uint64_t>(b);
  return digest;
}

TEST(Fill, OfWhatIsQuantizedIsPinned) {
  const struct {
    const char* line;
    std::uint64_t digest;
  } rows[] = {
      {"on x=2: quantize mxfp8 bf16[40@x,70] -> f8e4m3[40@x,70] e8m0[40,3]",                     1121466555904410097u },
      {"on x=2: quantize mxfp8e5 f32[40@x,70] -> f8e5m2[40@x,70] e8m0[2,70]",                    13042425717131496310u},
      {"on x=2: quantize mxfp8 f16[70@x] sizes=40,20 -> f8e4m3[70@x] e8m0[3]",                   4807067165997533908u },
      {"on x=2: quantize fp8 bf16[9@x,40] -> f8e4m3[9@x,40] f32[]",                              17015424541433006986u},
      {"on x=2: quantize fp8e5 f16[9@x,40] -> f8e5m2[9@x,40] f32[9]",                            15145293836778937850u},
      {"on x=2: quantize fp8 f32[9@x,40] sizes=4,0,3 -> f8e4m3[9@x,40] f32[3]",                  13472028541745962090u},
      {"on x=2: quantize fp8 bf16[9@x,40] f32[5] f32[] -> f8e4m3[9@x,40] f32[] f32[5] f32[]",
       4451291812690114493u                                                                                           },
      {"on x=2: quantize fp8e5 f32[9@x,40] f32[5] f32[] -> f8e5m2[9@x,40] f32[] f32[5] f32[]",
       12918964363152685589u                                                                                          },
      {"on x=2: einsum mk,kn->mn bf16[5@x,70]~mxfp8 bf16[70,4@x]~mxfp8 -> f32[5@x,4]",           15041405572479930606u},
      {"on x=2: einsum mk,kn->mn bf16[5@x,70]~mxfp8e5 bf16[70,4]~mxfp8 -> f32[5@x,4]",           2484671375313809895u },
      {"on x=2: einsum mk,kn->mn bf16[5,70@x]~mxfp8 bf16[70@x,4] -> f32[5,4]",                   5196024436586201138u },
      {"on x=2: einsum mk,kn->mn bf16[5,70@x]~fp8 bf16[70@x,4]~fp8e5 -> f32[5,4]",               17448707559891919865u},
      {"on x=2: einsum mk,kn->mn bf16[5,70@x]~fp8 bf16[70@x,4]~fp8 -> bf16[5,4]",                13594414068648360425u},
      {"on x=2: grouped fwd bf16[12@x,40]~mxfp8 bf16[3,40,4]~mxfp8 sizes=5,0,4 -> bf16[12@x,4]",
       6861535763511065358u                                                                                           },
      {"on x=2: grouped wgrad bf16[70@x,5]~mxfp8 bf16[70@x,4]~mxfp8 sizes=40,20 -> f32[2,5,4]",
       3717857327734643620u                                                                                           },
      {"on x=2: grouped wgrad bf16[70@x,5]~fp8 bf16[70@x,4]~fp8 sizes=40,20 -> f32[2,5,4]",
       2699604101088737225u                                                                                           },
  };
  for (const auto& row : rows) EXPECT_EQ(digest(row.line), row.digest) << row.line;
}

TEST(Fill, OfProductsOnManyDevicesOrNarrowWiresIsPinned) {
  const struct {
    const char* line;
    std::uint64_t digest;
  } rows[] = {
      {"on x=64: einsum mk,kn->mn bf16[3,64@x] bf16[64@x,3] -> bf16[3,3] wire=bf16",                 10603829638656425782u},
      {"on x=8: einsum mk,kn->mn bf16[3,300@x] bf16[300@x,3] -> f32[3,3] wire=bf16",                 13325815298946363508u},
      {"on x=8: einsum mk,kn->mn f8e4m3[3,300@x] f8e4m3[300@x,3] -> bf16[3,3] acc=bf16 wire=f8e5m2",
       13989905799857809440u                                                                                              },
      {"on x=8: einsum mk,kn->mn bf16[3,40]+x f8e4m3[40,3] -> f32[3,3]",                             16662803545873085004u},
      {"on x=8: einsum mk,kn->mn f8e4m3[3,40] bf16[40,3]+x -> f32[3,3]",                             16241102810033967862u},
      {"on x=8: einsum mk,kn->mn f32[3,5000@x] f32[5000@x,3] -> f32[3,3]",                           5527091233335188173u },
      {"on x=8: grouped wgrad bf16[300@x,3] bf16[300@x,3] sizes=1,200,40 -> f32[3,3,3] wire=bf16",
       16891886946774455798u                                                                                              },
      {"on x=2: grouped fwd bf16[12@x,6] bf16[3,6,4] sizes=0,3,1/2,2,0 -> bf16[12,4]",               18141844960288584354u},
      {"on x=2: grouped dgrad f32[12,6]+x f32[3,4,6] sizes=5,0,4 -> f32[12,4]",                      16544803093366794243u},
      {"on x=64: reshard bf16[7]+x -> bf16[7]",                                                      10345685904745443835u},
      {"on x=3: reshard f16[7]+avg(x) -> f16[7] wire=bf16",                                          16729963175505323811u},
  };
  for (const auto& row : rows) EXPECT_EQ(digest(row.line), row.digest) << row.line;
}

// Law: the unit of a product is that of the product of its operands exchanged.
TEST(Unit, OperandsExchangedHaveTheSame) {
  const auto of = [](const std::string& a, const std::string& b, const std::string& rest) {
    const Unit u = unit(parse_case("on x=64: einsum mk,nk->mn " + a + " " + b + rest));
    return std::tuple{u.factor, u.exponent, u.exists};
  };
  int narrow = 0;
  for (const char* a : {"f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64"})
    for (const char* b : {"f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64"})
      for (const char* parts : {"", "+x"})
        for (const char* rest : {" -> f32[4,4]", " -> f64[4,4]", " -> f32[4,4]+x"}) {
          const std::string left = std::string(a) + "[4,8]" + parts, right = std::string(b) + "[4,8]";
          if (std::string(parts) == "+x" && std::string(rest).ends_with("+x")) continue;
          EXPECT_EQ(of(left, right, rest), of(right, left, rest)) << left << " " << right << rest;
          narrow += std::get<1>(of(left, right, rest)) < 6;  // 64 parts take six powers of two
        }
  EXPECT_GT(narrow, 0) << "no case in which a format has little room";
}

}  // namespace
}  // namespace plumb
