#include "adapters/rank/staged.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "adapters/rank/blocks.h"
#include "reference/fill/fill.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Memory that is set and put when somebody waits for it, or brings it here.
std::vector<std::function<void()>> later;
void do_all() {
  for (const auto& act : std::exchange(later, {})) act();
}
const Hands& late_hands() {
  static const Hands hands{
      {own_hands().memory.allocate, own_hands().memory.free,
       [](std::byte* at, int byte, std::size_t bytes) {
         later.emplace_back([=] { own_hands().memory.set(at, byte, bytes); });
       }, [](std::byte* at, const std::byte* here, std::size_t bytes) {
         later.emplace_back(
             [at, all = std::vector(here, here + bytes)] { own_hands().memory.put(at, all.data(), all.size()); });
       }, [](std::byte* here, const std::byte* at, std::size_t bytes) {
         do_all();
         own_hands().memory.get(here, at, bytes);
       }, own_hands().memory.copy,do_all},
      own_hands().recast
  };
  return hands;
}

// What is changed where it lies is put back.
TEST(Staged, NoClockSeesWhatWasSetOrPutBefore) {
  for (const char* line : {"on x=2: reshard f32[8]+x -> f32[8]", "on x=2: reshard bf16[8@x] -> bf16[8]"})
    for (bool changes : {false, true}) {
      const Case c = parse_case(line);
      const Holder all{
          &c.mesh, c.rule, {0, devices(c.mesh)},
           &late_hands()
      };
      Blocks operand = allocate(all, c.op.operands[0], c.op.operands[0].dtype, Contents::any);
      Blocks result = allocate(all, c.op.chain[0], c.op.chain[0].dtype, Contents::any);
      Ready ready;
      ready.operands = {&operand}, ready.given = c.op.operands, ready.results = {&result};
      ready.passage.changes = changes;
      const Plan plan;
      const Write none = [](std::size_t, std::int64_t, const Slice&, std::byte*) {};
      const Stages s = staged(plan, ready, all, none);
      EXPECT_EQ(static_cast<bool>(s.restore), changes);
      for (const auto& stage : {s.load, s.restore, s.wipe}) {
        later.emplace_back([] {});
        if (stage) stage();
        EXPECT_EQ(later.empty(), static_cast<bool>(stage)) << line;
        later.clear();
      }
    }
}

}  // namespace
}  // namespace plumb
