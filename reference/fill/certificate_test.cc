// A certificate is a claim about every order and association of the sums of a case. Here it is tried:
// the sums are added at random, rounding to the accumulate and wire types after every step, and compared
// with integers.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "reference/fill/fill.h"
#include "reference/fill/recipe.h"
#include "reference/fill/testing/sums.h"
#include "reference/words/enumerate.h"
#include "reference/words/testing/draw_case.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Scope = Certificate::Scope;

int exponent_of(const Case& c) { return unit(c).exponent; }

// One way to compute an element: the terms dealt to devices (term by term where any split is certified,
// else block by block), added in acc, rounded to wire, added there, rounded to the result.
double computed(const Case& c, Scope scope, const std::vector<Term>& terms, std::mt19937_64& random) {
  std::map<std::uint64_t, std::vector<double>> devices;
  const std::uint64_t deal = random(), count = 1 + random() % 5;
  for (const Term& t : terms) {
    const std::uint64_t unsplit = (t.block * 1000003 + t.part) * 7919 ^ deal;
    const std::uint64_t device = scope == Scope::any_split ? random() : std::mt19937_64(unsplit)();
    devices[device % count].push_back(t.a * t.b);
  }
  std::vector<double> sums;
  for (auto& [device, products] : devices)
    sums.push_back(rounded(c.wire, added(c.acc, std::move(products), random)));
  return rounded(result(c).dtype, added(c.wire, std::move(sums), random));
}

// The parts of operand `i` are added by themselves, on the wire, and stored.
void expect_sum_of_parts(const Case& c, int i, const Tensor& operand, std::mt19937_64& random) {
  const Spec& spec = c.op.operands[i];
  const std::int64_t n = elements(spec), count = parts(c.mesh, spec);
  for (std::int64_t e = 0; e < n && count > 1; ++e) {
    double exact = 0;
    std::vector<double> all;
    for (std::int64_t p = 0; p < count; ++p)
      exact += value(operand, p * n + e), all.push_back(value(operand, p * n + e));
    EXPECT_EQ(rounded(spec.dtype, added(c.wire, all, random)), exact);
  }
}

// A value is split evenly over the unfinished axes of a spec, and its parts, where that is not the
// result, are added again.
void expect_even(const Case& c, double x, std::mt19937_64& random) {
  for (const Spec& spec : c.op.chain) {
    const std::int64_t count = parts(c.mesh, spec);
    const double part = x / static_cast<double>(count);
    EXPECT_EQ(rounded(spec.dtype, part) * static_cast<double>(count), x);
    if (&spec != &c.op.chain.back()) {
      EXPECT_EQ(added(c.wire, std::vector<double>(count, part), random), x);
    }
  }
}

// What the certificate says, of the data themselves.
void expect_certified(const std::string& line) {
  SCOPED_TRACE(line);
  const Case c = parse_case(line);
  const Certificate cert = certificate(c);
  SCOPED_TRACE(cert.text);
  ASSERT_NE(cert.scope, Scope::none);
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
  const int e = exponent_of(c);
  const double unit_value = std::ldexp(static_cast<double>(unit(c).factor), e);
  std::mt19937_64 random(data_seed(c));
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!is_reshard(c)) expect_sum_of_parts(c, static_cast<int>(i), operands[i], random);
  for (const std::vector<Term>& terms : all_terms(c, operands)) {
    double all = 0;
    std::map<std::int64_t, double> blocks;  // and parts
    for (const Term& t : terms) {
      EXPECT_EQ(std::remainder(t.a * t.b, unit_value), 0);
      all += std::fabs(t.a * t.b);
      blocks[t.block * 4096 + t.part] += t.a * t.b;
    }
    double carried = 0;
    for (auto [block, sum] : blocks) carried += std::fabs(sum);
    EXPECT_LE(all, std::ldexp(static_cast<double>(capacity(c.acc)), e));
    if (cert.scope == Scope::any_split) {
      EXPECT_LE(all, std::ldexp(static_cast<double>(capacity(c.wire)), e));
    }
    EXPECT_LE(carried, std::ldexp(static_cast<double>(capacity({c.wire, result(c).dtype})), e));
    const double want = std::ldexp(static_cast<double>(exact(terms, e)), e);
    if (is_reshard(c)) expect_even(c, want, random);
    for (int turn = 0; turn < 3; ++turn) ASSERT_EQ(computed(c, cert.scope, terms, random), want);
  }
}

