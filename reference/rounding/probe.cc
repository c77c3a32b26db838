#include "reference/rounding/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace plumb {
namespace {

// Within a block of every size that there is, at its edges, and in blocks far apart.
constexpr std::int64_t kPlaces[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 47, 63};
constexpr int kFewestBits = 6, kMostBits = 27;

double largest_term(DType dtype) {
  const int most = format(dtype).max_exponent;
  return most < 20 ? std::ldexp(1, std::min(most, 13)) : 1;
}

double in_f32(double x) { return static_cast<float>(x); }
double rounded(DType dtype, double x) { return decode(dtype, encode(dtype, x)); }

// Which sum it is: of a large term and one so many bits below it; or of what remains of the small one once
// the large one was taken away again.
bool cancels(const FewTerms& sum) { return sum.terms.size() == 3; }

double exact(const FewTerms& sum) {
  double all = 0;
  for (const auto& [at, value] : sum.terms) all += value;
  return all;
}

// In every order of two or three terms, one rounding a term.
bool rounds_each(const FewTerms& sum, DType result, double got) {
  const auto is = [&](double f32) { return got == rounded(result, f32); };
  if (!cancels(sum)) return is(in_f32(exact(sum)));
  const double a = sum.terms[0].value, b = sum.terms[1].value, c = sum.terms[2].value;
  return is(in_f32(in_f32(a + b) + c)) || is(in_f32(a + in_f32(b + c))) || is(in_f32(in_f32(a + c) + b));
}

// Aligned to the largest and truncated at so many bits below it, and so is the sum.
bool truncates_at(int bits, const FewTerms& sum, DType result, double got) {
  const double error = std::ldexp(std::fabs(sum.terms[0].value), -bits);
  return rounded(result, exact(sum) - error) <= got && got <= rounded(result, exact(sum) + error);
}

constexpr int bits_of(Engine engine) { return engine == Engine::matrix_f8 ? 13 : 23; }

bool allows(Engine engine, const FewTerms& sum, DType result, double got) {
  return engine == Engine::ieee ? rounds_each(sum, result, got)
                                : truncates_at(bits_of(engine), sum, result, got);
}

// How many bits below the largest a small term may be and is still seen beside it, next to it; and how many
// terms, from the first on, are aligned to a large one.
struct Seen {
  bool nearest = true;
  int fraction = 0;
  std::int64_t together = 0;
};

Seen seen(const std::vector<FewTerms>& all, DType result, const std::vector<double>& sums) {
  Seen s;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& terms = all[i].terms;
    s.nearest &= (result == DType::f32 && cancels(all[i])) || rounds_each(all[i], result, sums[i]);
    if (!cancels(all[i]) || terms[0].at != 0 || terms[1].at != 1) continue;
    const int bits = std::ilogb(terms[0].value) - std::ilogb(terms[2].value);
    if (terms[2].at == 2 && sums[i] != 0) s.fraction = std::max(s.fraction, bits);
    if (bits == kMostBits && sums[i] == 0) s.together = std::max(s.together, terms[2].at + 1);
  }
  return s;
}

std::string in_words(const Seen& s) {
  if (s.nearest) return "sums of two are rounded to the nearest";
  if (s.fraction == 0) return "sums are not rounded to the nearest";
  const std::string aligned =
      s.together ? fmt::format("of {} terms or more, aligned to the largest", s.together) : "one by one";
  return fmt::format("sums are truncated, {}: {} bits below the largest {} seen", aligned, s.fraction,
                     s.fraction == kMostBits ? "or more are" : "are");
}

}  // namespace

