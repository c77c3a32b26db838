// Exact data must be able to fail. Here common faults are planted in the sums of a case, and the share of
// elements of the result that change is measured.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "reference/fill/fill.h"
#include "reference/fill/product.h"
#include "reference/fill/testing/sums.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Terms = std::vector<Term>;
using Fault = std::function<double(const Terms&)>;

double round_to_digits(double x, int digits) {
  if (x == 0) return 0;
  const double unit = std::ldexp(1.0, std::ilogb(x) + 1 - digits);
  return std::nearbyint(x / unit) * unit;
}

double sum(const Terms& terms) {
  double all = 0;
  for (const Term& t : terms) all += t.a * t.b;
  return all;
}

std::map<std::int64_t, Terms> by_block(const Terms& terms) {
  std::map<std::int64_t, Terms> blocks;
  for (const Term& t : terms) blocks[t.block].push_back(t);
  return blocks;
}

// A position that all elements of a result have in common: one device's fault, not an element's.
std::int64_t middle(const Terms& terms) { return terms[terms.size() / 2].position; }
std::int64_t middle_block(const Terms& terms) { return terms[terms.size() / 2].block; }

double drop_a_term(const Terms& terms) {
  Terms left = terms;
  std::erase_if(left, [&](const Term& t) { return t.position == middle(terms); });
  return sum(left);
}

double drop_a_device(const Terms& terms) {
  Terms left = terms;
  std::erase_if(left, [&](const Term& t) { return t.block == middle_block(terms); });
  return sum(left);
}

// One device's sum arrives twice, its neighbour's not at all.
double twice_and_never(const Terms& terms) {
  const auto blocks = by_block(terms);
  const auto second = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(blocks.size() / 2));
  return sum(terms) + sum(std::prev(second)->second) - sum(second->second);
}

double shift_a(const Terms& terms) {  // the left operand is off by one in one block
  auto blocks = by_block(terms);
  Terms& block = blocks[middle_block(terms)];
  double got = sum(terms) - sum(block);
  for (std::size_t i = 0; i < block.size(); ++i) got += block[(i + 1) % block.size()].a * block[i].b;
  return got;
}

Fault accumulator(int digits) {
  return [=](const Terms& terms) {
    double all = 0;
    for (const auto& [block, own] : by_block(terms)) {
      double acc = 0;
      for (const Term& t : own) acc = round_to_digits(acc + t.a * t.b, digits);
      all += acc;
    }
    return all;
  };
}

Fault wire(int digits) {
  return [=](const Terms& terms) {
    double all = 0;
    for (const auto& [block, own] : by_block(terms)) all = round_to_digits(all + sum(own), digits);
    return all;
  };
}

// The operands, rounded to so many digits.
Fault narrowed(int left, int right) {
  return [=](const Terms& terms) {
    double all = 0;
    for (const Term& t : terms) all += round_to_digits(t.a, left) * round_to_digits(t.b, right);
    return all;
  };
}
Fault inputs(int digits) { return narrowed(digits, digits); }

// What a line computes is worked out once, that of the latest lines.
struct Sums {
  DType out;
  std::vector<Terms> elements;
};
const Sums& sums_of(const std::string& line) {
  static std::map<std::string, Sums> known;
  if (known.size() > 20) known.clear();
  const auto [at, fresh] = known.try_emplace(line);
  if (!fresh) return at->second;
  const Case c = parse_case(line);
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
  return at->second = {result(c).dtype, all_terms(c, operands)};
}

// The share of elements that change.
double seen(const std::string& line, const Fault& fault) {
  const Sums& sums = sums_of(line);
  const auto changed = std::ranges::count_if(sums.elements, [&](const Terms& terms) {
    return rounded(sums.out, fault(terms)) != rounded(sums.out, sum(terms));
  });
  return static_cast<double>(changed) / static_cast<double>(sums.elements.size());
}

const char* kMatmuls[] = {
    "on x=64: einsum mk,kn->mn bf16[8,4096@x] bf16[4096@x,8] -> bf16[8,8]",
    "on x=8: einsum mk,kn->mn bf16[8,4096@x] bf16[4096@x,8] -> bf16[8,8]",
    "on x=8: einsum mk,kn->mn bf16[32,64@x] bf16[64@x,32] -> f32[32,32]",
    "on x=8: einsum mk,kn->mn f32[8,1024@x] f32[1024@x,8] -> f32[8,8]",
    "on x=8: einsum mk,kn->mn f32[32,9@x] f32[9@x,32] -> f32[32,32]",
    "on x=4: einsum mk,kn->mn f8e4m3[32,256@x] f8e4m3[256@x,32] -> f32[32,32]",
    "on x=2,y=2: einsum bsh,bsf->hf bf16[8@x,16@y,16] bf16[8@x,16@y,16] -> f32[16,16]",
    "on x=4: grouped wgrad bf16[64@x,16] bf16[64@x,16] sizes=30,34 -> f32[2,16,16]",
    "on x=4: grouped fwd bf16[64,64@x] bf16[2,64@x,16] sizes=50,14 -> bf16[64,16]",
};