TEST(Certificate, HoldsForSumsOfParts) {
  for (const char* dtype : {"f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64"})
    for (const char* mesh : {"x=1", "x=2", "x=3", "x=7", "x=8", "x=40", "x=300"})
      for (int seed : {0, 1}) {
        const std::string d = dtype;
        expect_certified("on " + std::string(mesh) + ": reshard " + d + "[3,2]+x -> " + d +
                         "[3,2] seed=" + std::to_string(seed));
      }
}

TEST(Certificate, HoldsForNarrowWiresAndAccumulators) {
  for (const char* words :
       {"acc=f16", "acc=bf16", "wire=bf16", "wire=f8e5m2", "wire=f16", "acc=f64 wire=f64"}) {
    expect_certified("on x=6: reshard f32[4]+x -> f32[4] " + std::string(words));
    expect_certified("on x=2: einsum mk,kn->mn f32[3,8@x] f32[8@x,3] -> f32[3,3] " + std::string(words));
    expect_certified("on x=5: einsum mk,kn->mn f32[3,40@x] f32[40@x,3] -> f32[3,3] " + std::string(words));
  }
  // Whose units are large already, for they are split among many parts.
  for (const char* line : {
           "on x=64: reshard f32[6] -> f32[6]+x wire=f8e4m3",
           "on x=64: reshard f32[6] -> f32[6]+x acc=f16",
           "on x=64: reshard f16[6] -> f16[6]+x acc=f64 wire=f64",
           "on x=64: einsum mk,kn->mn f32[3,8] f32[8,3] -> f16[3,3]+x wire=f32",
           "on x=64: einsum mk,kn->mn f32[3,8] f32[8,3] -> f32[3,3]+x acc=f16",
           "on x=64: einsum mk,kn->mn f32[3,8] f32[8,3] -> f32[3,3]+x wire=f16",
       })
    expect_certified(line);
}

TEST(Certificate, HoldsWhereTheResultIsUnfinished) {
  for (const char* dtype : {"f8e4m3", "f8e5m2", "f16", "bf16", "f32"})
    for (const char* mesh : {"x=2,y=2", "x=2,y=3", "x=3,y=64", "x=5,y=6"}) {
      const std::string d = dtype;
      const std::string on = "on " + std::string(mesh) + ": ";
      for (const char* arrow :
           {" -> A+y", "+x -> A+y", "+x.y -> A+y", " -> A+x.y", " -> A+y -> A", "+x -> A+y -> A"}) {
        std::string line = on + "reshard A" + arrow;
        for (std::size_t at; (at = line.find('A')) != std::string::npos;) line.replace(at, 1, d + "[5]");
        if (certificate(parse_case(line)).scope != Scope::none) expect_certified(line);
      }
    }
}

// A mean over the same axes once more is of copies of one value, though the first was of parts that were
// drawn.
TEST(Certificate, KnowsThatAChainAveragesAgain) {
  for (const char* line : {
           "on dp=4: reshard f32[8]+avg(dp) -> f32[8] -> f32[8]+avg(dp) -> f32[8@dp] wire=bf16",
           "on dp=4: reshard f64[8]+avg(dp) -> f64[8@dp] -> f64[8]+avg(dp) -> f64[8@dp] wire=bf16",
       }) {
    expect_certified(line);
    EXPECT_NE(certificate(parse_case(line)).text.find("a chain averages 4 copies of a value"),
              std::string::npos);
  }
}

