#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <thread>

#include "adapters/rank/round_call.h"
#include "adapters/rank/steps.h"
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
  std::atomic<int> reduced = 0, gathered = 0, averaged = 0;
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
  void swap(std::int64_t mine, const Team& g, const Swap& x) {
    std::vector<Letter> letters;
    for (std::size_t i = 0; i < g.ids.size(); ++i) {
      const std::byte* at = x.out.at + x.out.starts[i];
      letters.emplace_back(g.ids[i], std::vector(at, at + x.out.counts[i]));
    }
    const auto got = exchange(mine, letters, g.ids);
    for (std::size_t i = 0; i < g.ids.size(); ++i) {
      ASSERT_EQ(x.in.counts[i], std::ssize(got[i]));
      std::ranges::copy(got[i], x.in.at + x.in.starts[i]);
    }
  }
  void pass(std::int64_t mine, const Passing& p) {
    std::vector<Letter> letters;
    if (p.to >= 0) letters.emplace_back(p.to, std::vector(p.out.begin(), p.out.end()));
    std::vector<std::int64_t> from;
    if (p.from >= 0) from.push_back(p.from);
    for (const auto& one : exchange(mine, letters, from)) {
      ASSERT_EQ(p.in.size(), one.size());
      std::ranges::copy(one, p.in.begin());
    }
  }
  void gather(std::int64_t mine, const Team& g, const Gathering& x) {
    std::vector<Letter> letters;
    for (std::int64_t other : g.ids)
      letters.emplace_back(other, std::vector(x.in, x.in + x.out.counts[g.mine]));
    const auto all = exchange(mine, letters, g.ids);
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(x.out.counts[i], std::ssize(all[i]));
      std::ranges::copy(all[i], x.out.at + x.out.starts[i]);
    }
    ++gathered;
  }
  void reduce(std::int64_t mine, const Team& g, const Combination& r, bool scatters) {
    std::vector<Letter> letters;
    const int width = format(r.combine.wire).bytes;
    const std::byte* at = r.in;
    for (std::size_t i = 0; i < g.ids.size(); ++i) {
      const std::int64_t size = (scatters ? r.counts[i] : r.counts[0]) * width;
      letters.emplace_back(g.ids[i], std::vector(at, at + size));
      if (scatters) at += size;
    }
    const auto parts = exchange(mine, letters, g.ids);
    std::ranges::copy(parts[0], r.out);
    for (std::size_t i = 1; i < parts.size(); ++i)
      combine_travelling(r.combine, r.out, parts[i].data(), std::ssize(parts[i]) / width);
    if (r.combine.parts > 1) {
      const Recast divided{r.combine.wire, r.combine.wire, static_cast<double>(r.combine.parts), 0};
      own_hands().recast(divided, r.out, r.out, std::ssize(parts[0]) / width);
      ++averaged;
    }
    ++reduced;
  }
  Calls from(std::int64_t mine) {
    return {[=, this](const Team& g, const Combination& r) { reduce(mine, g, r, true); },
            [=, this](const Team& g, const Combination& r) { reduce(mine, g, r, false); },
            [=, this](const Team& g, const Gathering& x) { gather(mine, g, x); },
            [=, this](const Team& g, const Swap& x) { swap(mine, g, x); },
            [=, this](const Passing& p) { pass(mine, p); }};
  }
};

// Memory that no instruction of this processor reaches: an address there is no address here.
constexpr std::uintptr_t kFar = std::uintptr_t{1} << 62;
template <class Byte>
Byte* across(Byte* at) {
  return reinterpret_cast<Byte*>(reinterpret_cast<std::uintptr_t>(at) ^ kFar);
}

const Hands& far_hands() {
  static const Hands hands{
      {[](std::size_t bytes) { return across(own_hands().memory.allocate(bytes)); },
       [](std::byte* at) { own_hands().memory.free(across(at)); },
       [](std::byte* at, int byte,                                           std::size_t bytes) { own_hands().memory.set(across(at), byte, bytes); },
       [](std::byte* at, const std::byte* here, std::size_t bytes) {
         own_hands().memory.put(across(at), here, bytes);
       }, [](std::byte* here, const std::byte* at, std::size_t bytes) {
         own_hands().memory.get(here, across(at), bytes);
       }, [](std::byte* to, const std::byte* from, std::size_t bytes) {
         own_hands().memory.copy(across(to), across(from), bytes);
       }, own_hands().memory.wait},
      [](const Recast& how, const std::byte* from, std::byte* to, std::int64_t count) {
        own_hands().recast(how, across(from), across(to), count);
       }
  };
  return hands;
}

