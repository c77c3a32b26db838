#include "reference/fill/fill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "reference/fill/recipe.h"
#include "reference/words/letters.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

const char* kCases[] = {
    "on x=2,y=3: reshard f32[7@x,5@y] -> f32[7,5]",
    "on x=2,y=3: reshard f32[7@x.y,5] -> f32[7,5] nested",
    "on x=2,y=3: reshard e8m0[7@x,5@y] -> e8m0[7,5]",
    "on x=2,y=3: reshard s8[40@x,9@y] -> s8[40,9]",
    "on x=2,y=3: reshard bf16[7@x,5,2]+y -> bf16[7,5,2@y]",
    "on x=2,y=3: reshard s32[7@x]+y -> s32[7@y]",
    "on x=2,y=3: reshard f16[] -> f16[]+x.y",
    "on x=2,y=3: reshard f32[7@x,5]+avg(y) -> f32[7,5]",
    "on x=2,y=3: reshard bf16[7,5]+max(y.x) -> bf16[7,5]",
    "on x=2,y=3: reshard s8[7,5@x]+min(y) -> s8[7,5]",
    "on x=2,y=3: reshard f64[3@x,0]+y -> f64[3,0]",
    "on x=2,y=3: reshard f32[7@x,5@y] -> f32[7,5] fill=normal",
    "on x=2,y=3: reshard f32[7@x,5]+y -> f32[7,5] fill=normal",
    "on x=2,y=3: einsum mk,kn->mn bf16[5@x,9@y] bf16[9@x,4@y] -> bf16[5,4]",
    "on x=2,y=3: einsum mk,kn->mn bf16[5@x,9]+y bf16[9@x,4] -> bf16[5,4]",
    "on x=2,y=3: einsum mk,nk->mn f32[5@x,9@y] f32[4@y,9@x] -> f32[5,4]",
    "on x=2,y=3: einsum bsh,sbf->hf bf16[4@x,6@y,3] bf16[6@y,4,5@x] -> f32[3,5]",
    "on x=2,y=3: einsum kmb,bkn->bmn f8e4m3[9@x,3,2] f8e4m3[2,9@y,5@x] -> f32[2,3,5]",
    "on x=2,y=3: einsum i,i-> f32[9@x] f32[9@y] -> f32[]",
    "on x=2,y=3: einsum mk,kn->mn s8[5@x,9@y] s8[9@x,4@y] -> s32[5,4]",
    "on x=2,y=3: grouped fwd bf16[12@x,6@y] bf16[3,6@x,4@y] sizes=5,0,4 -> bf16[12,4]",
    "on x=2,y=3: grouped dgrad bf16[12@x,6@y] bf16[3,4@x,6@y] sizes=5,0,4 -> bf16[12,4]",
    "on x=2,y=3: grouped wgrad bf16[12@x,6@y] bf16[12@y,4] sizes=1,0,2/3,1,1 -> bf16[3,6,4]",
};

TEST(Fill, ASliceIsWhatCutTakesFromTheWhole) {
  for (const char* line : kCases) {
    const Case c = parse_case(line);
    for (int i = 0; i < static_cast<int>(c.op.operands.size()); ++i) {
      const Spec& spec = c.op.operands[i];
      const Tensor whole = fill(c, i);
      const std::int64_t part_bytes = bytes(spec);
      ASSERT_EQ(static_cast<std::int64_t>(whole.bytes.size()), part_bytes * parts(c.mesh, spec));
      for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
        const Slice slice = block(c.mesh, spec, c.rule, device);
        const std::int64_t p = part(c.mesh, spec, device);
        const Tensor got = fill_slice(c, i, p, slice);
        Tensor want = zeros(spec.dtype, got.shape);
        cut(shape(spec), slice, whole.bytes.data() + p * part_bytes, want.bytes.data(),
            format(spec.dtype).bytes);
        ASSERT_EQ(got, want) << line << " operand " << i << " device " << device;
      }
    }
  }
}