// The parts of an unfinished result are stored in its dtype, though the wire counts further.
TEST(Certificate, KnowsTheDtypeOfAnUnfinishedResult) {
  for (const char* line : {
           "on x=2: einsum mk,kn->mn f32[4,64@x] f32[64@x,4] -> bf16[4,4]+x wire=f32",
           "on x=4: einsum mk,kn->mn bf16[4,64@x] bf16[64@x,4] -> f8e4m3[4,4]+x wire=f32",
           "on x=2,y=2: grouped wgrad f32[64@x,4] f32[64@x,4] sizes=30,34 -> f16[2,4,4]+x wire=f32",
       })
    expect_certified(line);
  const auto scope = [](const char* line) { return certificate(parse_case(line)).scope; };
  EXPECT_EQ(scope("on x=2: einsum mk,kn->mn f32[4,64@x] f32[64@x,4] -> bf16[4,4]+x wire=f32"),
            Scope::this_split);
  EXPECT_EQ(scope("on x=2: einsum mk,kn->mn f32[4,64@x] f32[64@x,4] -> bf16[4,4]+x -> bf16[4,4] wire=f32"),
            Scope::this_split)
      << "on the way, too";
  EXPECT_EQ(scope("on x=2: einsum mk,kn->mn f32[4,64@x] f32[64@x,4] -> f32[4,4]+x"), Scope::any_split);
  EXPECT_EQ(scope("on x=2: einsum mk,kn->mn bf16[4,64@x]~mxfp8 bf16[64@x,4] -> bf16[4,4]+x wire=f32"),
            Scope::none);
  EXPECT_EQ(scope("on x=2: einsum mk,kn->mn bf16[4,64@x]~mxfp8 bf16[64@x,4] -> f32[4,4]+x wire=f32"),
            Scope::any_split);
}

// What is left unfinished along an axis along which no operand is a sum a program cuts as it likes.
TEST(Certificate, HoldsHoweverAProductIsCutThatTheOperandsDoNotCut) {
  for (const char* line : {
           "on z=2: einsum mk,kn->mn bf16[8,8] bf16[8,8] -> bf16[8,8]+z -> bf16[8,8]",
           "on z=2: einsum mk,kn->mn bf16[8,8] bf16[8,8] -> bf16[8,8]+z",
           "on z=3,x=2: einsum mk,kn->mn bf16[8,12@x] bf16[12@x,8] -> bf16[8,8]+x.z -> bf16[8,8]",
           "on z=2: grouped wgrad f32[16,4] f32[16,4] sizes=7,9 -> f16[2,4,4]+z",
           "on z=2: einsum mk,kn->mn f32[8,64] f32[64,8] -> f32[8,8]+z wire=bf16",
       }) {
    expect_certified(line);
    EXPECT_EQ(certificate(parse_case(line)).scope, Scope::any_split) << line;
  }
  // An axis that the operands are cut by, or of one device.
  for (const char* line : {"on z=2: einsum mk,kn->mn bf16[8,8@z] bf16[8@z,8] -> bf16[8,8]+z",
                           "on z=1: einsum mk,kn->mn bf16[8,8] bf16[8,8] -> bf16[8,8]+z"})
    EXPECT_EQ(certificate(parse_case(line)).scope, Scope::this_split) << line;
}

TEST(Certificate, ClaimsNothingOfDataThatAreNotMadeForTheSum) {
  for (const char* line : {
           "on x=2: reshard f32[8]+x -> f32[8] fill=normal",
           // A quantized product has no multiples of three.
           "on x=3: einsum mk,kn->mn bf16[4,96@x]~mxfp8 bf16[96@x,4] -> f32[4,4]+x",
       })
    EXPECT_EQ(certificate(parse_case(line)).scope, Scope::none) << line;
}

