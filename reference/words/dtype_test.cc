#include "reference/words/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "reference/words/testing/mpfr_judge.h"

namespace plumb {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

// Whether `bits` is what `value` must become.
bool right(DType dtype, double value, std::uint64_t bits) { return plumb::right(dtype, Real(value), bits); }

// The value of a pattern, put together from its fields.
double meaning(const Format& f, std::uint64_t bits) {
  const int width = 8 * f.bytes;
  if (f.dtype == DType::e8m0) return bits == 255 ? kNaN : std::ldexp(1.0, static_cast<int>(bits) - 127);
  const double sign = bits >> (width - 1) ? -1 : 1;
  const int fraction_bits = f.digits - 1, exponent_bits = width - f.digits;
  const std::uint64_t fraction = bits & ((1ull << fraction_bits) - 1);
  const int exponent = static_cast<int>(bits >> fraction_bits & ((1ull << exponent_bits) - 1));
  const bool last = exponent == (1 << exponent_bits) - 1;
  if (f.dtype == DType::f8e4m3 && last && fraction == 7) return kNaN;
  if (f.dtype != DType::f8e4m3 && last) return fraction ? kNaN : sign * kInf;
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(fraction), f.min_exponent - fraction_bits);
  const double significand = static_cast<double>(fraction | 1ull << fraction_bits);
  return sign * std::ldexp(significand, exponent - 1 + f.min_exponent - fraction_bits);
}

std::vector<DType> narrow_floats() {
  return {DType::f8e4m3, DType::f8e5m2, DType::e8m0, DType::f16, DType::bf16};
}

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// A value, its neighbours in double, both signs.
std::vector<double> around(double v) {
  return {v, std::nextafter(v, kInf), std::nextafter(v, -kInf), -v, -std::nextafter(v, kInf)};
}

TEST(DType, TableAndNames) {
  for (const Format& f : formats()) {
    EXPECT_EQ(dtype_named(f.name), f.dtype);
    EXPECT_EQ(&format(f.dtype), &formats()[static_cast<int>(f.dtype)]);
    EXPECT_EQ(decode(f.dtype, encode(f.dtype, f.largest)), f.largest) << f.name;
  }
  EXPECT_EQ(dtype_named("f128"), std::nullopt);
}

// The patterns that decide what holds a format: all where they are few, else those at its ends, with few
// and with all digits.
std::vector<std::uint64_t> telling_patterns(const Format& f) {
  std::vector<std::uint64_t> all;
  if (f.bytes <= 2) {
    for (std::uint64_t bits = 0; bits < 1ull << 8 * f.bytes; ++bits) all.push_back(bits);
    return all;
  }
  for (double value : {f.largest, std::ldexp(1.0, f.min_exponent), std::ldexp(1.0, f.digits) - 1,
                       std::ldexp(1.0, f.min_exponent - f.digits + 1), 1.0})
    for (double sign : {1.0, -1.0}) all.push_back(encode(f.dtype, sign * value));
  return all;
}

TEST(DType, HoldsAnotherWhereAllItsValuesComeThrough) {
  for (const Format& wide : formats())
    for (const Format& narrow : formats()) {
      const bool all = std::ranges::all_of(telling_patterns(narrow), [&](std::uint64_t bits) {
        const double value = decode(narrow.dtype, bits);
        return !std::isfinite(value) || decode(wide.dtype, encode(wide.dtype, value)) == value;
      });
      EXPECT_EQ(holds(wide.dtype, narrow.dtype), all) << wide.name << " and " << narrow.name;
    }
}

TEST(DType, DecodesEveryPatternAndComesBack) {
  for (DType d : narrow_floats()) {
    const Format& f = format(d);
    for (std::uint64_t bits = 0; bits < 1ull << (8 * f.bytes); ++bits) {
      const double value = decode(d, bits);
      ASSERT_TRUE(same(value, meaning(f, bits))) << f.name << " " << bits;
      ASSERT_EQ(finite(d, bits), std::isfinite(value));
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(decode(d, encode(d, value))));
      } else {
        ASSERT_EQ(encode(d, value), bits) << f.name;
      }
    }
  }
}

TEST(DType, RoundsEveryTieAndNeighbourAsMpfrDoes) {
  for (DType d : narrow_floats()) {
    const Format& f = format(d);
    const std::uint64_t patterns = 1ull << (8 * f.bytes - (d == DType::e8m0 ? 0 : 1));
    for (std::uint64_t bits = 0; bits + 1 < patterns; ++bits) {
      const double low = meaning(f, bits), high = meaning(f, bits + 1);
      const double tie = std::isfinite(high) ? (low + high) / 2 : low * (1 + std::ldexp(1.0, -f.digits));
      for (double v : around(std::isfinite(tie) ? tie : low))
        ASSERT_TRUE(right(d, v, encode(d, v))) << f.name << " " << v << " gave " << encode(d, v);
    }
  }
}

TEST(DType, RoundsSampledDoublesAsMpfrDoes) {
  std::mt19937_64 random(1);
  for (DType d : {DType::f8e4m3, DType::f8e5m2, DType::e8m0, DType::f16, DType::bf16, DType::f32}) {
    const Format& f = format(d);
    for (int i = 0; i < 5000; ++i) {
      const int exponent = f.min_exponent - f.digits - 2 +
                           static_cast<int>(random() % (f.max_exponent - f.min_exponent + f.digits + 6));
      const double near = std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 40), -24), exponent);
      const double any = std::bit_cast<double>(random());
      const double tie =
          std::ldexp(static_cast<double>((random() >> (64 - f.digits)) * 2 + 1), exponent - f.digits);
      for (double base : {near, any, tie})
        for (double v : around(base))
          ASSERT_TRUE(right(d, v, encode(d, v))) << f.name << " " << v << " gave " << encode(d, v);
    }
  }
}

