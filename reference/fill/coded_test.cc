// Exact data of quantized products are exact however a backend uses the scales: codes times scales rounded to
// the accumulate type, or sums of codes scaled afterwards, the terms dealt and added in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reference/fill/fill.h"
#include "reference/fill/testing/sums.h"
#include "reference/fill/testing/tile.h"
#include "reference/words/letters.h"
#include "reference/words/testing/draw_case.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

using Scope = Certificate::Scope;

// By the grammar's page: max / amax in f32 and its inverse, or the smallest power of two that clips nothing.
struct Scales {
  float of_values = 1, of_codes = 1;
};
Scales scales_of(Scheme scheme, double amax) {
  const double most = format(codes_of(scheme)).largest;
  if (amax == 0) return {};
  if (!in_blocks(scheme)) {
    const float scale = static_cast<float>(most) / static_cast<float>(amax);
    return {scale, 1 / scale};
  }
  int e = -127;
  while (std::ldexp(most, e) < amax) ++e;
  return {std::ldexp(1.0f, -e), std::ldexp(1.0f, e)};
}

// An operand as f64: quantized and used again, its codes times their scales in f32.
Tensor used(const Case& c, int operand) {
  const Spec& spec = c.op.operands[operand];
  const Tensor x = fill(c, operand);
  Tensor y = zeros(DType::f64, x.shape);
  std::vector<double> values(elements(x.shape));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(x, i);
  if (spec.scheme != Scheme::none) {
    const Tiles t = *tiles(c.op, operand);
    const DType codes = codes_of(spec.scheme);
    const double most = format(codes).largest;
    std::map<std::int64_t, double> amax;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const std::int64_t tile = tile_of(t, x.shape, i); tile >= 0)
        amax[tile] = std::max(amax[tile], std::fabs(values[i]));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t tile = tile_of(t, x.shape, i);
      const Scales s = scales_of(spec.scheme, tile < 0 ? 0 : amax[tile]);
      const float scaled = static_cast<float>(values[i]) * s.of_values;
      const double code = rounded(codes, std::clamp<double>(scaled, -most, most));
      EXPECT_TRUE(tile < 0 || code * s.of_codes == static_cast<double>(static_cast<float>(code) * s.of_codes))
          << code << " * " << s.of_codes << " rounds";
      values[i] = tile < 0 ? 0 : code * s.of_codes;
    }
  }
  encode(DType::f64, values.data(), std::ssize(values), y.bytes.data());
  return y;
}

double total(const std::vector<Term>& terms) {
  double sum = 0;
  for (const Term& t : terms) sum += t.a * t.b;
  return sum;
}

// Whether the operands split what is summed, or the result is a sum.
bool splits(const Case& c) {
  bool split = false;
  for (int i : {0, 1}) {
    split = split || parts(c.mesh, c.op.operands[i]) > 1;
    for (int d : contracted_dims(c.op, i))
      split = split || axes_size(c.mesh, c.op.operands[i].dims[d].axes) > 1;
  }
  for (const Spec& spec : c.op.chain) split = split || parts(c.mesh, spec) > 1;
  return split;
}

// The terms added on some devices, in acc, and these sums, where there are several, on the wire.
double computed(const Case& c, std::uint64_t count, const std::vector<Term>& terms, std::mt19937_64& random) {
  std::map<std::uint64_t, std::vector<double>> devices;
  for (const Term& t : terms) devices[random() % count].push_back(t.a * t.b);
  if (count == 1) return rounded(result(c).dtype, added(c.acc, std::move(devices[0]), random));
  std::vector<double> sums;
  for (auto& [device, products] : devices)
    sums.push_back(rounded(c.wire, added(c.acc, std::move(products), random)));
  return rounded(result(c).dtype, added(c.wire, std::move(sums), random));
}

// What the certificate of a quantized product says, of the data. Whether it says anything.
bool certified(const std::string& line, std::mt19937_64& random) {
  SCOPED_TRACE(line);
  const Case c = parse_case(line);
  const Certificate proof = certificate(c);
  if (proof.scope == Scope::none) return false;
  SCOPED_TRACE(proof.text);
  EXPECT_TRUE(proof.scope == Scope::any_split || !splits(c));
  const std::vector<Tensor> operands{used(c, 0), used(c, 1)};
  for (const std::vector<Term>& terms : all_terms(c, operands)) {
    const double want = rounded(result(c).dtype, total(terms));
    EXPECT_TRUE(std::isfinite(want));
    for (const std::uint64_t count : {1, 2, 5}) {
      if (count > 1 && proof.scope != Scope::any_split) break;
      EXPECT_EQ(computed(c, count, terms, random), want);
    }
  }
  return true;
}

