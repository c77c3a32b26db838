#include "reference/exact/halves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "reference/exact/blas.h"
#include "reference/exact/method.h"
#include "reference/exact/single_dgemm.h"
#include "reference/exact/testing/matmul_judge.h"

namespace plumb {
namespace {

// Integers below 2^bits, or 2^19, the end of a low half, above what else there is; times a unit.
std::vector<double> row_of(int bits, double unit, std::mt19937_64& random) {
  std::vector<double> row(64);
  for (double& x : row) {
    auto whole = static_cast<std::int64_t>(random() >> (64 - bits));
    if (random() % 4 == 0) whole = (whole & ~0xfffffll) + 0x80000;
    x = static_cast<double>(random() % 2 ? whole : -whole) * unit;
  }
  return row;
}

std::vector<double> half_of(const std::vector<double>& row, double unit, Half half) {
  std::vector<double> to(row.size());
  halve(row, unit, half, to.data());
  return to;
}

double norm(const std::vector<double>& row) {
  double squares = 0;
  for (double x : row) squares += x * x;
  return std::sqrt(squares);
}

TEST(Halves, AreIntegersThatMakeTheRow) {
  std::mt19937_64 random(1);
  for (int bits = 1; bits <= 50; ++bits)
    for (double unit : {1.0, 0x1p-149, 0x1p70}) {
      const std::vector<double> row = row_of(bits, unit, random);
      const auto high = half_of(row, unit, Half::high), low = half_of(row, unit, Half::low),
                 both = half_of(row, unit, Half::both);
      for (std::size_t k = 0; k < row.size(); ++k) {
        ASSERT_EQ(high[k] * 0x1p20 + low[k], row[k]);
        ASSERT_EQ(high[k] + low[k], both[k]);
        ASSERT_LE(std::fabs(low[k]), 0x1p19 * unit);
        ASSERT_EQ(high[k] / unit, std::nearbyint(high[k] / unit));
        ASSERT_EQ(low[k] / unit, std::nearbyint(low[k] / unit));
      }
      const double most = reach(norm(row) / unit * (1 + 0x1p-40), std::ssize(row)) * unit;
      for (const auto& half : {high, low, both}) ASSERT_LE(norm(half), most);
    }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

// What is left of the dot product of a and b after its sum and its rest.
bool exact(const std::vector<double>& a, const std::vector<double>& b, double sum, double rest) {
  Real real;
  for (std::size_t k = 0; k < a.size(); ++k) add_product(real, a[k], b[k]);
  const bool nearest = mpfr_get_d(real.x, MPFR_RNDN) == sum;
  add(real, -sum), add(real, -rest);
  return nearest && mpfr_zero_p(real.x);
}

TEST(Halves, JoinedAreTheDotProduct) {
  std::mt19937_64 random(2);
  int within = 0, last_bits = 0, rests = 0;
  for (int bits = 1; bits <= 50; ++bits)
    for (int n = 0; n < 40; ++n) {
      std::vector<double> a = row_of(bits, 1, random),
                          b = row_of(1 + static_cast<int>(random() % bits), 0x1p-30, random);
      if (n % 2)
        for (std::size_t k = 1; k + 1 < a.size(); k += 2) a[k] = a[k - 1], b[k] = -b[k - 1];
      if (reach(norm(a), 64) * reach(norm(b) * 0x1p30, 64) >= kProved) continue;
      double products[3], sum, rest;
      for (Half half : {Half::high, Half::low, Half::both})
        products[static_cast<int>(half)] = dot(half_of(a, 1, half), half_of(b, 0x1p-30, half));
      join({products, products + 1, products + 2}, 1, &sum, &rest);
      ASSERT_TRUE(exact(a, b, sum, rest)) << bits << " " << n;
      rests += rest != 0;
      products[1] += 0x1p-30;
      join({products, products + 1, products + 2}, 1, &sum, &rest);
      ++within, last_bits += !exact(a, b, sum, rest);
    }
  EXPECT_GT(within, 1500);
  EXPECT_EQ(last_bits, within);
  EXPECT_GT(rests, 200);
}

// A unit divides every element of its row, and is not known only where nothing is proved or all are zero.
TEST(Halves, StandOnUnits) {
  for (const Format& f : formats())
    for (Hard kind : kHard) {
      Tensor t = hard_tensor(kind, f.dtype, {40, 70}, 5);
      if (!f.integer && f.digits > 20)  // the lowest bit and the least exponent belong to different elements
        for (std::int64_t k = 0; k < 70; ++k)
          store(f.dtype, t.bytes.data() + k * f.bytes, encode(f.dtype, k ? 0x1p-20 : 1 + 0x1p-20));
      Lines lines = lines_for(matrix(std::as_const(t)));
      read_lines(matrix(std::as_const(t)), 0, 40, lines);
      for (std::int64_t i = 0; i < 40; ++i)
        for (std::int64_t k = 0; k < lines.stride; ++k) {
          const double x = lines.row(i)[k];
          if (lines.unit[i] == 0)
            ASSERT_TRUE(x == 0 || std::isinf(lines.ratio[i])) << f.name << " " << name(kind);
          else
            ASSERT_EQ(std::fmod(x, lines.unit[i]), 0) << f.name << " " << name(kind);
        }
    }
}

Method way(const Operands& o, DType to) {
  const Matrix a = matrix(o.a), columns = transpose(matrix(o.b));
  Lines left = lines_for(a), right = lines_for(columns);
  read_lines(a, 0, a.rows, left), read_lines(columns, 0, columns.rows, right);
  Tensor c = zeros(to, {a.rows, columns.rows});
  const MutableMatrix result = mutable_matrix(c);
  return method_of({left, right, result, true, false});
}

TEST(Halves, AreTakenWhereProductsCancel) {
  ASSERT_NE(dgemm(), nullptr);
  const auto operands = [](Hard kind, DType dtype) { return hard_operands(kind, dtype, {67, 130, 83}, 3); };
  EXPECT_EQ(way(operands(Hard::normal, DType::f32), DType::f32), Method::single_dgemm);
  EXPECT_EQ(way(operands(Hard::cancelling, DType::bf16), DType::bf16), Method::single_dgemm);
  EXPECT_EQ(way(operands(Hard::cancelling, DType::f32), DType::f32), Method::halves);
  EXPECT_EQ(way(operands(Hard::cancelling, DType::f32), DType::f64), Method::halves);
  EXPECT_EQ(way(operands(Hard::normal, DType::f32), DType::f64), Method::halves);
  EXPECT_EQ(way(operands(Hard::wide, DType::f32), DType::f64), Method::bins);
}

// The bound of 3 times this is 2^53 to the bit, of which the lattice is not sure: the interval has two ends there, and neither
// is taken for the value.
TEST(SingleDgemm, AnElementThatIsNotSureIsOpenOrRight) {
  ASSERT_NE(dgemm(), nullptr);
  const double of = 3002399751580321;
  const Tensor a = tensor(DType::f64, {1, 1}, {3}), b = tensor(DType::f64, {1, 1}, {of});
  Lines left = lines_for(matrix(a)), right = lines_for(matrix(b));
  read_lines(matrix(a), 0, 1, left), read_lines(matrix(b), 0, 1, right);
  ASSERT_EQ(left.ratio[0] * right.ratio[0], 0x1p53);
  Tensor c = zeros(DType::f64, {1, 1});
  const MutableMatrix result = mutable_matrix(c);
  double room = 0;
  Chunk chunk{0, 1, &room, {0}};
  multiply_by_single_dgemm({left, right, result, true, false}, chunk);
  EXPECT_TRUE(chunk.open[0] || value(c, 0) == 3 * of) << value(c, 0) - 3 * of;
}

void set(Tensor& t, std::int64_t i, std::int64_t j, double x) {
  store(t.dtype, t.bytes.data() + (i * t.shape[1] + j) * 4, encode(t.dtype, x));
}

// Rows and columns that reach too far stand among those that do not, as does 1 + 2^-24 + 2^-60, whose nearest
// double lies between two floats.
Operands hard_for_halves(const ProductShape& s) {
  Operands o = hard_operands(Hard::cancelling, DType::f32, s, 4);
  // A pair that cancels, so large that the others are lost in what rounding it would leave.
  for (std::int64_t i = 0; i < s.m; i += 14)
    for (std::int64_t k : {i, i + 1}) set(o.a, i, k % s.k, 0x1.6p40);
  for (std::int64_t j = 0; j < s.n; j += 11) set(o.b, j % s.k, j, 0x1.6p-60);
  for (std::int64_t k = 0; k < s.k; ++k) {
    set(o.a, 1, k, k == 0 ? 1 : k == 1 ? 0x1p-24 : k == 2 ? 0x1p-30 : 0);
    set(o.b, k, 8, k < 2 ? 1 : k == 2 ? 0x1p-30 : 0);
  }
  return o;
}

// Tiles side by side; below one another.
constexpr ProductShape kTiles[] = {
    {530, 130, 1030},
    {530, 130, 30  }
};

TEST(Halves, RoundOnceWhatTheyProveAndLeaveTheRest) {
  for (const ProductShape& s : kTiles)
    for (DType to : {DType::f32, DType::f64}) {
      const Operands o = hard_for_halves(s);
      const Tensor c = product(matrix(o.a), matrix(o.b), DType::f32, to);
      ASSERT_EQ(way(o, to), Method::halves);
      EXPECT_EQ(wrong(matrix(o.a), matrix(o.b), c, 101), 0);
      EXPECT_EQ(value(c, s.n + 8), to == DType::f32 ? 1 + 0x1p-23 : 1 + 0x1p-24);
    }
}

// What is not finite reaches its own row or column alone.
TEST(Halves, KeepWhatIsNotFiniteApart) {
  for (const ProductShape& s : kTiles) {
    Operands o = hard_for_halves(s);
    const Tensor finite = product(matrix(o.a), matrix(o.b), DType::f32, DType::f32);
    set(o.a, 5, 0, INFINITY), set(o.b, 3, 6, NAN);
    const Tensor c = product(matrix(o.a), matrix(o.b), DType::f32, DType::f32);
    ASSERT_EQ(way(o, DType::f32), Method::halves);
    for (std::int64_t at = 0; at < elements(c.shape); ++at) {
      const std::int64_t i = at / s.n, j = at % s.n;
      if (j == 6)
        ASSERT_TRUE(std::isnan(value(c, at)));
      else if (i == 5)
        ASSERT_FALSE(std::isfinite(value(c, at)));
      else
        ASSERT_EQ(bits(c, at), bits(finite, at));
    }
  }
}

}  // namespace
}  // namespace plumb
