#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <thread>

#include "adapters/rank/exchange.h"
#include "adapters/rank/legs.h"
#include "adapters/rank/multiply.h"
#include "adapters/rank/quantize.h"
#include "reference/fill/fill.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// What a library of collectives would do for processes that are threads: letters lie in the mailbox of
// (from, to) between two barriers.
struct Post {
  explicit Post(std::int64_t processes) : barrier(processes), mail(processes * processes), n(processes) {}
  std::barrier<> barrier;
  std::vector<std::vector<std::byte>> mail;
  std::int64_t n;
  Call from(std::int64_t mine) {
    return [this, mine](std::vector<Parcel>& parcels) {
      for (const Parcel& p : parcels) mail[mine * n + p.process] = p.out;
      barrier.arrive_and_wait();
      for (Parcel& p : parcels) {
        ASSERT_EQ(p.in.size(), mail[p.process * n + mine].size());
        p.in = mail[p.process * n + mine];
      }
      barrier.arrive_and_wait();
    };
  }
};

Blocks load(const Holder& holder, const Case& c, int operand) {
  const Spec& spec = c.op.operands[operand];
  Blocks blocks = allocate(holder, spec, spec.dtype, Contents::any);
  for (std::int64_t device = holder.own.begin; device < holder.own.end; ++device) {
    const Tensor mine = fill_slice(c, operand, part(c.mesh, spec, device), blocks.slice(device));
    if (!mine.bytes.empty()) std::memcpy(blocks.block(device), mine.bytes.data(), mine.bytes.size());
  }
  return blocks;
}

// A case on the devices of one process.
Blocks run(const Case& c, const Plan& plan, const Range& own, const Call& call) {
  const Holder holder{&c.mesh, c.rule, own};
  const Carry carried = [&](const Link& link, const Round& round) { carry(link, round, call); };
  const auto along = [&](const std::vector<Leg>& legs, Blocks value, bool last) {
    for (std::size_t i = 0; i < legs.size(); ++i)
      value = walk({plan, legs[i], kept_as(plan, legs[i].to, last && i + 1 == legs.size())}, std::move(value),
                   carried);
    return value;
  };
  std::vector<Blocks> values;
  for (int i = 0; i < std::ssize(c.op.operands); ++i)
    values.push_back(along(plan.inputs[i], load(holder, c, i), false));
  return along(plan.legs, plan.product ? multiply(plan, values[0], values[1]) : std::move(values[0]), true);
}

// Every device's block, by `processes` that hold as many each.
std::vector<std::vector<std::byte>> results(const Case& c, Style style, std::int64_t processes) {
  const Plan p = plan(c, style, 1e6);
  const std::int64_t each = devices(c.mesh) / processes;
  std::vector<std::vector<std::byte>> all(devices(c.mesh));
  Post post(processes);
  std::vector<std::jthread> threads;
  for (std::int64_t mine = 0; mine < processes; ++mine)
    threads.emplace_back([&, mine] {
      const Range own{mine * each, (mine + 1) * each};
      const Blocks blocks = run(c, p, own, post.from(mine));
      EXPECT_TRUE(intact(blocks));
      for (std::int64_t device = own.begin; device < own.end; ++device)
        all[device].assign(blocks.block(device),
                           blocks.block(device) + blocks.elements(device) * format(blocks.stored).bytes);
    });
  threads.clear();
  return all;
}