TEST(QuantizedProducts, AreExactWhereTermsAreFew) {
  std::mt19937_64 random(1);
  for (const char* scheme : {"fp8", "fp8e5", "mxfp8", "mxfp8e5"})
    for (const char* line : {
             "on ep=2: einsum mk,kn->mn bf16[8,1]~S bf16[1,6]~S -> f32[8,6@ep]",
             "on ep=2: einsum mk,kn->mn bf16[8,1] bf16[1,6]~S -> f32[8,6@ep]",
             "on ep=2: einsum bsh,bsf->hf bf16[3,1,4]~S bf16[3,1,6]~S -> f32[4,6@ep]",
             "on ep=2: einsum m,n->mn bf16[8]~fp8 bf16[6]~fp8 -> f32[8,6@ep]",
             "on ep=2: grouped wgrad bf16[64@ep,8]~S bf16[64@ep,6]~S sizes=33,1 -> f32[2,8,6]",
             "on ep=2: grouped wgrad bf16[64@ep,8]~S bf16[64@ep,6]~S sizes=1,1,30/0,1,7 -> f32[3,8,6]",
         })
      for (int seed = 0; seed < 8; ++seed) {
        std::string words = line;
        for (std::size_t at; (at = words.find("~S")) != words.npos;) words.replace(at + 1, 1, scheme);
        EXPECT_TRUE(certified(words + " seed=" + std::to_string(seed), random)) << words;
      }
}

// An operand in parts beside one that is quantized: its parts, and their sums, are sent before they are
// multiplied, so that each is a normal number of the wire. Of f16 the one that is quantized cannot be made
// small enough for sums in 8 bits: the other takes what is left.
TEST(QuantizedProducts, HavePartsThatTheWireHolds) {
  for (const char* scheme : {"fp8", "mxfp8", "mxfp8e5"})
    for (const char* quantized : {"f16", "bf16", "f32"})
      for (const char* in_parts : {"f8e5m2", "bf16"})
        for (const char* wire : {"f8e4m3", "f16", "f32"})
          for (const int depth : {32, 2048}) {
            const std::string k = std::to_string(depth);
            const Case c =
                parse_case("on x=2: einsum mk,kn->mn " + std::string(quantized) + "[2," + k + "]~" + scheme +
                           " " + in_parts + "[" + k + ",2]+x -> f32[2,2] wire=" + wire);
            const Tensor x = fill(c, 1);
            const double least = std::ldexp(1.0, format(c.wire).min_exponent);
            for (std::int64_t i = 0, n = std::int64_t{2} * depth; i < n; ++i)
              for (const double v : {value(x, i), value(x, i + n), value(x, i) + value(x, i + n)})
                ASSERT_TRUE(rounded(c.wire, v) == v && (v == 0 || std::fabs(v) >= least))
                    << print(c) << ": " << v;
          }
}

TEST(QuantizedProducts, AreExactWhereTheirCertificatesSaySo) {
  Random draw{std::mt19937_64(7)};
  std::mt19937_64 random(2);
  int said = 0;
  for (int i = 0; i < 40000; ++i) {
    const Case c = draw_case(draw);
    if (!quantizes(c.op) || is_quantize(c) || c.fill != Fill::scaled || result(c).free) continue;
    if (devices(c.mesh) > 200 || elements(result(c)) > 2000) continue;
    said += certified(print(c), random);
  }
  EXPECT_GT(said, 500);
}

// The format of the fewest digits in which a sum lies on its way or at its end.
DType narrowest(const Case& c) {
  DType least = c.wire;
  for (const Spec& spec : c.op.chain)
    if (format(spec.dtype).digits < format(least).digits) least = spec.dtype;
  return least;
}

// Whether a device has the term at a flat contracted index, as both operands lie.
bool has_term(const Case& c, std::int64_t device, std::int64_t position) {
  const std::vector<int> left = contracted_dims(c.op, 0), right = contracted_dims(c.op, 1);
  for (std::size_t l = left.size(); l-- > 0;) {
    const Dim &a = c.op.operands[0].dims[left[l]], &b = c.op.operands[1].dims[right[l]];
    const std::int64_t at = position % a.size;
    position /= a.size;
    for (const Dim* dim : {&a, &b}) {
      const Range mine = piece(c.mesh, *dim, c.rule, coordinate(c.mesh, dim->axes, device));
      if (at < mine.begin || at >= mine.end) return false;
    }
  }
  return true;
}

// Of how many elements a device adds to, all are the same without it; 0 where one is not.
std::int64_t unseen(const Case& c, const std::vector<std::vector<Term>>& all, std::int64_t device) {
  const DType dtype = narrowest(c);
  std::int64_t count = 0;
  for (const std::vector<Term>& terms : all) {
    std::vector<Term> others;
    for (const Term& t : terms)
      if (!has_term(c, device, t.position)) others.push_back(t);
    count += others.size() < terms.size();
    if (rounded(dtype, total(terms)) != rounded(dtype, total(others))) return 0;
  }
  return count;
}

// What no format of the sums tells apart beside the large values of other devices would be lost unseen: not
// by chance, of few elements.
TEST(QuantizedProducts, HaveNoShareThatIsRoundedAwayEverywhere) {
  Random draw{std::mt19937_64(11)};
  std::int64_t tried = 0;
  for (int i = 0; i < 60000; ++i) {
    const Case c = draw_case(draw);
    if (!quantizes(c.op) || is_quantize(c) || c.fill != Fill::scaled) continue;
    if (devices(c.mesh) > 64 || elements(result(c)) > 2000) continue;
    const auto all = all_terms(c, {used(c, 0), used(c, 1)});
    for (std::int64_t d = 0; d < devices(c.mesh); ++d, ++tried)
      EXPECT_LT(unseen(c, all, d), 10) << print(c) << ": device " << d;
  }
  EXPECT_GT(tried, 20000);
}

}  // namespace
}  // namespace plumb
