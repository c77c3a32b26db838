#include "reference/check/device/weighed.h"

#include <gtest/gtest.h>

#include <random>

namespace plumb {
namespace {

// How many are small. Law: what is small is the integer that it is by way of f64; whatever is one below 2^20
// is small.
template <DType dtype>
int expect_same_integers(double scale, const std::vector<std::uint32_t>& words) {
  const AnyElement any{dtype, width_of(dtype), scale};
  const FloatElement<dtype> floats{static_cast<float>(scale)};
  int found = 0;
  for (std::uint32_t word : words) {
    const auto stored = static_cast<typename As<dtype>::Word>(word);
    const auto* at = reinterpret_cast<const std::byte*>(&stored);
    const std::int64_t integer = any.integer(at);
    std::int32_t k = 0;
    const bool small = floats.small(floats.bits(at), k);
    EXPECT_EQ(small, std::abs(integer) < 1 << 20) << word << " times " << scale;
    EXPECT_EQ(floats.integer(at), integer) << word << " times " << scale;
    EXPECT_EQ(floats.has_sign(integer, at), any.has_sign(integer, at)) << word;
    if (small) {
      EXPECT_EQ(k, integer) << word << " times " << scale;
    }
    found += small;
  }
  return found;
}

TEST(Weighed, SmallFloatsAreTheIntegersThatTheyAre) {
  std::vector<std::uint32_t> all, some;
  for (std::uint32_t word = 0; word < 1 << 16; ++word) all.push_back(word);
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) some.push_back(static_cast<std::uint32_t>(random()));
  for (int k = -(1 << 20) - 2; k <= (1 << 20) + 2; k += 7)
    some.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(k)));
  for (float value : {0x1p20f, 0x1.fffffep19f, 0x1.ffffep19f, 0x1p21f, 0x1p22f, 0x1p23f, 0x1p24f, 0.5f, 1.5f})
    for (float sign : {1.0f, -1.0f}) some.push_back(std::bit_cast<std::uint32_t>(sign * value));
  for (double scale : {1.0, 2.0, 64.0, 0x1p30, 0x1p100}) {
    EXPECT_GT(expect_same_integers<DType::bf16>(scale, all), 1000);
    EXPECT_GT(expect_same_integers<DType::f32>(scale, some), 1);
  }
}

// A box of rows, each with a sum of its own, that lie side by side or one after the other.
Weighed box_of(std::int64_t rows, std::int64_t length, bool beside) {
  Weighed w;
  w.kept = 1, w.dims = 2;
  w.dim[0] = {rows, beside ? 1 : length, 1, 0};
  w.dim[1] = {length, beside ? rows : 1, 0, 1};
  w.sums = rows, w.inner = length, w.beside = beside;
  w.pieces = length < 2 ? 1 : 3;
  return w;
}

template <int count>
std::vector<std::uint64_t> pieces_made(const Weighed& w, const std::vector<float>& box,
                                       const std::vector<std::uint64_t>& weights) {
  std::vector<std::uint64_t> partial(w.sums * w.pieces);
  const WeighedPiece<PrimeSum, FloatElement<DType::f32>, count> piece{
      w, {1}, reinterpret_cast<const std::byte*>(box.data()), weights.data(), partial.data()};
  for (std::int64_t i = 0; i < w.sums / count * w.pieces; ++i) piece(i);
  return partial;
}

// Law: sums that are made at once are those that are made one by one, and those of the integers: of small
// values, where some are large, and where one is no integer.
TEST(Weighed, SumsThatAreMadeAtOnceAreThoseMadeOneByOne) {
  std::mt19937_64 random(3);
  for (std::int64_t rows : {4, 8, 12, 20})
    for (std::int64_t length : {1, 2, 50, 7000})
      for (bool beside : {false, true})
        for (const char* with : {"", "large", "half"}) {
          const Weighed w = box_of(rows, length, beside);
          ASSERT_TRUE(w.abreast());
          std::vector<float> box(rows * length);
          std::vector<std::uint64_t> weights(length);
          for (float& x : box)
            x = static_cast<float>(static_cast<std::int64_t>(random() % 2000001) - 1000000);
          for (std::uint64_t& x : weights) x = random() % ((std::uint64_t{1} << 61) - 1);
          const std::size_t odd = random() % box.size();
          if (*with == 'l') box[odd] = 0x1p50f;
          if (*with == 'h') box[odd] = 1.5f;
          const std::vector<std::uint64_t> one = pieces_made<1>(w, box, weights),
                                           four = pieces_made<4>(w, box, weights);
          EXPECT_EQ(one, four) << rows << " x " << length << with;
          EXPECT_EQ(std::ranges::count(one, kNoSum), *with == 'h' ? 1 : 0);
          for (std::int64_t row = 0; row < rows && *with != 'h'; ++row) {
            Residue sum{}, made{};
            for (std::int64_t k = 0; k < length; ++k)
              sum =
                  sum + residue(static_cast<std::int64_t>(box[beside ? k * rows + row : row * length + k])) *
                            Residue{weights[k]};
            for (std::int64_t p = 0; p < w.pieces; ++p)
              made = made + residue(static_cast<std::int64_t>(one[p * rows + row]));
            EXPECT_EQ(made.value, sum.value);
          }
        }
}

