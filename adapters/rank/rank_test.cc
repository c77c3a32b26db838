#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <thread>

#include "adapters/rank/calls.h"
#include "adapters/rank/legs.h"
#include "adapters/rank/multiply.h"
#include "adapters/rank/quantize.h"
#include "reference/fill/fill.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// A library of collectives for processes that are threads: letters lie in the mailbox of (from, to) between
// two barriers. What is added up is added up by the first member of a group, in order.
struct Post {
  explicit Post(std::int64_t processes) : barrier(processes), mail(processes * processes), n(processes) {}
  std::barrier<> barrier;
  std::vector<std::vector<std::byte>> mail;
  std::int64_t n;
  std::atomic<int> reduced = 0, gathered = 0;
  using Letter = std::pair<std::int64_t, std::vector<std::byte>>;  // with whom it is exchanged

  // Brings every letter to its process, and those of `from` here.
  std::vector<std::vector<std::byte>> exchange(std::int64_t mine, const std::vector<Letter>& letters,
                                               const std::vector<std::int64_t>& from) {
    for (const auto& [to, letter] : letters) mail[mine * n + to] = letter;
    barrier.arrive_and_wait();
    std::vector<std::vector<std::byte>> got;
    for (std::int64_t other : from) got.push_back(mail[other * n + mine]);
    barrier.arrive_and_wait();
    return got;
  }
  void parcels(std::int64_t mine, std::vector<Parcel>& all) {
    std::vector<Letter> letters;
    std::vector<std::int64_t> others;
    for (const Parcel& p : all) letters.emplace_back(p.process, p.out), others.push_back(p.process);
    const auto got = exchange(mine, letters, others);
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i].in.size(), got[i].size());
      all[i].in = got[i];
    }
  }
  void gather(std::int64_t mine, const Team& g, Gathering& x) {
    std::vector<Letter> letters;
    for (std::int64_t other : g.ids) letters.emplace_back(other, x.in);
    auto out = x.out.begin();
    for (const auto& one : exchange(mine, letters, g.ids)) out = std::ranges::copy(one, out).out;
    EXPECT_EQ(out, x.out.end());
    ++gathered;
  }
  void reduce(std::int64_t mine, const Team& g, Combination& r, bool scatters) {
    std::vector<Letter> letters;
    const int width = format(r.combine.wire).bytes;
    for (std::size_t i = 0, at = 0; i < g.ids.size(); ++i) {
      const std::size_t size = (scatters ? r.counts[i] : r.counts[0]) * width;
      letters.emplace_back(g.ids[i], std::vector(r.in.begin() + at, r.in.begin() + at + size));
      if (scatters) at += size;
    }
    const auto parts = exchange(mine, letters, g.ids);
    ASSERT_EQ(parts[0].size(), r.out.size());
    r.out = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i)
      combine_travelling(r.combine, r.out.data(), parts[i].data(), std::ssize(r.out) / width);
    ++reduced;
  }
  Calls from(std::int64_t mine) {
    return {[=, this](const Team& g, Combination& r) { reduce(mine, g, r, true); },
            [=, this](const Team& g, Combination& r) { reduce(mine, g, r, false); },
            [=, this](const Team& g, Gathering& x) { gather(mine, g, x); },
            [=, this](const Team&, std::vector<Parcel>& all) { parcels(mine, all); },
            [=, this](std::vector<Parcel>& all) { parcels(mine, all); }};
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
Blocks run(const Case& c, const Plan& plan, const Range& own, const Calls& library) {
  const Holder holder{&c.mesh, c.rule, own};
  const Carry carried = through(library, holder);
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

constexpr const char* lines[] = {
    "on x=4: reshard f32[8@x] -> f32[8]",
    "on x=2,y=2: reshard bf16[5@x.y,3] -> bf16[5,3@y]",
    "on x=2,y=2: reshard f32[8@x,8@y] -> f32[8@y,8@x]",
    "on x=2,y=2 ids=3,1,0,2: reshard f32[7@x] -> f32[7@y]",
    "on x=4: reshard f32[9]+x -> f32[9@x]",
    "on x=4: reshard bf16[300]+x -> bf16[300] acc=f32",
    "on x=2,y=2: reshard bf16[9]+x.y -> bf16[9@x] wire=f32",
    "on x=2,y=2: reshard f32[9]+avg(x)+y -> f32[9@y]",
    "on x=4: reshard s8[9]+max(x) -> s8[9]",
    "on x=2,y=2: reshard f32[9]+max(x) -> f32[9@x] -> f32[9]+max(y)",
    "on x=2,y=2: einsum mk,kn->mn bf16[8@x,6@y] bf16[6@y,5] -> bf16[8@x,5]",
    "on x=4: einsum mk,kn->mn s8[8@x,6] s8[6@x,5] -> s32[8,5@x]",
    "on x=2,y=2: grouped fwd f32[8@x,6] f32[3@y,6,5] sizes=3,1,4 -> f32[8@x,5]",
    "on y=2 of x=2,y=2: reshard f32[5]+y -> f32[5@y]",
};

// Law: whether a process holds all devices, some or one, a device's block has the same bits. Those of sums
// that are rounded too, but where a library adds up, in an order of its own.
TEST(Rank, ManyProcessesMakeWhatOneDoes) {
  for (const std::string line : lines)
    for (Style style : {Style::direct, Style::ring, Style::calls}) {
      const Case exact = parse_case(line);
      EXPECT_EQ(results(exact, style, 4), results(exact, style, 1)) << line;
      const bool rounds = line.find("max") == line.npos && line.find("s8") == line.npos;
      const Case rounded = rounds ? parse_case(line + " fill=normal") : exact;
      EXPECT_EQ(results(rounded, style, 2), results(rounded, style, 1)) << line;
    }
}

// Law: of a sum that a library makes everywhere at once replicas have the same bits, whatever it rounds.
TEST(Rank, ReplicasOfAnAllReduceAgree) {
  for (std::int64_t processes : {1, 2, 4}) {
    const auto all =
        results(parse_case("on x=4: reshard f32[300]+x -> f32[300] fill=normal"), Style::calls, processes);
    for (const auto& block : all) EXPECT_EQ(block, all[0]) << processes;
  }
}

// A step of a plan is a call of the library, where there is one that does it.
TEST(Rank, RoundsAreTheCallsTheyAreNamedAfter) {
  using Kind = Formed::Kind;
  const struct {
    const char* line;
    Style style;
    std::vector<Kind> calls;
  } rows[] = {
      {"on x=4: reshard f32[8@x] -> f32[8]",           Style::direct, {Kind::all_gather}                      },
      {"on x=4: reshard f32[8]+x -> f32[8@x]",         Style::direct, {Kind::reduce_scatter}                  },
      {"on x=4: reshard f32[8]+x -> f32[8]",           Style::direct, {Kind::reduce_scatter, Kind::all_gather}},
      {"on x=4: reshard f32[8]+x -> f32[8]",           Style::calls,  {Kind::all_reduce}                      },
      {"on x=4: reshard f32[8@x,8] -> f32[8,8@x]",     Style::direct, {Kind::all_to_all}                      },
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]", Style::direct, {Kind::permute}                         },
      {"on x=3: reshard f32[9@x] -> f32[9]",           Style::ring,   {Kind::permute, Kind::permute}          },
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]",   Style::calls,  {Kind::reduce_scatter, Kind::all_reduce}},
      {"on x=4: reshard f32[8] -> f32[8@x]",           Style::direct, {}                                      },
  };
  for (const auto& [line, style, calls] : rows) {
    const Case c = parse_case(line);
    const Plan p = plan(c, style, 1e6);
    const Holder one{
        &c.mesh, c.rule, {0, 1}
    };
    std::vector<Kind> got;
    for (const Leg& leg : p.legs)
      for (const Round& round : leg.rounds)
        if (const Kind kind = formed(one, leg, round).kind; kind != Kind::stays) got.push_back(kind);
    EXPECT_EQ(got, calls) << line;
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
      for (const Send& s : all[mine].arrives) sends += s.from / 2 == s.to / 2;
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
