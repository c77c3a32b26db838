// What is left in the arena, and what nobody wrote there, is no answer.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/backend/arena_file.h"
#include "harness/backend/testing/fake.h"

namespace plumb {
namespace {

TEST(Arena, TheArenaCannotBeMadeShorter) {
  Process process(fake({"truncate", "1"}));
  const Outcome o = expect<Outcome>(process.run(gather(), operands()));
  EXPECT_EQ(process.read(o.blocks[0]), operands()[0].bytes);
}

TEST(Arena, WhatAnEarlierCaseLeftCannotPassForAnAnswer) {
  Process process(fake({"lazy", "1", "on", "7"}));
  expect<Outcome>(process.run(gather(), operands()));
  const Outcome o = expect<Outcome>(process.run(gather(" seed=7"), operands()));
  EXPECT_EQ(process.read(o.blocks[0]), std::vector<std::byte>(32, std::byte{0xff}));
}

TEST(Arena, WhatNobodyWroteIsNoAnswerInTheFirstCaseEither) {
  Process process(fake({"lazy", "1"}));
  for (int i = 0; i < 2; ++i) {
    const Outcome o = expect<Outcome>(process.run(gather(), operands()));
    EXPECT_EQ(process.read(o.blocks[0]), std::vector<std::byte>(32, std::byte{0xff})) << "case " << i;
  }
}

TEST(Arena, AnEmptyBlockMayLieAnywhere) {
  const std::string far = R"([{"op":"replace","path":"/2","value":2097152},
                              {"op":"replace","path":"/3","value":0},{"op":"replace","path":"/7","value":0}])";
  Process process(fake({"table", far}));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(expect<Outcome>(process.run(gather(), operands())).blocks[0].bytes, 0U) << "case " << i;
}

TEST(Arena, WhatACaseWithoutAnOutcomeLeftIsGoneToo) {
  Process process(fake({"say", R"({"type":"reneged","id":1,"message":"no"})", "on", "1"}));
  const Case large = parse_case("on x=2: reshard f32[256@x] -> f32[256] seed=1");
  Tensor operand = zeros(DType::f32, {256});
  operand.bytes.assign(1024, std::byte{7});
  expect<Reneged>(process.run(large, std::vector<Tensor>{operand}));
  expect<Outcome>(process.run(gather(), operands()));
  const Block written{.device = 0, .result = 0, .offset = 2048, .bytes = 512, .claim = {}};
  EXPECT_EQ(process.read(written), std::vector<std::byte>(512, std::byte{0xff}));
}

// Only so much is written with ones: behind it a page that nobody wrote reads so too.
TEST(Arena, PagesThatNobodyWroteReadAsOnes) {
  constexpr std::uint64_t mib = 1 << 20, due = 100 * mib;
  ArenaFile arena;
  arena.reach(2 * due);
  const std::vector<std::byte> zeros(3 * 4096), some(10, std::byte{7}), ones(4096, std::byte{0xff});
  const auto at = [&](std::uint64_t offset, std::uint64_t size) {
    std::vector<std::byte> bytes(size);
    arena.read(offset, bytes);
    return bytes;
  };
  for (int i = 0; i < 2; ++i) {
    arena.poison(64, due);
    for (const std::uint64_t offset :
         {std::uint64_t{64}, 50 * mib, 64 * mib - 2000, 90 * mib, 2 * due - 4096})
      EXPECT_EQ(at(offset, 4096), ones) << offset << " in case " << i;
    arena.write(90 * mib, zeros);
    EXPECT_EQ(at(90 * mib, zeros.size()), zeros) << "zeros that were written stay zeros";
    EXPECT_EQ(at(90 * mib + 3 * 4096, 4096), ones);
    arena.write(70, some);
    EXPECT_EQ(at(70, 10), some);
  }
}

// A seal keeps a backend from making the file shorter, not longer.
TEST(Arena, WhatABackendAddsToTheFileIsPoisonedAsTheRest) {
  constexpr std::uint64_t mib = 1 << 20;
  ArenaFile arena;
  const int file = ::open(arena.path().c_str(), O_RDWR);
  ASSERT_EQ(::ftruncate(file, 64 * mib), 0);
  ASSERT_EQ(::pwrite(file, "left", 4, 32 * mib), 4);
  arena.poison(64, 4096);
  EXPECT_EQ(arena.size(), 64 * mib);
  std::vector<std::byte> bytes(4);
  arena.read(32 * mib, bytes);
  EXPECT_EQ(bytes, std::vector<std::byte>(4, std::byte{0xff}));
  ASSERT_EQ(::ftruncate(file, 128 * mib), 0);
  arena.reach(100 * mib);
  EXPECT_EQ(arena.size(), 128 * mib);
  ::close(file);
}

}  // namespace
}  // namespace plumb