TEST(Fill, LongLinesAreTheirElements) {
  for (const char* line : {"on x=3: einsum mk,kn->mn bf16[2,5001@x] bf16[5001@x,2] -> bf16[2,2]",
                           "on x=3: einsum mk,nk->mn f32[2,5001@x] f32[2100,5001] -> f32[2,2100]",
                           "on x=3: reshard f32[5001]+x -> f32[5001]"}) {
    const Case c = parse_case(line);
    for (int i = 0; i < static_cast<int>(c.op.operands.size()); ++i) {
      const Tensor whole = fill(c, i);
      Slice one(c.op.operands[i].dims.size());
      for (std::int64_t at : {0, 1, 2047, 2048, 4095, 4096, 5000}) {
        for (Range& range : one) range = {0, 1};
        const std::int64_t last = std::min(at, shape(c.op.operands[i]).back() - 1);
        one.back() = {last, last + 1};
        EXPECT_EQ(bits(fill_slice(c, i, 0, one), 0), bits(whole, last)) << line;
      }
    }
  }
}

TEST(Fill, LinesThatSayNoSeedHaveDataOfTheirOwn) {
  for (const char* line : kCases) {
    const Case c = parse_case(line);
    EXPECT_EQ(fill(seeded(c), 0), fill(c, 0)) << line;
    if (elements(c.op.operands[0]) < 2) continue;
    Case other = c;
    other.mesh.axes.push_back({"another", 1});
    EXPECT_NE(fill(other, 0), fill(c, 0)) << line;
    other.seed = data_seed(c);
    EXPECT_EQ(fill(other, 0), fill(c, 0)) << line;
  }
}

TEST(Fill, ASliceHasTheDataOfTheWhole) {
  for (const char* line :
       {"on tp=2,dp=2 of dp=2,pp=2,tp=2: reshard f32[8@dp]+tp -> f32[8@tp.dp]",
        "on tp=2 of dp=2,tp=2: einsum mk,kn->mn bf16[8,4@tp]~fp8 bf16[4@tp,8] -> f32[8,8]"}) {
    const Case c = parse_case(line);
    for (int i = 0; i < static_cast<int>(c.op.operands.size()); ++i)
      EXPECT_EQ(fill(slice_case(c), i), fill(c, i)) << line;
  }
}

TEST(Fill, SeedsOperandsAndPartsDiffer) {
  for (const char* line : kCases) {
    Case c = parse_case(line);
    if (elements(c.op.operands[0]) < 2) continue;
    const Tensor first = fill(c, 0);
    c.seed = 1;
    EXPECT_NE(fill(c, 0), first) << line;
  }
  const Case c = parse_case("on x=4: reshard f32[9]+x -> f32[9]");
  std::set<std::vector<std::byte>> all;
  for (int p = 0; p < 4; ++p)
    all.insert(fill_slice(c, 0, p,
                          {
                              {0, 9}
    })
                   .bytes);
  EXPECT_EQ(all.size(), 4u);
}

TEST(Fill, EveryElementIsFinite) {
  for (const char* line : kCases) {
    const Case c = parse_case(line);
    for (int i = 0; i < static_cast<int>(c.op.operands.size()); ++i) {
      const Tensor t = fill(c, i);
      for (std::int64_t e = 0; e < elements(t.shape); ++e) EXPECT_TRUE(finite(t.dtype, bits(t, e))) << line;
    }
  }
}

// Signs of an element's parts are independent: two agree half the time, within six deviations.
TEST(Fill, PartsHaveSignsOfTheirOwn) {
  const Tensor t = fill(parse_case("on x=2: reshard f32[4096]+x -> f32[4096]"), 0);
  int agree = 0;
  for (std::int64_t i = 0; i < 4096; ++i) agree += (value(t, i) < 0) == (value(t, 4096 + i) < 0);
  EXPECT_LT(std::abs(agree - 2048), 6 * std::sqrt(4096.0) / 2);
}

// Rows of no group hold numbers, so that who uses them is seen.
TEST(Fill, TailsAreNoise) {
  const Case c = parse_case("on x=2: grouped fwd bf16[64@x,8] bf16[2,8,4] sizes=10,9/12,0 -> bf16[64,4]");
  const Tensor x = fill(c, 0);
  std::set<double> seen;
  for (std::int64_t row = 0; row < 64; ++row)
    for (std::int64_t k = 0; k < 8; ++k) {
      EXPECT_NE(value(x, row * 8 + k), 0);
      if ((row >= 19 && row < 32) || row >= 44) seen.insert(value(x, row * 8 + k));
    }
  EXPECT_GT(seen.size(), 100u);
}