// All pieces of each sum.
std::vector<std::uint64_t> gathered(const Weighed& w, const std::vector<std::uint64_t>& partial) {
  std::vector<std::uint64_t> sums(w.sums);
  for (std::int64_t i = 0; i < w.sums; ++i) GatheredSum<PrimeSum>{w, partial.data(), sums.data()}(i);
  return sums;
}

// Law: pieces that take runs of neighbours make the sums of those that take one at a time, and say the same
// of zeros: kSigned stands beside a sum where its element is -0 or, where sums are made at once, one of
// theirs.
TEST(Weighed, RunsOfNeighboursMakeTheSameSums) {
  std::mt19937_64 random(4);
  for (std::int64_t length : {4, 8, 52, 7000})
    for (const char* with : {"", "large", "half", "-0"}) {
      const Weighed w = box_of(8, length, false);
      alignas(16) static float box[8 * 7000];
      alignas(16) static std::uint64_t weights[7000];
      for (std::int64_t i = 0; i < 8 * length; ++i)
        box[i] = static_cast<float>(static_cast<std::int64_t>(random() % 2000001) - 1000000);
      for (std::uint64_t& x : weights) x = random() % ((std::uint64_t{1} << 61) - 1);
      const std::int64_t odd = static_cast<std::int64_t>(random() % (8 * length));
      if (*with == 'l') box[odd] = 0x1p50f;
      if (*with == 'h') box[odd] = 1.5f;
      if (*with == '-') box[odd] = -0.0f;
      const auto pieces = [&]<int count, int run>() {
        std::vector<std::uint64_t> partial(w.sums * w.pieces);
        const WeighedPiece<PrimeSum, FloatElement<DType::f32>, count, run> piece{
            w, {1}, reinterpret_cast<const std::byte*>(box), weights, partial.data()};
        for (std::int64_t i = 0; i < w.sums / count * w.pieces; ++i) piece(i);
        return gathered(w, partial);
      };
      const auto one = pieces.operator()<1, 1>(), four = pieces.operator()<4, 4>();
      for (std::int64_t row = 0; row < 8; ++row) {
        EXPECT_EQ(one[row] & ~kSigned, four[row] & ~kSigned) << row << " of " << length << with;
        const bool odd_here = row == odd / length;
        EXPECT_EQ(one[row] == kNoSum, *with == 'h' && odd_here);
        EXPECT_EQ((one[row] & kSigned) != 0, (*with == '-' || *with == 'h') && odd_here);
        const bool may = *with == '-' || *with == 'h';
        EXPECT_TRUE(*with != '-' || !odd_here || (four[row] & kSigned) != 0);
        EXPECT_TRUE(may || (four[row] & kSigned) == 0);
      }
    }
}

// Law: a sum begins at its indices times the steps, and where a box without dimensions lies before, nothing
// of that is read: its 0 pieces would divide.
TEST(Weighed, ASumBeginsWhereItsIndicesSay) {
  Weighed boxes[2];
  boxes[0].pieces = 0;
  Weighed& w = boxes[1];
  w.dim[0] = {3, 100, 10, 1}, w.dim[1] = {1, 7, 7, 7}, w.dim[2] = {4, 1, 3, 0};
  for (w.kept = 0; w.kept <= 3; ++w.kept) {
    std::int64_t sum = 0;
    for (int i = 0; i < (w.kept > 0 ? 3 : 1); ++i)
      for (int k = 0; k < (w.kept > 2 ? 4 : 1); ++k, ++sum) {
        const WeighedDim at = w.begin(sum);
        EXPECT_EQ(at.step, 100 * i + k) << sum << " of " << w.kept;
        EXPECT_EQ(at.sum, 10 * i + 3 * k) << sum << " of " << w.kept;
        EXPECT_EQ(at.weight, i) << sum << " of " << w.kept;
      }
  }
}

}  // namespace
}  // namespace plumb