TEST(Sensitivity, EveryElementSeesALostTermOrDevice) {
  for (const char* line : kMatmuls) {
    EXPECT_EQ(seen(line, drop_a_term), 1) << line;
    EXPECT_EQ(seen(line, drop_a_device), 1) << line;
  }
  for (const char* line :
       {"on x=4: reshard f8e5m2[512]+x -> f8e5m2[512]", "on x=8: reshard bf16[512]+x -> bf16[512]",
        "on x=200: reshard bf16[512]+x -> bf16[512]", "on x=64: reshard f32[512]+x -> f32[512]"})
    EXPECT_EQ(seen(line, drop_a_device), 1) << line;
}

// With more parts than the wire counts to, a part is nonzero in as many elements as it can be.
TEST(Sensitivity, ARotatingSubsetSeesALostDevice) {
  const struct {
    const char* line;
    double share;
  } rows[] = {
      {"on x=1024: reshard bf16[4096]+x -> bf16[4096]",                                256.0 / 1024},
      {"on x=32: reshard f8e5m2[4096]+x -> f8e5m2[4096]",                              8.0 / 32    },
      {"on x=1024: einsum mk,kn->mn bf16[4,1024@x] bf16[1024@x,1024] -> bf16[4,1024]", 256.0 / 1024}
  };
  for (const auto& row : rows) {
    const double n = static_cast<double>(shape(result(parse_case(row.line))).back()), p = row.share;
    EXPECT_LT(std::fabs(seen(row.line, drop_a_device) - p), 6 * std::sqrt(p * (1 - p) / n)) << row.line;
  }
}

TEST(Sensitivity, PartsOfAnElementDiffer) {
  for (const char* line :
       {"on x=4: reshard f8e4m3[512]+x -> f8e4m3[512]", "on x=20: reshard bf16[512]+x -> bf16[512]",
        "on x=64: reshard f32[512]+x -> f32[512]"})
    EXPECT_EQ(seen(line, twice_and_never), 1) << line;
}

// Rows that meet the weights of another group.
TEST(Sensitivity, TheWrongExpertIsSeen) {
  const Case c = parse_case("on x=2: grouped fwd bf16[64,32@x] bf16[3,32@x,16] sizes=20,24,20 -> f32[64,16]");
  const std::vector<Tensor> right = {fill(c, 0), fill(c, 1)};
  std::vector<Tensor> wrong = right;
  std::rotate(wrong[1].bytes.begin(), wrong[1].bytes.begin() + 32 * 16 * 2, wrong[1].bytes.end());
  const std::vector<Terms> want = all_terms(c, right), got = all_terms(c, wrong);
  int changed = 0;
  for (std::size_t i = 0; i < want.size(); ++i) changed += sum(want[i]) != sum(got[i]);
  EXPECT_EQ(changed, 64 * 16);
}

// The least shares of elements in percent, by the matmuls above, rounded down from what was measured. 0
// where the data cannot tell: nothing exceeds 14 bits, the wire is bf16, the inputs have few digits, the
// blocks are of one term.
TEST(Sensitivity, WrongArithmeticIsSeen) {
  const struct {
    const char* name;
    Fault fault;
    double least[9];
  } rows[] = {
      {"one device twice, its neighbour never", twice_and_never, {87, 95, 99, 100, 100, 96, 99, 99, 98}    },
      {"left operand off by one",               shift_a,         {100, 100, 100, 100, 0, 99, 100, 100, 100}},
      {"bf16 accumulator",                      accumulator(8),  {100, 100, 99, 100, 100, 94, 100, 100, 99}},
      {"14-bit accumulator",                    accumulator(14), {18, 100, 93, 100, 98, 0, 98, 93, 93}     },
      {"bf16 wire",                             wire(8),         {0, 0, 55, 98, 100, 0, 36, 20, 0}         },
      {"inputs of 11 digits",                   inputs(11),      {0, 0, 0, 92, 99, 0, 0, 0, 0}             },
      {"inputs of 4 digits",                    inputs(4),       {100, 98, 99, 100, 100, 0, 100, 99, 99}   },
  };
  for (const auto& row : rows)
    for (int i = 0; i < 9; ++i) {
      const double percent = 100 * seen(kMatmuls[i], row.fault);
      EXPECT_GE(percent, row.least[i]) << row.name << ": " << kMatmuls[i];
    }
}

double cut_to_digits(double x, int digits) {
  if (x == 0) return 0;
  const double unit = std::ldexp(1.0, std::ilogb(x) + 1 - digits);
  return std::trunc(x / unit) * unit;
}

// The operands, cut off after so many digits.
Fault cut(int left, int right) {
  return [=](const Terms& terms) {
    double all = 0;
    for (const Term& t : terms) all += cut_to_digits(t.a, left) * cut_to_digits(t.b, right);
    return all;
  };
}