namespace {

// A large term and one so small a part of it; or what is left of the small one beside the large one and its negative.
FewTerms beside(std::int64_t i, std::int64_t j, double large, double part) {
  return {{{i, large}, {j, large * part}}};
}
FewTerms left_beside(std::int64_t i, std::int64_t k, double large, double part) {
  std::int64_t j = i + 1 < kProbeTerms ? i + 1 : i - 1;
  if (j == k) j = i > 0 && i - 1 != k ? i - 1 : i + 2;
  return {{{i, large}, {j, -large}, {k, large * part}}};
}

// One and three quarters of a unit so many bits below: lost where there are no more, seen where there is one more.
double a_bit_below(int bits) { return std::ldexp(1.75, -bits); }

// Half a unit and a quarter more than the last bit of f32: rounded up by who rounds to the nearest, on both sides of zero,
// cut off by who truncates. Less than half a unit: rounded up by who rounds away from zero.
constexpr double kMoreThanHalf = 1.5 * 0x1p-24;
constexpr int kLessThanHalf = 25;

// What tells the rows of the model apart: an engine that loses what lies so many bits below the largest loses what
// lies lower as well.
std::vector<FewTerms> telling(double most) {
  std::vector<FewTerms> all;
  for (std::int64_t i : kPlaces)
    for (std::int64_t j : kPlaces) {
      if (i == j) continue;
      for (double sign : {1.0, -1.0}) all.push_back(beside(i, j, sign * most, kMoreThanHalf));
      for (int bits : {bits_of(Engine::matrix_f8), bits_of(Engine::matrix), kLessThanHalf})
        all.push_back(beside(i, j, most, a_bit_below(bits)));
    }
  for (std::int64_t i : kPlaces)
    for (std::int64_t k = 0; k < kProbeTerms; ++k) {
      const bool among = std::ranges::find(kPlaces, k) != std::end(kPlaces);
      if (k == i || (i != 0 && !among)) continue;
      all.push_back(left_beside(i, k, most, kMoreThanHalf));
      for (int bits : {bits_of(Engine::matrix_f8), bits_of(Engine::matrix)})
        all.push_back(left_beside(i, k, most, a_bit_below(bits)));
    }
  return all;
}

// What is said of an engine: how many bits below the first two terms the third sees, and how many terms are aligned with
// the first.
std::vector<FewTerms> said(double most) {
  std::vector<FewTerms> all;
  for (int bits = kFewestBits; bits < kMostBits; ++bits)
    all.push_back(left_beside(0, 2, most, a_bit_below(bits)));
  for (std::int64_t k = 2; k < kProbeTerms; ++k) all.push_back(left_beside(0, k, most, a_bit_below(kMostBits)));
  return all;
}

}  // namespace

std::vector<FewTerms> probes(DType dtype) {
  std::vector<FewTerms> all = telling(largest_term(dtype));
  for (FewTerms& one : said(largest_term(dtype))) all.push_back(std::move(one));
  std::erase_if(all, [&](const FewTerms& sum) {
    return std::ranges::any_of(sum.terms, [&](const auto& t) { return rounded(dtype, t.value) != t.value; });
  });
  return all;
}

Tensor probe_rows(DType dtype) {
  const std::vector<FewTerms> all = probes(dtype);
  Tensor rows = zeros(dtype, {std::ssize(all), kProbeTerms});
  const int width = format(dtype).bytes;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& [at, value] : all[i].terms) {
      const std::uint64_t bits = encode(dtype, value);
      assert(decode(dtype, bits) == value);
      store(dtype, rows.bytes.data() + (static_cast<std::int64_t>(i) * kProbeTerms + at) * width, bits);
    }
  return rows;
}

Probed probed(const std::vector<FewTerms>& all, DType result, const std::vector<double>& sums) {
  assert(all.size() == sums.size());
  const std::string text = in_words(seen(all, result, sums));
  for (const EngineModel& row : kEngines) {
    bool allowed = true;
    for (std::size_t i = 0; i < all.size() && allowed; ++i) allowed = allows(row.engine, all[i], result, sums[i]);
    if (allowed) return {row.engine, text};
  }
  return {std::nullopt, text};
}

}  // namespace plumb
