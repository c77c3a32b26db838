// What clips and divides: its ends are met, and behind it an index is all that it may be.
#include <gtest/gtest.h>

#include "reference/hlo/prove/testing/integers.h"

namespace plumb::hlo {
namespace {

// `made` of x and n is a result, and the same but for `wrongly` what devices compute.
Proof computing(const std::string& shape, const std::string& made, const std::string& wrongly) {
  const auto body = [&](const std::string& size, const std::string& lines) {
    return lines + "  ROOT %t = (f32[" + size + "], " + shape + ") tuple(%f, %m)";
  };
  return proved(
      {body("8192", made) + ", sharding={{devices=[2]<=[2]}, {replicated}}\n", body("4096", wrongly) + "\n"});
}

// What a warm-up, a schedule and a clipped counter are made of; larger than what is drawn of a counter.
TEST(Clipped, EndsOfWhatIsClippedThatAreOffByOneAreRefuted) {
  const auto single = [](const std::string& made, std::int64_t k, std::int64_t more) {
    return "  %z = s32[] constant(" + std::to_string(k - 3000) + ")\n  %k = s32[] constant(" +
           std::to_string(k) + ")\n  %o = s32[] constant(" + std::to_string(more) + ")\n  %m = s32[] " +
           made + "\n";
  };
  for (const std::string made :
       {"minimum(%n, %k)", "maximum(%k, %n)", "clamp(%z, %n, %k)", "clamp(%k, %n, %o)"}) {
    const std::string right = single(made, 10000, 20000);
    const Proof p = computing("s32[]", right, right);
    EXPECT_EQ(p.finding, Finding::proven) << made;
    EXPECT_EQ(p.borders, std::vector<std::string>{}) << made;
    for (const std::int64_t off : {-1, 1, -5000})
      EXPECT_EQ(computing("s32[]", right, single(made, 10000 + off, 20000)).finding, Finding::refuted)
          << made << off;
  }
  const auto side_of = [](const std::string& k) {
    return "  %k = s32[] constant(" + k +
           ")\n  %ks = s32[8] broadcast(%k), dimensions={}\n  %s = s32[8] subtract(%x, %ks)\n  %m = s32[8] "
           "sign(%s)\n";
  };
  EXPECT_EQ(computing("s32[8]", side_of("2000"), side_of("2000")).finding, Finding::proven);
  for (const char* k : {"1999", "2001", "1500", "7000"})
    EXPECT_EQ(computing("s32[8]", side_of("2000"), side_of(k)).finding, Finding::refuted) << k;
}

// Rows of a table of sixteen, looked up behind an operation: the last is found by more than the first.
TEST(Clipped, OfWhatIndexesBehindAnOperationTheOperationShows) {
  const auto rows = [](const std::string& made, const std::string& c) {
    return "  %c = s32[] constant(" + c +
           ")\n  %cs = s32[8] broadcast(%c), dimensions={}\n  %z = s32[] constant(0)\n"
           "  %zs = s32[8] broadcast(%z), dimensions={}\n  %i = s32[8] " +
           made +
           "\n  %r = s32[8,1] reshape(%i)\n  %rows = f32[16] iota(), iota_dimension=0\n"
           "  %m = f32[8] gather(%rows, %r), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
           "index_vector_dim=1, slice_sizes={1}\n";
  };
  const std::pair<std::string, std::vector<std::string>> table[] = {
      {"divide(%x, %cs)",              {"64", "32", "63", "128"}},
      {"shift-right-logical(%x, %cs)", {"4", "3", "5"}          },
      {"and(%x, %cs)",                 {"15", "31", "7"}        },
      {"remainder(%x, %cs)",           {"16", "8", "32"}        },
      {"clamp(%zs, %x, %cs)",          {"15", "11", "14"}       },
      {"minimum(%cs, %x)",             {"12", "11", "15"}       },
  };
  for (const auto& [made, numbers] : table)
    for (const std::string& c : numbers)
      EXPECT_EQ(computing("f32[8]", rows(made, numbers[0]), rows(made, c)).finding,
                c == numbers[0] ? Finding::proven : Finding::refuted)
          << made << " " << c;
}

}  // namespace
}  // namespace plumb::hlo