// Law: whether a process holds all devices, some or one, a device's block has the same bits; data that round
// too.
TEST(Rank, ManyProcessesMakeWhatOneDoes) {
  for (const char* line : {
           "on x=4: reshard f32[8@x] -> f32[8]",
           "on x=2,y=2: reshard bf16[5@x.y,3] -> bf16[5,3@y]",
           "on x=2,y=2 ids=3,1,0,2: reshard f32[7@x] -> f32[7@y]",
           "on x=4: reshard f32[9]+x -> f32[9@x] fill=normal",
           "on x=4: reshard bf16[300]+x -> bf16[300] acc=f32 fill=normal",
           "on x=2,y=2: reshard bf16[9]+x.y -> bf16[9@x] wire=f32 fill=normal",
           "on x=2,y=2: reshard f32[9]+avg(x)+y -> f32[9@y]",
           "on x=4: reshard s8[9]+max(x) -> s8[9@x]",
           "on x=2,y=2: reshard f32[9]+max(x) -> f32[9@x] -> f32[9]+max(y)",
           "on x=2,y=2: einsum mk,kn->mn bf16[8@x,6@y] bf16[6@y,5] -> bf16[8@x,5] fill=normal",
           "on x=4: einsum mk,kn->mn s8[8@x,6] s8[6@x,5] -> s32[8,5@x]",
           "on x=2,y=2: grouped fwd f32[8@x,6] f32[3@y,6,5] sizes=3,1,4 -> f32[8@x,5] fill=normal",
           "on y=2 of x=2,y=2: reshard f32[5]+y -> f32[5@y]",
       })
    for (Style style : {Style::direct, Style::ring}) {
      const Case c = parse_case(line);
      const auto one = results(c, style, 1);
      EXPECT_EQ(results(c, style, 2), one) << line;
      EXPECT_EQ(results(c, style, 4), one) << line;
    }
}

// What leaves one process arrives at the other: the same sends, in the same order, in as many bytes.
TEST(Rank, ParcelsOfAPairAreEachOthers) {
  const Case c = parse_case("on x=2,y=3: reshard bf16[12@x,5]+y -> bf16[12@y.x,5]");
  const Plan p = plan(c, Style::direct, 1e6);
  const Leg& leg = p.legs[0];
  for (const Round& round : leg.rounds) {
    std::vector<Exchange> all;
    for (std::int64_t mine = 0; mine < 3; ++mine) {
      Blocks blocks = allocate(
          {
              &c.mesh, c.rule, {2 * mine, 2 * mine + 2}
      },
          leg.to, DType::bf16, Contents::any);
      all.push_back(exchange({&blocks, &blocks, &leg.cells, copying(DType::bf16)}, round));
    }
    std::size_t sends = 0;
    for (std::int64_t mine = 0; mine < 3; ++mine) {
      sends += all[mine].stays.size();
      for (const Parcel& parcel : all[mine].parcels) {
        sends += parcel.sent.size();
        const auto& theirs = all[parcel.process].parcels;
        const auto back = std::ranges::find(theirs, mine, &Parcel::process);
        ASSERT_NE(back, theirs.end());
        EXPECT_EQ(parcel.sent, back->received);
        EXPECT_EQ(parcel.out.size(), back->in.size());
      }
    }
    EXPECT_EQ(sends, round.sends.size());
  }
}

// Law: what each of several processes knows, the larger taken, is what one knows that holds all.
TEST(Rank, MagnitudesAreReducedByTheirMaximum) {
  for (const char* line : {"on x=2,y=2: quantize fp8 bf16[8@x,6@y] -> f8e4m3[8@x,6@y] f32[]",
                           "on x=2,y=2: quantize mxfp8 bf16[64@x,64@y] -> f8e4m3[64@x,64@y] e8m0[64,2]",
                           "on x=4: quantize fp8 bf16[8@x,6] sizes=3,2 -> f8e4m3[8@x,6] f32[2]"}) {
    const Case c = parse_case(line);
    const Quantizer q = *quantizer(c, 0);
    const Magnitudes all = magnitudes(c.mesh, q, load(holder_of_all(c.mesh, c.rule), c, 0));
    Magnitudes reduced;
    for (std::int64_t mine = 0; mine < 4; ++mine) {
      const Magnitudes one = magnitudes(c.mesh, q,
                                        load(
                                            {
                                                &c.mesh, c.rule, {mine, mine + 1}
      },
                                            c, 0));
      if (mine == 0) reduced = one;
      for (std::size_t i = 0; i < one.most.size(); ++i)
        for (std::size_t t = 0; t < one.most[i].size(); ++t)
          reduced.most[i][t] = std::max(reduced.most[i][t], one.most[i][t]);
    }
    EXPECT_EQ(reduced.most, all.most) << line;
  }
}

}  // namespace
}  // namespace plumb