// Each of its parts may be the mean itself, and their sum must be exact.
TEST(Certificate, LeavesRoomForAMeanOnTheWay) {
  const Case c = parse_case("on x=5: reshard f32[64] -> f32[64]+avg(x) -> f32[64]");
  ASSERT_EQ(certificate(c).scope, Scope::any_split);
  const Tensor x = fill(c, 0);
  for (std::int64_t i = 0; i < elements(x.shape); ++i)
    EXPECT_EQ(rounded(DType::f32, 5 * value(x, i)), 5 * value(x, i));
}

TEST(Certificate, HoldsForMatmuls) {
  const char* dtypes[][2] = {
      {"f32",    "f32"   },
      {"bf16",   "bf16"  },
      {"bf16",   "f32"   },
      {"f16",    "f16"   },
      {"f8e4m3", "f32"   },
      {"f8e5m2", "bf16"  },
      {"f8e4m3", "f8e4m3"},
      {"f64",    "f64"   },
      {"f8e5m2", "f8e5m2"}
  };
  const char* shapes[][3] = {
      {"3,K",     "K,4",     "3,4"    },
      {"3,K@x",   "K@x,4",   "3,4"    },
      {"3,K@x",   "K@y,4",   "3,4"    },
      {"3,K@x.y", "K,4",     "3,4"    },
      {"3,K@y.x", "K@x.y,4", "3,4"    },
      {"3,K@x",   "K@x,4@y", "3@x,4@y"}
  };
  for (const auto& d : dtypes)
    for (const auto& s : shapes)
      for (int k : {0, 1, 2, 3, 5, 8, 12, 33})
        for (const char* rule : {"", " nested"}) {
          std::string line = std::string("on x=2,y=3: einsum mk,kn->mn ") + d[0] + "[" + s[0] + "] " + d[0] +
                             "[" + s[1] + "] -> " + d[1] + "[" + s[2] + "]" + rule;
          for (std::size_t at; (at = line.find('K')) != std::string::npos;)
            line.replace(at, 1, std::to_string(k));
          expect_certified(line);
        }
}

// Every spec of the operands and the result, sampled.
TEST(Certificate, HoldsForEverySharding) {
  const Mesh mesh = parse_mesh("x=2,y=3,z=2");
  for (DType dtype : {DType::bf16, DType::f32, DType::f8e4m3}) {
    const Choices reshards = all_reshards(mesh, dtype, {5, 4}, true),
                  matmuls = all_matmuls(mesh, dtype, {4, 7, 3});
    for (const Choices* choices : {&reshards, &matmuls})
      for (std::int64_t i = 0; i < 150; ++i) {
        const Case c = nth(*choices, i * 7919 * 13 % count(*choices));
        if (sums(c.op) && certificate(c).scope != Scope::none) expect_certified(print(c));
      }
  }
}

