#include "reference/exact/field.h"

#include <gmp.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace plumb {
namespace {

constexpr std::uint64_t p = Residue::p;

// GMP's remainder of a * b + c.
std::uint64_t judged(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  mpz_t x, y;
  mpz_init_set_ui(x, a), mpz_init_set_ui(y, c);
  mpz_mul_ui(x, x, b), mpz_add(x, x, y);
  const std::uint64_t r = mpz_fdiv_ui(x, p);
  mpz_clear(x), mpz_clear(y);
  return r;
}

TEST(Field, EdgesAgreeWithGmp) {
  const std::uint64_t edges[] = {0, 1, 2, 3, p / 2, p / 2 + 1, p - 2, p - 1};
  for (std::uint64_t a : edges)
    for (std::uint64_t b : edges) {
      EXPECT_EQ((Residue{a} * Residue{b}).value, judged(a, b, 0));
      EXPECT_EQ((Residue{a} + Residue{b}).value, judged(a, 1, b));
      EXPECT_EQ((Residue{a} - Residue{b}) + Residue{b}, Residue{a});
    }
  for (std::uint64_t a : edges) {
    EXPECT_EQ(residue(static_cast<std::int64_t>(a)).value, a);
    EXPECT_EQ(residue(-static_cast<std::int64_t>(a)), Residue{} - Residue{a});
  }
}

TEST(Field, ReducesEveryWidth) {
  const unsigned __int128 top = ~static_cast<unsigned __int128>(0);
  EXPECT_EQ(residue(top).value, (1u << 6) - 1);  // 2^128 - 1 = 2^6 - 1
  EXPECT_EQ(residue(static_cast<unsigned __int128>(p) * p).value, 0u);
  EXPECT_EQ(residue(std::int64_t{-1}).value, p - 1);
  EXPECT_EQ(residue(INT64_MIN), residue(static_cast<unsigned __int128>(p) * 8 - (1ull << 63)));
  for (int bit = 0; bit < 128; ++bit)
    EXPECT_EQ(residue(static_cast<unsigned __int128>(1) << bit).value, 1ull << bit % 61);
}

TEST(Field, SumsOfProductsAgreeWithGmp) {
  std::mt19937_64 random(1);
  Residue sum;
  std::uint64_t want = 0;
  for (int i = 0; i < 100; ++i) {
    const Residue a{random() % p}, b{random() % p};
    sum = sum + a * b;
    want = judged(a.value, b.value, want);
    ASSERT_EQ(sum.value, want);
  }
}

}  // namespace
}  // namespace plumb
