#include "reference/meaning/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

Tensor tensor(DType dtype, std::vector<std::int64_t> shape,
              const std::function<double(std::int64_t)>& value) {
  Tensor t = zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < elements(t.shape); ++i)
    store(dtype, t.bytes.data() + i * format(dtype).bytes, encode(dtype, value(i)));
  return t;
}

std::vector<double> values(const Tensor& t) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < elements(t.shape); ++i) all.push_back(value(t, i));
  return all;
}

std::vector<Tensor> run(const std::string& line, const std::vector<Tensor>& operands) {
  return evaluate_all(parse_case(line), operands);
}

TEST(Quantize, PerTensor) {
  const Tensor x = tensor(DType::bf16, {4}, [](std::int64_t i) {
    return std::vector{1.0, -3.5, 0.4, 0.0}[i];
  });
  const auto got = run("on x=1: quantize fp8 bf16[4] -> f8e4m3[4] f32[]", {x});
  EXPECT_EQ(values(got[0]), (std::vector<double>{128, -448, 52, 0}));
  EXPECT_EQ(values(got[1]), (std::vector<double>{0x1p-7}));
}

TEST(Quantize, OneScaleForEachGroupAndNoneForTheTail) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = tensor(DType::bf16, {4, 1}, [&](std::int64_t i) {
    return std::vector{7.0, 3.5, 14.0, nan}[i];
  });
  const auto got = run("on x=1: quantize fp8 bf16[4,1] sizes=2,0,1 -> f8e4m3[4,1] f32[3]", {x});
  EXPECT_EQ(values(got[0]), (std::vector<double>{448, 224, 448, 0}));
  EXPECT_EQ(values(got[1]), (std::vector<double>{0x1p-6, 1, 0x1p-5}));
}

// Each definition of the page, element by element.
struct Drawn {
  std::int64_t rows, cols;
  std::int64_t at(std::int64_t r, std::int64_t c) const { return r * cols + c; }
  Tensor x() const {
    return tensor(DType::bf16, {rows, cols}, [&](std::int64_t i) {
      return std::ldexp(static_cast<double>((i * 73 + i / 7) % 255 - 127) + 0.5,
                        static_cast<int>(i * 31 % 23) - 9);
    });
  }
};

double amax_of(const Tensor& x, const std::function<bool(std::int64_t, std::int64_t)>& in) {
  double amax = 0;
  for (std::int64_t i = 0; i < elements(x.shape); ++i)
    if (in(i / x.shape[1], i % x.shape[1])) amax = std::max(amax, std::fabs(value(x, i)));
  return amax;
}

TEST(Quantize, BlocksAlongRowsAndColumns) {
  const Drawn d{70, 40};
  const Tensor x = d.x();
  const auto rowwise = run("on x=1: quantize mxfp8 bf16[70,40] -> f8e4m3[70,40] e8m0[70,2]", {x});
  const auto columnwise = run("on x=1: quantize mxfp8 bf16[70,40] -> f8e4m3[70,40] e8m0[3,40]", {x});
  int differ = 0;
  for (std::int64_t r = 0; r < d.rows; ++r)
    for (std::int64_t c = 0; c < d.cols; ++c) {
      const auto in_row = [&](auto i, auto j) { return i == r && j / 32 == c / 32; };
      const auto in_col = [&](auto i, auto j) { return j == c && i / 32 == r / 32; };
      const struct {
        const std::vector<Tensor>& got;
        double amax;
        std::int64_t tile;
      } both[] = {
          {rowwise,    amax_of(x, in_row), r * 2 + c / 32     },
          {columnwise, amax_of(x, in_col), r / 32 * d.cols + c},
      };
      for (const auto& one : both) {
        const double scale = std::ldexp(1.0, static_cast<int>(std::ceil(std::log2(one.amax / 448))));
        EXPECT_EQ(value(one.got[1], one.tile), scale);
        EXPECT_EQ(value(one.got[0], d.at(r, c)),
                  decode(DType::f8e4m3, encode(DType::f8e4m3, value(x, d.at(r, c)) / scale)));
      }
      differ += bits(rowwise[0], d.at(r, c)) != bits(columnwise[0], d.at(r, c));
    }
  EXPECT_GT(differ, 1000);  // the one is not the other turned around
}

// 48 rows make blocks of 32 and 16, and the next group begins a block of its own.
TEST(Quantize, BlocksBeginAnewWithEachGroup) {
  const Drawn d{130, 2};
  const Tensor x = d.x();
  const auto got = run("on x=1: quantize mxfp8 bf16[130,2] sizes=48,0,80 -> f8e4m3[130,2] e8m0[5,2]", {x});
  const Range blocks[] = {
      {0,   32 },
      {32,  48 },
      {48,  80 },
      {80,  112},
      {112, 128}
  };
  for (std::int64_t b = 0; b < 5; ++b)
    for (std::int64_t c = 0; c < 2; ++c) {
      const double amax =
          amax_of(x, [&](auto i, auto j) { return j == c && blocks[b].begin <= i && i < blocks[b].end; });
      EXPECT_EQ(value(got[1], b * 2 + c),
                std::ldexp(1.0, static_cast<int>(std::ceil(std::log2(amax / 448)))));
    }
  for (std::int64_t i = 256; i < 260; ++i) EXPECT_EQ(bits(got[0], i), 0u) << "rows of no group are zeros";
}