// A library that works there.
Calls over_there(const Calls& near) {
  const auto lots = [](const Lots& there) { return Lots{across(there.at), there.counts, there.starts}; };
  const auto combined = [](const auto& call) {
    return [call](const Team& g, const Combination& r) {
      call(g, {r.combine, r.counts, across(r.in), across(r.out)});
    };
  };
  return {combined(near.reduce_scatter), combined(near.all_reduce),
          [=](const Team& g, const Gathering& x) {
            near.all_gather(g, {across(x.in), lots(x.out)});
          },
          [=](const Team& g, const Swap& x) {
            near.all_to_all(g, {lots(x.out), lots(x.in)});
          },
          [=](const Passing& p) {
            near.permute({
                p.to, p.from, {across(p.out.data()), p.out.size()},
                  {across(p.in.data()),  p.in.size() }
            });
          }};
}

std::vector<Tensor> operands_of(const Case& c) {
  std::vector<Tensor> all;
  for (int i = 0; i < std::ssize(c.op.operands); ++i) all.push_back(fill(c, i));
  return all;
}

// A case on the devices of one process, made ready once and carried out twice: what is left of the first time
// is not seen the second.
Ready run(const Case& c, const Plan& plan, const Holder& holder, const Calls& library, bool averages) {
  Ready ready = make_ready(c, plan, {holder, through(library, holder), {}, {}, {}, averages});
  const std::vector<Tensor> whole = operands_of(c);
  std::vector<Operand> operands;
  for (const Tensor& t : whole) operands.push_back({t.bytes, t.shape});
  const Write near = cutting(c, operands);
  const Write far = [near](std::size_t i, std::int64_t part, const Slice& slice, std::byte* to) {
    near(i, part, slice, across(to));
  };
  for (int times = 0; times < 2; ++times) {
    load_operands(ready, holder, holder.hands == &own_hands() ? near : far);
    carry_out(ready);
  }
  return ready;
}

