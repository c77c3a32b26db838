#include <gtest/gtest.h>

#include "reference/bytes/bytes.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(Derivation, OfAMove) {
  EXPECT_EQ(derivation(parse_case("on x=2: reshard f32[8@x] -> f32[8]")),
            "the fewest bytes that each device must receive\n"
            "  device 0 (x=0) needs [0:8]; it holds 4 of 8 elements: 16 bytes\n"
            "  device 1 (x=1) needs [0:8]; it holds 4 of 8 elements: 16 bytes\n"
            "all devices: 32 bytes\n"
            "best known: 32 bytes: each element is sent straight to every device that lacks it\n");
}

TEST(Derivation, OfASum) {
  EXPECT_EQ(
      derivation(parse_case("on x=2: reshard f32[8]+x -> f32[8@x]")),
      "the fewest bytes that each device must receive\n"
      "  device 0 (x=0) needs [0:4]; it holds part 0 of the sum at most: one value for each element: 16 "
      "bytes\n"
      "  device 1 (x=1) needs [4:8]; it holds part 1 of the sum at most: one value for each element: 16 "
      "bytes\n"
      "all devices: 32 bytes\n"
      "best known: 32 bytes: each sum is added up on one device that needs it and sent on from there\n");
}

TEST(Derivation, OfAnUnfinishedTarget) {
  EXPECT_EQ(derivation(parse_case("on x=2,y=2: reshard f32[8@x] -> f32[8]+y")),
            "the fewest bytes that each device must receive\n"
            "  device 0 (x=0,y=0) needs [0:8]; its fibre holds 4 of 8 elements: 16 bytes\n"
            "  device 1 (x=0,y=1) needs [0:8] with its fibre: counted on the fibre's first device\n"
            "  device 2 (x=1,y=0) needs [0:8]; its fibre holds 4 of 8 elements: 16 bytes\n"
            "  device 3 (x=1,y=1) needs [0:8] with its fibre: counted on the fibre's first device\n"
            "all devices: 32 bytes\n"
            "best known: 32 bytes: each element is sent straight to every device that lacks it\n");
}

TEST(Derivation, OfASumThatStaysUnfinished) {
  EXPECT_EQ(derivation(parse_case("on x=2: reshard f32[8]+x -> f32[8]+x")),
            "the fewest bytes that each device must receive\n"
            "  device 0 (x=0) needs [0:8]; its fibre holds 8 of 8 elements in all their parts: 0 bytes\n"
            "  device 1 (x=1) needs [0:8] with its fibre: counted on the fibre's first device\n"
            "all devices: 0 bytes\n"
            "best known: 0 bytes: each sum is added up on one device that needs it and sent on from there\n");
}

TEST(Derivation, AFreeResultHasNoBound) {
  const std::string text = derivation(parse_case("on x=2: reshard f32[8@x] -> f32[8]?"));
  EXPECT_NE(text.find("a free result has no bound"), std::string::npos) << text;
}

TEST(Derivation, OfManyDevicesIsShort) {
  const std::string text = derivation(parse_case("on x=32: reshard f32[32@x] -> f32[32]"));
  EXPECT_NE(text.find("  and 16 devices more\n"), std::string::npos);
}

TEST(Derivation, OfAProduct) {
  EXPECT_EQ(derivation(parse_case("on x=2: einsum mk,kn->mn f32[2,64@x] f32[64@x,2] -> f32[2,2]")),
            "a product has no bound; its yardstick is the cheapest of 2 plans, in which each axis splits\n"
            "a letter of mk,kn->mn that it splits in a spec of the case, or repeats the work\n"
            "best known: 32 bytes: the work split k@x: lhs moves 0 bytes, rhs 0, the result 32\n");
}

}  // namespace
}  // namespace plumb