TEST(Provenance, PatternsAreTheDocumentedOnes) {
  for (const Format& f : formats()) {
    const Patterns p = patterns(f.dtype);
    if (f.bytes > 2) continue;
    std::set<std::uint64_t> numbered, wanted;
    for (std::uint64_t n = 0; n < p.count; ++n) numbered.insert(pattern(p, n));
    for (std::uint64_t bits = 0; bits < 1ull << (8 * f.bytes); ++bits) {
      const double x = decode(f.dtype, bits);
      const bool subnormal = f.bytes == 2 && std::fabs(x) < std::ldexp(1.0, f.min_exponent);
      if (finite(f.dtype, bits) && !subnormal && !(x == 0 && std::signbit(x))) wanted.insert(bits);
    }
    EXPECT_EQ(numbered, wanted) << f.name;
    EXPECT_EQ(numbered.size(), p.count) << f.name;
  }
}

TEST(Provenance, ElementsDifferWhileThereArePatterns) {
  for (const char* line :
       {"on x=2: reshard s8[16,16@x] -> s8[16,16]", "on x=2: reshard e8m0[5,51@x] -> e8m0[5,51]",
        "on x=2: reshard f8e4m3[253@x] -> f8e4m3[253]", "on x=2: reshard f16[240,256@x] -> f16[240,256]",
        "on x=2: reshard f32[1000,100@x] -> f32[1000,100]",
        "on x=2: reshard f64[1000,100@x] -> f64[1000,100]"}) {
    Case c = parse_case(line);
    for (c.seed = 0; c.seed < 3U; ++*c.seed) {
      const Tensor t = fill(c, 0);
      std::set<std::uint64_t> seen;
      for (std::int64_t i = 0; i < elements(t.shape); ++i) seen.insert(bits(t, i));
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), elements(t.shape)) << line;
      EXPECT_NE(certificate(c).text.find("is 0"), std::string::npos);
    }
  }
  const Certificate hashed = certificate(parse_case("on x=2: reshard s8[16,17@x] -> s8[16,17]"));
  EXPECT_NE(hashed.text.find("is 1/256"), std::string::npos) << hashed.text;
}

TEST(Provenance, AnElementTellsItsOrigin) {
  for (const char* dtype : {"s8", "e8m0", "f8e4m3", "f8e5m2", "f16", "bf16", "s32", "f32", "f64"}) {
    const std::string d = dtype;
    const Case c = parse_case("on x=2: reshard " + d + "[10,20@x] -> " + d + "[10,20]");
    const Tensor t = fill(c, 0);
    std::set<std::uint64_t> used;
    for (std::int64_t i = 0; i < 200; ++i) {
      EXPECT_EQ(origin(c, bits(t, i)), i) << d;
      used.insert(bits(t, i));
    }
    for (std::uint64_t other = 0; other < 256; ++other) {
      EXPECT_EQ(origin(c, other) == -1, !used.contains(other)) << d;
    }
  }
  const Case many = parse_case("on x=2: reshard s8[10,40@x] -> s8[10,40]");
  EXPECT_EQ(origin(many, bits(fill(many, 0), 0)), -1);
}

// Hashed patterns: the share of equal pairs is what the certificate says, within six deviations.
TEST(Provenance, HashedPatternsCollideAsOftenAsStated) {
  const Tensor t = fill(parse_case("on x=2: reshard s8[64,64@x] -> s8[64,64]"), 0);
  std::vector<double> count(256);
  const double n = 4096;
  for (std::int64_t i = 0; i < 4096; ++i) count[bits(t, i)] += 1;
  double chi2 = 0;
  for (double k : count) chi2 += (k - n / 256) * (k - n / 256) / (n / 256);
  EXPECT_LT(std::fabs(chi2 - 255), 6 * std::sqrt(2.0 * 255));
}