TEST(Certificate, HoldsForOtherEinsums) {
  for (const char* line : {
           "on x=2,y=3: einsum bsh,bsf->hf bf16[4@x,6@y,3] bf16[4@x,6,5] -> f32[3,5]",
           "on x=2,y=3: einsum bsh,bsf->hf bf16[5@x,7@y,3] bf16[5@y,7@x,5] -> bf16[3,5]",
           "on x=2,y=3: einsum sbh,bsf->hf f32[7@y,5@x,3] f32[5@y,7,5] -> f32[3,5]+x",
           "on x=2,y=3: einsum bmk,bkn->bmn bf16[2@x,3,8@y] bf16[2,8,3] -> bf16[2,3,3]",
           "on x=2,y=3: einsum mkb,nbk->bnm f32[2@x,9,4@y] f32[3,4,9@y] -> f32[4,3,2]",
           "on x=2,y=3: einsum mkl,nlk->mn bf16[3,7@x,5] bf16[4,5@y,7] -> bf16[3,4]",
           "on x=2: einsum i,i-> f32[9@x] f32[9@x] -> f32[]",
           "on x=2: einsum k,kn->n bf16[9@x] bf16[9@x,4] -> bf16[4]",
           "on x=2: einsum mk,k->m bf16[4,9@x] bf16[9@x] -> bf16[4]",
           "on x=2: einsum m,n->mn bf16[4@x] bf16[9] -> bf16[4@x,9]",
           "on x=2: einsum m,m->m f16[8@x] f16[8] -> f16[8]",
           "on x=3: einsum mk,kn->mn bf16[4,9@x] bf16[9@x,4] -> bf16[4,4]+x",
           "on x=2,y=2: einsum mk,kn->mn bf16[4,9@x] bf16[9@x,4] -> bf16[4,4]+x -> bf16[4@x,4]",
           "on x=2,y=2: einsum mk,kn->mn bf16[4,9@x] bf16[9@x,4] -> bf16[4,4]+y -> bf16[4@x,4]",
           "on x=2000: einsum mk,kn->mn bf16[2,2000@x] bf16[2000@x,8] -> bf16[2,8]",
           "on x=2: einsum mk,kn->mn bf16[2,600@x] bf16[600@x,8] -> bf16[2,8] acc=bf16",
           "on x=300: einsum mk,kn->mn bf16[2,600@x] bf16[600@x,8] -> bf16[2,8] acc=bf16",
       })
    expect_certified(line);
}

TEST(Certificate, HoldsForUnfinishedOperandsOfProducts) {
  for (const char* line : {
           "on x=2,y=3: einsum mk,kn->mn f32[4,6]+x f32[6,5] -> f32[4,5]",
           "on x=2,y=3: einsum mk,kn->mn f32[4,6] f32[6,5]+y -> f32[4,5]",
           "on x=2,y=3: einsum mk,kn->mn f32[4,7@y]+x f32[7@y,5] -> f32[4,5]",
           "on x=2,y=3: einsum mk,kn->mn bf16[4,7@y]+x bf16[7@y,5]+x -> bf16[4,5]",
           "on x=2,y=3: einsum mk,kn->mn bf16[4,7]+x bf16[7,5]+y -> bf16[4,5]",
           "on x=8,y=40: einsum mk,kn->mn bf16[4,7]+x bf16[7,5]+y -> bf16[4,5]",
           "on x=8,y=40: einsum mk,kn->mn f8e5m2[4,7]+x f8e5m2[7,5]+y -> f8e5m2[4,5]",
           "on x=2,y=3: einsum mk,kn->mn f32[4,6] f32[6,5]+y -> f32[4,5] wire=bf16",
           "on x=2,y=3: einsum mk,kn->mn f32[4,6]+x f32[6,5] -> f32[4,5] wire=f8e4m3",
           "on x=3: einsum mk,kn->mn bf16[2,600]+x bf16[600,8] -> bf16[2,8] acc=bf16",
           "on x=3: einsum mk,kn->mn bf16[2,600] bf16[600,8]+x -> bf16[2,8] acc=bf16",
           "on x=2,y=3: grouped fwd bf16[9,4]+x bf16[2,4,5]+y sizes=3,5 -> bf16[9,5]",
       })
    expect_certified(line);
}