TEST(DType, F32IsTheProcessorsFloat) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const float value = std::bit_cast<float>(bits);
    ASSERT_TRUE(same(decode(DType::f32, bits), static_cast<double>(value)));
    if (std::isnan(value)) continue;
    ASSERT_EQ(encode(DType::f32, value), bits);
    const double tie = (static_cast<double>(value) + std::nextafter(value, 2 * value)) / 2;
    if (i % 16 != 0) continue;
    ASSERT_TRUE(right(DType::f32, tie, encode(DType::f32, tie))) << tie;
  }
}

TEST(DType, EdgesOfEveryFormat) {
  struct Row {
    DType dtype;
    double value;
    std::uint64_t bits;
  };
  const Row rows[] = {
      {DType::f8e4m3, 448,             0x7e          },
      {DType::f8e4m3, 1e9,             0x7e          },
      {DType::f8e4m3, -kInf,           0xfe          },
      {DType::f8e4m3, kNaN,            0x7f          },
      {DType::f8e4m3, 0x1p-10,         0x00          },
      {DType::f8e4m3, 0x1.8p-9,        0x02          },
      {DType::f8e4m3, -0.0,            0x80          },
      {DType::f8e5m2, 61440,           0x7b          },
      {DType::f8e5m2, 1e9,             0x7b          },
      {DType::f8e5m2, kInf,            0x7c          },
      {DType::f8e5m2, -kInf,           0xfc          },
      {DType::e8m0,   1,               127           },
      {DType::e8m0,   0,               0             },
      {DType::e8m0,   1.5,             128           },
      {DType::e8m0,   3,               129           },
      {DType::e8m0,   1e300,           254           },
      {DType::e8m0,   kInf,            254           },
      {DType::e8m0,   -1,              255           },
      {DType::f16,    65519,           0x7bff        },
      {DType::f16,    65520,           0x7c00        },
      {DType::f16,    0x1p-25,         0x0000        },
      {DType::f16,    0x1.8p-24,       0x0002        },
      {DType::bf16,   0x1p128,         0x7f80        },
      {DType::bf16,   0x1p-134,        0x0000        },
      {DType::bf16,   0x1.01p0,        0x3f80        },
      {DType::bf16,   0x1.03p0,        0x3f82        },
      {DType::f32,    0x1p128,         0x7f800000    },
      {DType::f32,    0x1p-149,        1             },
      {DType::f32,    0x1p-150,        0             },
      {DType::f64,    -kInf,           0xfffull << 52},
      {DType::s8,     127,             127           },
      {DType::s8,     128,             128           },
      {DType::s8,     -1,              255           },
      {DType::s8,     257,             1             },
      {DType::s8,     2.5,             2             },
      {DType::s8,     -1.5,            254           },
      {DType::s32,    -1,              0xffffffff    },
      {DType::s32,    0x1p31,          0x80000000    },
      {DType::s32,    0x1p70 + 0x1p20, 1u << 20      },
      {DType::s32,    kNaN,            0             },
  };
  for (const Row& row : rows)
    EXPECT_EQ(encode(row.dtype, row.value), row.bits) << format(row.dtype).name << " " << row.value;
}

// Law: of 2^52 2^s + 5 2^s, s from 0, an integer of w bits has the last w of 5 2^s.
TEST(DType, IntegersOfLargeNumbersAreTheirLastBits) {
  for (const Format& f : formats()) {
    if (!f.integer) continue;
    for (int s = 0; s < 900; ++s) {
      const std::uint64_t bits = s < 60 ? (5ull << s) & ((1ull << (8 * f.bytes)) - 1) : 0;
      ASSERT_EQ(encode(f.dtype, std::ldexp(0x1p52 + 5, s)), bits) << f.name << " " << s;
    }
  }
}

TEST(DType, TheJudgeSeesALastBit) {
  for (DType d : {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32})
    for (double v : {1.0, 3.14159, -0.015625, 0x1p-14})
      EXPECT_FALSE(right(d, v, encode(d, v) ^ 1)) << format(d).name << " " << v;
}

TEST(DType, BulkIsTheSameAsOneByOne) {
  std::mt19937_64 random(3);
  for (const Format& f : formats()) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(f.bytes) * 1001), back(bytes.size());
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    std::vector<double> values(1001);
    decode(f.dtype, bytes.data(), 1001, values.data());
    encode(f.dtype, values.data(), 1001, back.data());
    for (int i = 0; i < 1001; ++i) {
      const std::uint64_t bits = load(f.dtype, bytes.data() + i * f.bytes);
      ASSERT_TRUE(same(values[i], decode(f.dtype, bits))) << f.name;
      ASSERT_EQ(load(f.dtype, back.data() + i * f.bytes), encode(f.dtype, values[i])) << f.name;
      if (std::isnan(values[i])) continue;
      ASSERT_EQ(load(f.dtype, back.data() + i * f.bytes), bits) << f.name;
    }
  }
}

}  // namespace
}  // namespace plumb