TEST(Quantize, DelayedUsesTheScaleOfBefore) {
  const Tensor x = tensor(DType::bf16, {3}, [](std::int64_t i) { return std::vector{1.0, -56.0, 3.0}[i]; });
  const Tensor history = tensor(DType::f32, {4}, [](std::int64_t i) {
    return std::vector{900.0, 7.0, 112.0, 1.0}[i];
  });
  const Tensor scale = tensor(DType::f32, {}, [](std::int64_t) { return 16.0; });
  const auto got =
      run("on x=1: quantize fp8 bf16[3] f32[4] f32[] -> f8e4m3[3] f32[] f32[4] f32[]", {x, history, scale});
  EXPECT_EQ(values(got[0]), (std::vector<double>{16, -448, 48})) << "-896 is clipped";
  EXPECT_EQ(values(got[1]), (std::vector<double>{1.0 / 16}));
  EXPECT_EQ(values(got[2]), (std::vector<double>{0, 112, 1, 56}))
      << "56 took the place of 900, then all moved";
  EXPECT_EQ(values(got[3]), (std::vector<double>{4})) << "448 / 112";
}

// A product of quantized operands is the product of what their codes mean.
TEST(Schemes, AreQuantizedThenUsed) {
  const Tensor x = Drawn{4, 40}.x(), w = Drawn{40, 3}.x();
  const auto codes = run("on x=1: quantize mxfp8 bf16[4,40] -> f8e4m3[4,40] e8m0[4,2]", {x});
  const auto weights = run("on x=1: quantize fp8 bf16[40,3] -> f8e4m3[40,3] f32[]", {w});
  const Tensor got = run("on x=1: einsum mk,kn->mn bf16[4,40]~mxfp8 bf16[40,3]~fp8 -> f64[4,3]", {x, w})[0];
  for (std::int64_t m = 0; m < 4; ++m)
    for (std::int64_t n = 0; n < 3; ++n) {
      long double sum = 0;
      for (std::int64_t k = 0; k < 40; ++k)
        sum += static_cast<long double>(value(codes[0], m * 40 + k) * value(codes[1], m * 2 + k / 32)) *
               (value(weights[0], k * 3 + n) * value(weights[1], 0));
      EXPECT_EQ(value(got, m * 3 + n), static_cast<double>(sum));
    }
}

// The code of the largest f32 is 256, its scale 2^120: what they mean is more than f32 holds.
TEST(Schemes, MeanWhatTheirCodesMeanPastTheLargestF32) {
  for (const char* scheme : {"mxfp8", "mxfp8e5"}) {
    const Tensor x = tensor(DType::f32, {1, 1}, [](std::int64_t) { return format(DType::f32).largest; });
    const Tensor one = tensor(DType::f32, {1, 1}, [](std::int64_t) { return 1; });
    const std::string line =
        std::string("on x=1: einsum mk,kn->mn f32[1,1]~") + scheme + " f32[1,1] -> f64[1,1]";
    EXPECT_EQ(values(run(line, {x, one})[0]), (std::vector<double>{0x1p128})) << scheme;
  }
}

// In wgrad rows are contracted: no block holds rows of two groups, and each group has its own fp8 scale.
TEST(Schemes, OfRowsBeginAnewWithEachGroup) {
  const Tensor x = Drawn{130, 2}.x(), dy = Drawn{130, 3}.x();
  const auto a = run("on x=1: quantize mxfp8 bf16[130,2] sizes=48,80 -> f8e4m3[130,2] e8m0[5,2]", {x});
  const auto b = run("on x=1: quantize fp8 bf16[130,3] sizes=48,80 -> f8e4m3[130,3] f32[2]", {dy});
  const Tensor got =
      run("on x=1: grouped wgrad bf16[130,2]~mxfp8 bf16[130,3]~fp8 sizes=48,80 -> f64[2,2,3]", {x, dy})[0];
  for (std::int64_t g = 0; g < 2; ++g)
    for (std::int64_t k = 0; k < 2; ++k)
      for (std::int64_t n = 0; n < 3; ++n) {
        long double sum = 0;
        for (std::int64_t t = g ? 48 : 0; t < (g ? 128 : 48); ++t) {
          const std::int64_t block = t < 48 ? t / 32 : 2 + (t - 48) / 32;
          sum += static_cast<long double>(value(a[0], t * 2 + k) * value(a[1], block * 2 + k)) *
                 (value(b[0], t * 3 + n) * value(b[1], g));
        }
        EXPECT_EQ(value(got, (g * 2 + k) * 3 + n), static_cast<double>(sum));
      }
}

}  // namespace
}  // namespace plumb