TEST(Certificate, HoldsForGroupedMatmuls) {
  const char* forms[][4] = {
      {"fwd",   "T,6@y",   "3,6,5",   "T,5"  },
      {"fwd",   "T@x,6",   "3,6@y,5", "T@x,5"},
      {"dgrad", "T,6@y",   "3,5,6",   "T,5"  },
      {"wgrad", "T@x,4",   "T@y,5",   "3,4,5"},
      {"wgrad", "T@x.y,4", "T,5",     "3,4,5"},
      {"wgrad", "T,4",     "T,1",     "3,4,1"}
  };
  const char* sizes[][2] = {
      {"12", "5,0,7"      },
      {"12", "1,2,3"      },
      {"12", "12,0,0"     },
      {"12", "3,2,1/0,0,4"},
      {"0",  "0,0,0"      }
  };
  for (const char* dtype : {"bf16", "f32", "f8e4m3"})
    for (const auto& f : forms)
      for (const auto& s : sizes) {
        const std::string d = dtype;
        std::string line = std::string("on x=2,y=3: grouped ") + f[0] + " " + d + "[" + f[1] + "] " + d +
                           "[" + f[2] + "] sizes=" + s[1] + " -> " + d + "[" + f[3] + "]";
        for (std::size_t at; (at = line.find("T")) != std::string::npos;) line.replace(at, 1, s[0]);
        expect_certified(line);
      }
}

// Of drawn lines, whatever their words: no sum of the data, and not all its terms together, is beyond what
// the accumulator, the wire or the result hold.
TEST(Certificate, IsOfDataInTheRangeOfEveryFormat) {
  Random draw{std::mt19937_64(11)};
  int tried = 0;
  for (int i = 0; i < 20000; ++i) {
    const Case c = draw_case(draw);
    if (c.fill != Fill::cancel && c.fill != Fill::scaled) continue;
    if (is_quantize(c) || c.op.operands[0].reduction != Reduce::sum || format(c.acc).integer) continue;
    if (devices(c.mesh) > 200 || elements(result(c)) > 500 || !unit(c).exists) continue;
    double most = HUGE_VAL;
    for (DType dtype : {c.acc, c.wire, result(c).dtype}) most = std::min(most, format(dtype).largest);
    std::vector<Tensor> operands;
    for (int operand = 0; operand < std::ssize(c.op.operands); ++operand)
      operands.push_back(fill(c, operand));
    ++tried;
    for (const std::vector<Term>& terms : all_terms(c, operands)) {
      double all = 0;
      for (const Term& t : terms) all += std::fabs(t.a * t.b);
      ASSERT_LE(all, most) << print(c);
    }
  }
  EXPECT_GT(tried, 2000);
}

// Seen to fail: an accumulator or a wire narrower than what the certificate names.
TEST(Certificate, IsWrongForANarrowerWireOrAccumulator) {
  std::mt19937_64 random(3);
  const struct {
    const char *line, *narrow_acc, *narrow_wire;
  } rows[] = {
      {"on x=8: reshard f32[64]+x -> f32[64]",                                 "f32",  "f16"   },
      {"on x=8: reshard bf16[64]+x -> bf16[64]",                               "f32",  "f8e4m3"},
      {"on x=2: einsum mk,kn->mn f32[8,64@x] f32[64@x,8] -> f32[8,8]",         "f16",  "f32"   },
      {"on x=2: einsum mk,kn->mn f32[8,64@x] f32[64@x,8] -> f32[8,8]",         "f32",  "bf16"  },
      {"on x=2: einsum mk,kn->mn bf16[8,64@x] bf16[64@x,8] -> bf16[8,8]",      "bf16", "bf16"  },
      {"on x=2: einsum mk,kn->mn f8e4m3[8,256@x] f8e4m3[256@x,8] -> f32[8,8]", "bf16", "f32"   },
  };
  for (const auto& row : rows) {
    Case c = parse_case(row.line);
    const Scope scope = certificate(c).scope;
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
    c.acc = *dtype_named(row.narrow_acc), c.wire = *dtype_named(row.narrow_wire);
    int wrong = 0, all = 0;
    for (const auto& terms : all_terms(c, operands)) {
      ++all;
      wrong += computed(c, scope, terms, random) != static_cast<double>(exact(terms, 0));
    }
    EXPECT_GT(wrong, all / 4) << row.line << " acc=" << row.narrow_acc << " wire=" << row.narrow_wire;
    RecordProperty(row.line, std::to_string(wrong) + "/" + std::to_string(all));
  }
}

}  // namespace
}  // namespace plumb
