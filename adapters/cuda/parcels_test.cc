#include "adapters/cuda/parcels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "adapters/cuda/device.h"
#include "adapters/plan/plan.h"
#include "reference/words/text.h"

namespace plumb::cuda {
namespace {

constexpr const char* lines[] = {
    "on x=4: reshard f32[8@x] -> f32[8]",
    "on x=4: reshard s8[32,16@x] -> s8[32,16]",
    "on x=2,y=2: reshard bf16[5@x.y,3] -> bf16[5,3@y]",
    "on x=2,y=2: reshard f32[8@x,6@y,2] -> f32[8@y,6@x,2]",
    "on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]",
    "on x=4: reshard f32[9,4]+x -> f32[9@x,4]",
    "on x=3: reshard f32[4,7]+x -> f32[4,7@x]",
    "on x=4: reshard bf16[300]+x -> bf16[300]",
    "on x=2,y=2: reshard f32[9]+max(x.y) -> f32[9@x]",
    "on x=2,y=2: reshard f32[9]+min(x) -> f32[9]+min(y)",
};

struct Drawn {
  std::mt19937_64 random{5};

  void elements(DType dtype, std::byte* at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(static_cast<std::int64_t>(random() % 4001) - 2000) / 7;
      store(dtype, at + i * format(dtype).bytes, encode(dtype, format(dtype).integer ? value / 3 : value));
    }
  }
  Blocks blocks(const Holder& own, const Spec& spec, DType stored) {
    Blocks all = allocate(own, spec, stored, Contents::poison);
    for (std::int64_t d = all.own.begin; d < all.own.end; ++d)
      elements(stored, all.block(d), all.elements(d));
    return all;
  }
};

Blocks copy_of(const Blocks& blocks) {
  Blocks copy = copy_here(blocks);
  bring_here(blocks, copy);
  return copy;
}

bool same(const Blocks& a, const Blocks& b) {
  return std::memcmp(a.memory.get(), b.memory.get(), a.offsets.back()) == 0;
}

// What a process makes of the sends that it has a part in.
struct Sides {
  std::vector<Parcel> leaves, arrives;
  std::int64_t leaving = 0, arriving = 0;  // bytes
};

Sides sides(const Link& link, const Round& round, std::int64_t mine) {
  Sides s;
  for (const Send& send : round.sends) {
    const bool here = send.from == mine && send.to == mine;
    if (here && link.from != link.to) s.arrives.push_back({send});
    if (here) continue;
    if (send.from == mine) s.leaves.push_back({send, s.leaving}), s.leaving += packed_bytes(link, send);
    if (send.to == mine) s.arrives.push_back({send, s.arriving}), s.arriving += packed_bytes(link, send);
  }
  return s;
}

void expect_same_bits(const Link& link, const Sides& s, Drawn& drawn) {
  const Move move = this_processor().move;
  const AlignedMemory want = aligned(s.leaving + 1), got = aligned(s.leaving + 1);
  for (const Parcel& p : s.leaves) pack(link, p.send, want.get() + p.at);
  pack_by(move, link, s.leaves, got.get())();
  EXPECT_EQ(std::memcmp(want.get(), got.get(), s.leaving), 0);

  const AlignedMemory came = aligned(s.arriving + 1);
  const DType wire = link.combine.wire;
  drawn.elements(wire, came.get(), s.arriving / format(wire).bytes);
  Blocks by_loops = copy_of(*link.to), by_device = copy_of(*link.to);
  const bool same_blocks = link.from == link.to;
  const Link loops{same_blocks ? &by_loops : link.from, &by_loops, link.cells, link.combine};
  for (const Parcel& p : s.arrives)
    p.at < 0 ? void(move_within(loops, {&p.send, 1})) : unpack(loops, p.send, came.get() + p.at);
  unpack_by(move, {same_blocks ? &by_device : link.from, &by_device, link.cells, link.combine}, s.arrives,
            came.get())();
  EXPECT_TRUE(same(by_loops, by_device));
}

// Law: a device packs and unpacks the bits that this processor's loops do, of every round of every plan,
// whatever becomes of elements that arrive, and of whatever format they are on their way.
TEST(Parcels, ADeviceMakesTheSameBits) {
  Drawn drawn;
  for (const char* line : lines)
    for (Style style : {Style::direct, Style::ring, Style::calls}) {
      const Case c = parse_case(line);
      const Plan p = plan(c, style, 1e6);
      for (const Leg& leg : p.legs)
        for (const Round& round : leg.rounds)
          for (DType wire : {leg.from.dtype, DType::f64, DType::bf16})
            for (std::int64_t mine = 0; mine < devices(c.mesh); ++mine) {
              const DType stored = leg.from.dtype;
              const Holder own{
                  &c.mesh, c.rule, {mine, mine + 1}
              };
              Blocks before = drawn.blocks(own, leg.from, stored), after = drawn.blocks(own, leg.to, stored);
              Blocks sums = drawn.blocks(own, leg.from, stored);
              Blocks& from = round.from == Side::before ? before : after;
              Blocks& to = round.to == Side::before ? before : round.add ? sums : after;
              const Combine how = !round.add ? placing(stored, wire)
                                  : leg.from.reduction == Reduce::sum
                                      ? adding(stored, wire)
                                      : taking(leg.from.reduction, stored, wire);
              const Link link{&from, &to, &leg.cells, how};
              SCOPED_TRACE(std::string(line) + " by " + std::string(format(wire).name));
              expect_same_bits(link, sides(link, round, mine), drawn);
            }
    }
}

}  // namespace
}  // namespace plumb::cuda