// Every device's block, by `processes` that hold as many each.
std::vector<std::vector<std::byte>> results(const Case& c, Style style, std::int64_t processes,
                                            const Hands& hands = own_hands(), int* averaged = nullptr) {
  const Plan p = plan(c, style, 1e6);
  const std::int64_t each = devices(c.mesh) / processes;
  std::vector<std::vector<std::byte>> all(devices(c.mesh));
  Post post(processes);
  std::vector<std::jthread> threads;
  for (std::int64_t mine = 0; mine < processes; ++mine)
    threads.emplace_back([&, mine] {
      const Range own{mine * each, (mine + 1) * each};
      const Calls near = post.from(mine), library = &hands == &own_hands() ? near : over_there(near);
      const Ready ready = run(c, p, {&c.mesh, c.rule, own, &hands}, library, averaged);
      const Blocks& blocks = *ready.results[0];
      EXPECT_TRUE(intact(blocks));
      for (std::int64_t device = own.begin; device < own.end; ++device) {
        all[device].resize(blocks.elements(device) * format(blocks.stored).bytes);
        hands.memory.get(all[device].data(), blocks.block(device), all[device].size());
      }
    });
  threads.clear();
  if (averaged) *averaged = post.averaged / 2;  // it is carried out twice
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

// Law: a mean has the same bits whether a library divides or this process does afterwards; it is asked to
// where the mean is one call, of all that the call adds up.
TEST(Rank, AMeanIsTheLibrarysWhereItIsOneCall) {
  const struct {
    const char* line;
    Style style;
    int calls;
  } rows[] = {
      {"on x=4: reshard f32[9]+avg(x) -> f32[9]",              Style::calls,  1},
      {"on x=4: reshard f32[9]+avg(x) -> f32[9@x]",            Style::direct, 1},
      {"on x=4: reshard bf16[9]+avg(x) -> bf16[9@x]",          Style::direct, 1},
      {"on x=2,y=2: reshard f32[9@y]+avg(x) -> f32[9@y.x]",    Style::calls,  1},
      {"on x=2,y=2: reshard f32[9]+avg(x)+y -> f32[9]+avg(x)", Style::calls,  0},
      {"on x=4: reshard f32[9]+x -> f32[9]",                   Style::calls,  0},
      {"on x=4: reshard f32[9]+avg(x) -> f32[9]",              Style::ring,   0},
  };
  for (const auto& [line, style, calls] : rows) {
    const Case c = parse_case(line);
    int asked = 0;
    EXPECT_EQ(results(c, style, 4, own_hands(), &asked), results(c, style, 4)) << line;
    EXPECT_EQ(asked, 4 * calls) << line;
  }
}

// Law: wherever blocks lie, a device's block has the same bits.
TEST(Rank, BlocksThatLieElsewhereHaveTheSameBits) {
  for (const std::string line : lines)
    for (Style style : {Style::direct, Style::ring, Style::calls}) {
      const Case c = parse_case(line);
      EXPECT_EQ(results(c, style, 4, far_hands()), results(c, style, 4)) << line;
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
  using Kind = RoundCall::Kind;
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
        if (const Kind kind = call_of(one, leg, round).kind; kind != Kind::stays) got.push_back(kind);
    EXPECT_EQ(got, calls) << line;
  }
}

// Where blocks lie as a call wants them, the call is given the blocks.
TEST(Rank, WhatLiesAsACallWantsItIsNotPacked) {
  const struct {
    const char* line;
    Style style;
    bool out, in;  // whether they lie in a block
  } rows[] = {
      {"on x=4: reshard f32[8@x,3] -> f32[8,3]",   Style::direct, true,  true },
      {"on x=4: reshard f32[3,8@x] -> f32[3,8]",   Style::direct, true,  false},
      {"on x=4: reshard f32[8]+x -> f32[8]",       Style::calls,  true,  true },
      {"on x=4: reshard bf16[8]+x -> bf16[8]",     Style::calls,  false, false},
      {"on x=4: reshard f32[8,3]+x -> f32[8@x,3]", Style::calls,  true,  true },
      {"on x=4: reshard f32[8,3]+x -> f32[8@x,3]", Style::direct, true,  true },
      {"on x=4: reshard f32[3,8]+x -> f32[3,8@x]", Style::direct, false, true },
      {"on x=4: reshard f16[8]+x -> f16[8@x]",     Style::direct, false, false},
      {"on x=4: reshard f32[8,8@x] -> f32[8@x,8]", Style::direct, true,  false},
      {"on x=4: reshard f32[8@x,8] -> f32[8,8@x]", Style::direct, false, true },
  };
  for (const auto& [line, style, out, in] : rows) {
    const Case c = parse_case(line);
    const Plan p = plan(c, style, 1e6);
    const Holder one{
        &c.mesh, c.rule, {0, 1}
    };
    const void *taken = nullptr, *made = nullptr;
    Calls library;
    library.reduce_scatter =
        library.all_reduce = [&](const Team&, const Combination& r) { taken = r.in, made = r.out; };
    library.all_gather = [&](const Team&, const Gathering& x) { taken = x.in, made = x.out.at; };
    library.all_to_all = [&](const Team&, const Swap& x) { taken = x.out.at, made = x.in.at; };
    const Ready ready = make_ready(c, p, {one, through(library, one), {}, {}});
    carry_out(ready);
    const auto in_a_block = [&](const void* at) {
      return std::ranges::any_of(ready.passage.blocks, [&](const Blocks& b) { return b.memory.get() == at; });
    };
    EXPECT_EQ(in_a_block(taken), out) << line;
    EXPECT_EQ(in_a_block(made), in) << line;
    EXPECT_EQ(ready.passage.packed.empty(), in && out) << line;
    EXPECT_EQ(ready.passage.packings.size(), ready.passage.packed.size()) << line;
    taken = nullptr;
    for (const auto& packing : ready.passage.packings) packing();
    EXPECT_EQ(taken, nullptr) << "nobody is called: " << line;
  }
}

Blocks loaded(const Case& c, const Range& own) {
  const Spec& spec = c.op.operands[0];
  Blocks blocks = allocate({&c.mesh, c.rule, own}, spec, spec.dtype, Contents::any);
  for (std::int64_t device = own.begin; device < own.end; ++device) {
    const Tensor mine = fill_slice(c, 0, 0, blocks.slice(device));
    if (!mine.bytes.empty()) std::memcpy(blocks.block(device), mine.bytes.data(), mine.bytes.size());
  }
  return blocks;
}

// Law: what each of several processes knows, the larger taken, is what one knows that holds all.
TEST(Rank, MagnitudesAreReducedByTheirMaximum) {
  for (const char* line : {"on x=2,y=2: quantize fp8 bf16[8@x,6@y] -> f8e4m3[8@x,6@y] f32[]",
                           "on x=2,y=2: quantize mxfp8 bf16[64@x,64@y] -> f8e4m3[64@x,64@y] e8m0[64,2]",
                           "on x=4: quantize fp8 bf16[8@x,6] sizes=3,2 -> f8e4m3[8@x,6] f32[2]"}) {
    const Case c = parse_case(line);
    const Quantizer q = *quantizer(c, 0);
    const Magnitudes all = magnitudes(c.mesh, q, loaded(c, {0, 4}));
    Magnitudes reduced;
    for (std::int64_t mine = 0; mine < 4; ++mine) {
      const Magnitudes one = magnitudes(c.mesh, q, loaded(c, {mine, mine + 1}));
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