// Moments of 2^16 draws, each within six of its deviations for a normal distribution; the sum of 64 coins
// and 4 uniforms has a kurtosis of 3 - 0.029, far inside.
TEST(Normal, HasTheMomentsOfTheNormalDistribution) {
  for (const char* dtype : {"f32", "bf16", "f8e4m3"}) {
    const std::string d = dtype;
    const Tensor t =
        fill(parse_case("on x=2: reshard " + d + "[256,256@x] -> " + d + "[256,256] fill=normal"), 0);
    const double n = 65536;
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    for (std::int64_t i = 0; i < 65536; ++i) {
      const double x = value(t, i);
      m1 += x / n, m2 += x * x / n, m3 += x * x * x / n, m4 += x * x * x * x / n;
    }
    EXPECT_LT(std::fabs(m1), 6 / std::sqrt(n));
    EXPECT_LT(std::fabs(m2 - 1), 6 * std::sqrt(2 / n));
    EXPECT_LT(std::fabs(m3), 6 * std::sqrt(15 / n));
    EXPECT_LT(std::fabs(m4 - 3), 6 * std::sqrt(96 / n));
  }
}

TEST(Normal, IsNotExact) {
  EXPECT_EQ(certificate(parse_case("on x=2: reshard f32[8]+x -> f32[8] fill=normal")).scope,
            Certificate::Scope::none);
}

// The same bits on every machine: a change of these numbers is a change of every published record.
TEST(Fill, IsPinned) {
  std::vector<std::uint64_t> digests;
  for (const char* line : kCases) {
    Case c = parse_case(line);
    c.seed = 0;
    std::uint64_t digest = 0;
    for (int i = 0; i < static_cast<int>(c.op.operands.size()); ++i)
      for (std::byte b : fill(c, i).bytes) digest = digest * 1099511628211u + static_cast<std::uint64_t>(b);
    digests.push_back(digest);
  }
  const std::vector<std::uint64_t> pinned = {3771176322656127371u,
                                             3771176322656127371u,
                                             15113575818388796907u,
                                             2010952018561852513u,
                                             1311544207160989711u,
                                             18295724522499481456u,
                                             36283883731069u,
                                             8589689181336013608u,
                                             9904716146311256302u,
                                             13728194228234295350u,
                                             0u,
                                             13085497067051080471u,
                                             15386074576223195305u,
                                             5620456348977487930u,
                                             2523654007216634819u,
                                             11660714967371636851u,
                                             16974984367274303439u,
                                             13131771983774381816u,
                                             5626573765563538915u,
                                             12658498572428394007u,
                                             16832967041475615259u,
                                             14763884071664890666u,
                                             13024892842340922211u};
  EXPECT_EQ(digests, pinned);
}

TEST(Cuts, AreTheCommonRefinement) {
  using Lists = std::vector<std::vector<std::int64_t>>;
  const struct {
    const char* line;
    Lists cuts;
  } rows[] = {
      {"on x=2: reshard f32[8@x] -> f32[8]",                                    {}                       },
      {"on x=2,y=3: einsum mk,kn->mn f32[2,7@x] f32[7@y,2] -> f32[2,2]",        {{0, 3, 4, 6, 7}}        },
      {"on x=2,y=2: einsum mk,kn->mn f32[2,5@x.y] f32[5,2] -> f32[2,2]",        {{0, 2, 4, 5}}           },
      {"on x=2,y=2: einsum mk,kn->mn f32[2,5@x.y] f32[5,2] -> f32[2,2] nested", {{0, 2, 3, 4, 5}}        },
      {"on x=2,y=3: einsum bsh,sbf->hf f32[4@x,6,2] f32[6@y,4,2] -> f32[2,2]",  {{0, 2, 4}, {0, 2, 4, 6}}},
      {"on x=2: einsum mk,kn->mn f32[2,0@x] f32[0,2] -> f32[2,2]",              {{0}}                    },
      {"on x=2: einsum m,n->mn f32[2@x] f32[3] -> f32[2,3]",                    {}                       },
      {"on x=2: grouped fwd f32[8@x,6] f32[2,6@x,3] sizes=3,4 -> f32[8,3]",     {{0, 3, 6}}              },
      {"on x=2: grouped wgrad f32[8@x,6] f32[8,3] sizes=3,4 -> f32[2,6,3]",     {{0, 3, 4, 7, 8}}        },
      {"on x=2: grouped wgrad f32[8@x,6] f32[8,3] sizes=1,2/0,4 -> f32[2,6,3]", {{0, 1, 3, 4, 8}}        },
  };
  for (const auto& row : rows) EXPECT_EQ(contracted_cuts(parse_case(row.line)), row.cuts) << row.line;
}

}  // namespace
}  // namespace plumb
