#include "reference/rounding/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace plumb {
namespace {

// Within a block of every size that there is, at its edges, and in blocks far apart.
constexpr std::int64_t kPlaces[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 47, 63};
constexpr int kFewestBits = 6, kMostBits = 27;

double largest_term(DType dtype) { return format(dtype).max_exponent < 20 ? 0x1p13 : 1; }

// Which sum it is: of a large term and one so many bits below it; or of what remains of the small one once
// the large one was taken away again.
bool cancels(const FewTerms& sum) { return sum.terms.size() == 3; }

double exact(const FewTerms& sum) {
  double all = 0;
  for (const auto& [at, value] : sum.terms) all += value;
  return all;
}

double in_f32(double x) { return static_cast<float>(x); }

// In every order of two or three terms, one rounding a term.
bool rounds_each(const FewTerms& sum, double got) {
  if (!cancels(sum)) return got == in_f32(exact(sum));
  const double a = sum.terms[0].value, b = sum.terms[1].value, c = sum.terms[2].value;
  return got == in_f32(in_f32(a + b) + c) || got == in_f32(a + in_f32(b + c)) ||
         got == in_f32(in_f32(a + c) + b);
}

// Aligned to the largest and truncated at so many bits below it, and so is the sum.
bool truncates_at(const FewTerms& sum, double got, int bits) {
  const double error = exact(sum) - got, largest = std::fabs(sum.terms[0].value);
  return std::fabs(error) < std::ldexp(largest, -bits);
}

bool allows(Engine engine, const FewTerms& sum, double got) {
  if (engine == Engine::ieee) return rounds_each(sum, got);
  return truncates_at(sum, got, engine == Engine::matrix ? 23 : 13);
}

// How many bits below the largest a small term may be and is still seen beside it, next to it; and how many
// terms, from the first on, are aligned to a large one.
struct Seen {
  bool nearest = true;
  int fraction = 0;
  std::int64_t together = 0;
};

Seen seen(const std::vector<FewTerms>& all, const std::vector<double>& sums) {
  Seen s;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& terms = all[i].terms;
    s.nearest &= cancels(all[i]) || sums[i] == in_f32(exact(all[i]));
    if (!cancels(all[i]) || terms[0].at != 0 || terms[1].at != 1) continue;
    const int bits = std::ilogb(terms[0].value) - std::ilogb(terms[2].value);
    if (terms[2].at == 2 && sums[i] != 0) s.fraction = std::max(s.fraction, bits);
    if (bits == kMostBits && sums[i] == 0) s.together = std::max(s.together, terms[2].at + 1);
  }
  return s;
}

std::string in_words(const Seen& s) {
  if (s.nearest) return "sums of two are rounded to the nearest";
  const std::string aligned =
      s.together ? fmt::format("of {} terms or more, aligned to the largest", s.together) : "one by one";
  return fmt::format("sums are truncated, {}: {} bits below the largest {} seen", aligned, s.fraction,
                     s.fraction == kMostBits ? "or more are" : "are");
}

}  // namespace

// Of every two places, either way round: what is one and three quarters of a unit so many bits below is lost
// where there are no more; half a unit and a quarter more than the last bit of f32 is rounded up by who
// rounds to nearest, on both sides of zero, and cut off by who truncates.
std::vector<FewTerms> probes(DType dtype) {
  const double most = largest_term(dtype);
  std::vector<FewTerms> all;
  for (std::int64_t i : kPlaces)
    for (std::int64_t j : kPlaces) {
      if (i == j) continue;
      for (double sign : {1.0, -1.0})
        all.push_back({
            {{i, sign * most}, {j, sign * most * 1.5 * 0x1p-24}}
        });
      for (int bits = kFewestBits; bits < kMostBits; ++bits)
        all.push_back({
            {{i, most}, {j, most * std::ldexp(1.75, -bits)}}
        });
    }
  for (std::int64_t i : kPlaces)
    for (std::int64_t k = 0; k < kProbeTerms; ++k) {
      const std::int64_t j = i + 1 < kProbeTerms ? i + 1 : i - 1;
      if (k == i || k == j) continue;
      for (int bits : {8, 10, 12, 13, 14, 22, 23, 24, 25, 26, kMostBits})
        all.push_back({
            {{i, most}, {j, -most}, {k, std::ldexp(most, -bits)}}
        });
    }
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

Probed probed(DType dtype, const std::vector<double>& sums) {
  const std::vector<FewTerms> all = probes(dtype);
  assert(all.size() == sums.size());
  const std::string text = in_words(seen(all, sums));
  for (const EngineModel& row : kEngines) {
    bool allowed = true;
    for (std::size_t i = 0; i < all.size() && allowed; ++i) allowed = allows(row.engine, all[i], sums[i]);
    if (allowed) return {row.engine, text};
  }
  return {std::nullopt, text};
}

}  // namespace plumb
