#include "reference/check/device/device_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "reference/check/closed_form.h"
#include "reference/check/digest.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// A reshard, and the block of a device as it should be, in pieces small enough to be written again and again.
struct Given {
  explicit Given(const std::string& line, std::int64_t device)
      : p(prover(parse_case(line))),
        sizes(shape(result(p.c))),
        slice(block(p.c.mesh, result(p.c), p.c.rule, device)),
        cut(cutout(sizes, slice)),
        what(made(p)) {}
  Prover p;
  std::vector<std::int64_t> sizes;
  Slice slice;
  Cutout cut;
  std::optional<MadeOf> what;

  int width() const { return format(what->dtype).bytes; }
  // The same slice of one part, as the recipe writes it.
  std::vector<std::byte> written(std::int64_t part) const {
    std::vector<std::byte> bytes(cut.count * width());
    plumb::write(p.data, {0, part, slice}, bytes.data());
    return bytes;
  }
  Proof proof(const std::vector<std::byte>& bytes) const { return prove(p, {0, slice, bytes}, 1); }
};

// Every fill that knows an element by its index, of every dtype that has it: 10^6 elements of parts together.
std::vector<std::string> lines(const std::string& dtype) {
  const bool adds = dtype != "e8m0", draws = adds && dtype[0] != 's';
  std::vector<std::string> all{"on x=4,y=2: reshard {0}[1000@x,1000] -> {0}[1000,1000@y]",
                               "on x=3: reshard {0}[7@x] -> {0}[7]", "on x=2: reshard {0}[] -> {0}[]",
                               "on x=2: reshard {0}[0,3@x] -> {0}[0,3]"};
  if (draws) all.push_back("on x=2: reshard {0}[1000,1000@x] -> {0}[1000,1000] fill=normal");
  if (adds)
    all.insert(all.end(), {"on x=4,y=2: reshard {0}[500,500]+x -> {0}[500@y,500]",
                           "on x=4: reshard {0}[500,500]+max(x) -> {0}[500,500@x]",
                           "on x=4: reshard {0}[500,500]+min(x) -> {0}[500,500]",
                           "on x=16: reshard {0}[9,7]+x -> {0}[9@x,7]"});
  if (draws) all.push_back("on x=4: reshard {0}[500,500]+avg(x) -> {0}[500,500]");
  for (std::string& line : all) line = fmt::format(fmt::runtime(line), dtype);
  return all;
}

class EveryDType : public testing::TestWithParam<DType> {};

TEST_P(EveryDType, WritesWhatTheRecipeWrites) {
  for (const std::string& line : lines(std::string(format(GetParam()).name)))
    for (std::int64_t device : {0, 1}) {
      const Given given(line, device);
      ASSERT_TRUE(given.what) << line << ": " << given.p.unprovable;
      std::vector<std::byte> bytes(given.cut.count * given.width());
      for (std::int64_t part = 0; part < given.what->parts; ++part) {
        check_here().write(given.what->data, given.what->dtype, part, given.cut, bytes.data());
        const std::vector<std::byte> want = given.written(part);
        ASSERT_EQ(check_here().digest(given.what->dtype, given.cut, bytes.data(), 5),
                  digest_of(given.what->dtype, given.sizes, given.slice, want, 5))
            << line << " part " << part;
        ASSERT_TRUE(bytes == want) << line << " part " << part;
      }
    }
}

// What the host wants has no wrong element; one bit of it is found, at its place, and by the host there as
// well.
TEST_P(EveryDType, FindsAPlantedBit) {
  std::mt19937_64 random(7);
  for (const std::string& line : lines(std::string(format(GetParam()).name))) {
    const Given given(line, 1);
    std::vector<std::byte> bytes = wanted_elements(given.p, given.slice);
    const auto first = [&] { return check_here().first_wrong(*given.what, given.cut, bytes.data()); };
    ASSERT_EQ(first(), given.cut.count) << line;
    for (int bit = 0; given.cut.count > 0 && bit < 8 * given.width(); ++bit) {
      const auto at = static_cast<std::int64_t>(random() % given.cut.count);
      std::byte& byte = bytes[at * given.width() + bit / 8];
      byte ^= std::byte{1} << bit % 8;
      const bool same = given.proof(bytes).answer == Proof::Answer::proved;  // a zero of another sign
      ASSERT_EQ(first(), same ? given.cut.count : at) << line << " bit " << bit;
      byte ^= std::byte{1} << bit % 8;
    }
  }
}

// Digests of shards add up, and one bit changes them.
TEST(DeviceCheck, DigestsAddUp) {
  const char* line = "on x=4: reshard bf16[30,50] -> bf16[30@x,50]";
  std::uint64_t sum = 0;
  for (std::int64_t device = 0; device < 4; ++device) {
    const Given given(line, device);
    sum += check_here().digest(DType::bf16, given.cut, given.written(0).data(), 3);
  }
  const Given whole("on x=4: reshard bf16[30,50] -> bf16[30,50] seed=1", 0);
  std::vector<std::byte> bytes(3000);
  plumb::write(Given(line, 0).p.data,
               {
                   0, 0, {{0, 30}, {0, 50}}
  },
               bytes.data());
  EXPECT_EQ(check_here().digest(DType::bf16, whole.cut, bytes.data(), 3), sum);
  bytes[1234] ^= std::byte{16};
  EXPECT_NE(check_here().digest(DType::bf16, whole.cut, bytes.data(), 3), sum);
}

TEST(DeviceCheck, SaysNothingOfWhatItDoesNotKnow) {
  for (const char* line :
       {"on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]",
        "on x=2: reshard f32[8]+x -> f32[8] fill=normal", "on x=2,y=2: reshard f32[8]+x -> f32[8]+y"})
    EXPECT_FALSE(made(prover(parse_case(line)))) << line;
}

INSTANTIATE_TEST_SUITE_P(All, EveryDType,
                         testing::ValuesIn(std::vector<DType>{DType::s8, DType::s32, DType::f8e4m3,
                                                              DType::f8e5m2, DType::e8m0, DType::f16,
                                                              DType::bf16, DType::f32, DType::f64}),
                         [](const auto& one) { return std::string(format(one.param).name); });

TEST(DeviceCheck, ZerosOfBothSignsAreAlike) {
  for (const Format& f : kFormats) {
    const std::uint64_t zero = signed_zero(f.dtype);
    if (zero == 0) continue;
    alignas(8) std::byte block[3 * 8] = {};
    store(f.dtype, block + f.bytes, zero);
    EXPECT_EQ(check_here().first_unlike(f.dtype, 3, block), 3) << f.name;
    store(f.dtype, block + 2 * f.bytes, 1);
    EXPECT_EQ(check_here().first_unlike(f.dtype, 3, block), 2) << f.name;
  }
}

}  // namespace
}  // namespace plumb