// However many terms there are. Of either operand half of the columns see it, an accumulator's bit some.
TEST(Sensitivity, NarrowArithmeticIsSeenInProductsOfThousandsOfTerms) {
  const struct {
    const char* line;
    int left, right, sum;
  } rows[] = {
      {"on x=2: einsum mk,kn->mn f32[8,2048@x] f32[2048@x,8] -> f32[8,8]",                  24, 24, 24},
      {"on x=2: einsum mk,kn->mn f32[8@x,4096] f32[4096,8] -> f32[8@x,8]",                  24, 24, 24},
      {"on x=16: einsum mk,kn->mn f32[8,5000@x] f32[5000@x,8] -> f32[8,8]",                 24, 24, 24},
      {"on x=2: einsum mk,kn->mn f32[8,2048@x] f32[2048@x,8] -> bf16[8,8]",                 23, 23, 23},
      {"on x=2: einsum km,kn->mn f32[2048@x,16] bf16[2048@x,6] -> f32[16,6]",               24, 8,  24},
      {"on x=2: grouped wgrad f32[4096@x,8] f32[4096@x,8] sizes=2100,0,1900 -> f32[3,8,8]", 24, 24, 24},
      {"on x=2: grouped fwd f32[16@x,2048] f32[2,2048,8] sizes=9,7 -> f32[16@x,8]",         24, 24, 24},
      {"on x=2: einsum mk,kn->mn bf16[8,2048@x] bf16[2048@x,8] -> bf16[8,8]",               8,  8,  20},
      {"on x=2: einsum mk,kn->mn f64[8,2048@x] f64[2048@x,8] -> f64[8,8]",                  53, 53, 53},
  };
  for (const auto& row : rows)
    for (int seed : {0, 1}) {
      const std::string line = fmt::format("{} seed={}", row.line, seed);
      const std::optional<Shown> shown = certificate(parse_case(line)).shown;
      ASSERT_TRUE(shown) << line;
      EXPECT_EQ(std::tuple(shown->operand[0], shown->operand[1], shown->sum),
                std::tuple(row.left, row.right, row.sum))
          << line;
      EXPECT_GE(seen(line, narrowed(row.left - 1, 60)), 0.3) << line;
      EXPECT_GE(seen(line, narrowed(60, row.right - 1)), 0.3) << line;
      EXPECT_GE(seen(line, cut(row.left - 1, 60)), 0.3) << line;
      EXPECT_GE(seen(line, cut(60, row.right - 1)), 0.3) << line;
      EXPECT_GE(seen(line, accumulator(row.sum - 1)), 0.3) << line;
      if (row.left == 24) {
        EXPECT_GE(seen(line, inputs(11)), 0.6) << line;  // a group may be empty
      }
    }
}

// What the certificate says that is seen: one bit less of either operand, or of the accumulator, changes some
// result.
TEST(Sensitivity, OneBitLessThanCertifiedIsSeen) {
  int said = 0;
  for (const char* dtype : {"f32", "bf16", "f16", "f8e4m3", "f64"})
    for (const char* shape : {"M,K@a K@a,N", "M,K K,N", "M@a,K K,N"})
      for (int a : {2, 3, 5})
        for (int m : {1, 4, 16})
          for (int k : {1, 2, 3, 4, 5, 7, 12, 20, 33, 64})
            for (int n : {1, 3, 16})
              for (int seed : {0, 1, 2, 3}) {
                std::string words = shape;
                const auto put = [&](char letter, int size) {
                  for (std::size_t at; (at = words.find(letter)) != words.npos;)
                    words.replace(at, 1, std::to_string(size));
                };
                put('M', m), put('K', k), put('N', n);
                const std::string d = dtype, left = words.substr(0, words.find(' ')),
                                  right = words.substr(words.find(' ') + 1);
                const std::string line =
                    fmt::format("on a={}: einsum mk,kn->mn {}[{}] {}[{}] -> {}[{},{}] seed={}", a, d, left, d,
                                right, d == "f8e4m3" ? "f32" : d, m, n, seed);
                const Product p = product_data(parse_case(line));
                const ProductBudget w = p.budget;
                const bool turned = p.perturbed == 0;
                const int l = turned ? w.perturbed_bits : w.plain_bits;
                const int r = turned ? w.plain_bits : w.perturbed_bits;
                said += w.term_bits > 1;
                if (l > 1) {
                  EXPECT_GT(seen(line, narrowed(l - 1, 60)), 0) << "left " << l << ": " << line;
                }
                if (r > 1) {
                  EXPECT_GT(seen(line, narrowed(60, r - 1)), 0) << "right " << r << ": " << line;
                }
                if (w.term_bits > 1) {
                  EXPECT_GT(seen(line, accumulator(w.term_bits - 1)), 0)
                      << "sum " << w.term_bits << ": " << line;
                }
              }
  EXPECT_GT(said, 1000);
}

}  // namespace
}  // namespace plumb
