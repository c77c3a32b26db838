#include "adapters/nccl/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "adapters/card/memory.h"
#include "adapters/nccl/forms.h"
#include "adapters/protocol/ranks.h"
#include "adapters/rank/blocks.h"

namespace plumb::nccl {
namespace {

// Operations of the case's communicators, elements and numbers of parts.
std::map<std::tuple<ncclComm_t, DType, std::int64_t>, ncclRedOp_t> scaled;

// That of a mean whose parts are multiplied first is made the first time that a case wants it.
ncclRedOp_t premultiplied(const Combine& combine, ncclComm_t comm) {
  const auto [at, made] = scaled.try_emplace({comm, combine.wire, combine.parts}, ncclSum);
  if (!made) return at->second;
  std::array<std::byte, 8> part{};
  store(combine.wire, part.data(), encode(combine.wire, 1.0 / static_cast<double>(combine.parts)));
  check(nccl().RedOpCreatePreMulSum(&at->second, part.data(), type_of(combine.wire), ncclScalarHostImmediate,
                                    comm),
        comm, "ncclRedOpCreatePreMulSum");
  return at->second;
}

void forget_scaled() {
  for (const auto& [of, op] : scaled) static_cast<void>(nccl().RedOpDestroy(op, std::get<0>(of)));
  scaled.clear();
}

ncclRedOp_t operation(const Combine& combine, ncclComm_t comm) {
  if (combine.run == taking(Reduce::max, combine.acc, combine.wire).run) return ncclMax;
  if (combine.run == taking(Reduce::min, combine.acc, combine.wire).run) return ncclMin;
  if (combine.parts == 1) return ncclSum;
  return world().average == Average::library ? ncclAvg : premultiplied(combine, comm);
}

std::size_t unsign(std::int64_t n) { return static_cast<std::size_t>(n); }

bool alike(std::span<const std::int64_t> counts) {
  return std::ranges::all_of(counts, [&](std::int64_t n) { return n == counts[0]; });
}

// Shares of one size, one after another.
bool even(const Lots& lots) {
  for (std::size_t i = 1; i < lots.starts.size(); ++i)
    if (lots.starts[i] != lots.starts[i - 1] + lots.counts[0]) return false;
  return alike(lots.counts);
}

void all_reduce(const Team& g, const Combination& r) {
  const auto type = type_of(r.combine.wire);
  const auto make = [&](const std::byte* in, std::byte* out, std::size_t n, ncclComm_t by, cudaStream_t on) {
    return nccl().AllReduce(in, out, n, type, operation(r.combine, by), by, on);
  };
  const std::size_t width = format(r.combine.wire).bytes, n = unsign(r.counts[0]);
  carry_out(world().form, communicator(g),
            {"ncclAllReduce", std::ref(make), r.in, r.out, n, n * width, n * width, width, 0, true, type,
             operation(r.combine, communicator(g))});
}

// Of shares of several sizes it is a reduction to each member.
void reduce_scatter(const Team& g, const Combination& r) {
  const auto type = type_of(r.combine.wire);
  const ncclComm_t comm = communicator(g);
  const std::size_t width = format(r.combine.wire).bytes;
  if (alike(r.counts)) {
    const auto make = [&](const std::byte* in, std::byte* out, std::size_t n, ncclComm_t by,
                          cudaStream_t on) {
      return nccl().ReduceScatter(in, out, n, type, operation(r.combine, by), by, on);
    };
    const std::size_t n = unsign(r.counts[0]), share = n * width;
    return carry_out(world().form, comm,
                     {"ncclReduceScatter", std::ref(make), r.in, r.out, n, share * g.ids.size(), share, width,
                      share * g.mine, false, type, operation(r.combine, comm)});
  }
  const ncclRedOp_t op = operation(r.combine, comm);
  in_group(comm, [&] {
    const std::byte* from = r.in;
    for (std::size_t i = 0; i < r.counts.size(); from += unsign(r.counts[i++]) * width)
      if (r.counts[i] > 0)
        check(nccl().Reduce(from, r.out, unsign(r.counts[i]), type, op, static_cast<int>(i), comm, stream()),
              comm, "ncclReduce");
  });
  finish(comm, stream(), "ncclReduce");
  made_plain("ncclReduce");
}

void send(const std::byte* at, std::int64_t bytes, std::int64_t to, ncclComm_t comm) {
  if (bytes > 0)
    check(nccl().Send(at, unsign(bytes), ncclInt8, static_cast<int>(to), comm, stream()), comm, "ncclSend");
}

void receive(std::byte* at, std::int64_t bytes, std::int64_t from, ncclComm_t comm) {
  if (bytes > 0)
    check(nccl().Recv(at, unsign(bytes), ncclInt8, static_cast<int>(from), comm, stream()), comm, "ncclRecv");
}

void all_gather(const Team& g, const Gathering& x) {
  const ncclComm_t comm = communicator(g);
  const Lots& out = x.out;
  if (even(out)) {
    const auto make = [&](const std::byte* in, std::byte* to, std::size_t n, ncclComm_t by, cudaStream_t on) {
      return nccl().AllGather(in, to, n, ncclInt8, by, on);
    };
    const std::size_t share = unsign(out.counts[0]);
    return carry_out(world().form, comm,
                     {"ncclAllGather", std::ref(make), x.in, out.at + out.starts[0], share, share,
                      share * g.ids.size(), 1, share * g.mine});
  }
  in_group(comm, [&] {
    for (std::size_t i = 0; i < g.ids.size(); ++i) {
      send(x.in, out.counts[g.mine], static_cast<std::int64_t>(i), comm);
      receive(out.at + out.starts[i], out.counts[i], static_cast<std::int64_t>(i), comm);
    }
  });
  finish(comm, stream(), "ncclSend and ncclRecv");
  made_plain("ncclSend and ncclRecv");
}

void all_to_all(const Team& g, const Swap& x) {
  const ncclComm_t comm = communicator(g);
  in_group(comm, [&] {
    for (std::size_t i = 0; i < g.ids.size(); ++i) {
      send(x.out.at + x.out.starts[i], x.out.counts[i], static_cast<std::int64_t>(i), comm);
      receive(x.in.at + x.in.starts[i], x.in.counts[i], static_cast<std::int64_t>(i), comm);
    }
  });
  finish(comm, stream(), "ncclSend and ncclRecv");
  made_plain("ncclSend and ncclRecv");
}

void permute(const Passing& p) {
  const ncclComm_t comm = communicator_of_mesh();
  in_group(comm, [&] {
    if (p.to >= 0) send(p.out.data(), std::ssize(p.out), p.to, comm);
    if (p.from >= 0) receive(p.in.data(), std::ssize(p.in), p.from, comm);
  });
  finish(comm, stream(), "ncclSend and ncclRecv");
  made_plain("ncclSend and ncclRecv");
}

// As integers: magnitudes are not negative, and a NaN is larger than all of them.
void largest(const Team& g, std::span<float> numbers) {
  const Hands& hands = card::card_hands();
  const AlignedMemory there = aligned(numbers.size_bytes(), hands);
  auto* here = reinterpret_cast<std::byte*>(numbers.data());
  hands.memory.put(there.get(), here, numbers.size_bytes());
  const ncclComm_t comm = communicator(g);
  check(nccl().AllReduce(there.get(), there.get(), numbers.size(), ncclInt32, ncclMax, comm, stream()), comm,
        "ncclAllReduce");
  finish(comm, stream(), "ncclAllReduce");
  hands.memory.get(here, there.get(), numbers.size_bytes());
}

std::vector<std::vector<Told>> told_of_calls;
bool telling = true;
std::size_t devices_of_case = 0;

std::size_t ranks_of(const Team& g, const auto&...) { return g.ids.size(); }
std::size_t ranks_of(const Passing&) { return devices_of_case; }

// Before 2.27 the library does not say of how many ranks a communicator is: it was made of the team's.
std::vector<Told> among(std::size_t ranks, std::vector<Told> calls) {
  for (Told& one : calls)
    if (one.circle.ranks == 0) one.circle.ranks = static_cast<int>(ranks);
  return calls;
}

// A call of ours may be several of the library's.
template <class Make>
auto told_of(Make make) {
  return [make](const auto&... given) {
    if (telling) static_cast<void>(told_since_asked());  // what others called for
    make(given...);
    if (telling) told_of_calls.push_back(among(ranks_of(given...), told_since_asked()));
  };
}

}  // namespace

void begin_case(const Mesh& mesh) {
  forget_known(), forget_forms(), forget_scaled();
  begin_mesh(mesh);
  devices_of_case = unsign(devices(mesh));
  told_of_calls.clear();
  tell_of_calls(true);
}

void tell_of_calls(bool on) {
  telling = on && world().form != Form::graph;
  listen(telling);
}

std::vector<std::vector<Told>> calls_told() { return std::exchange(told_of_calls, {}); }

std::vector<std::vector<Counted>> of_all(std::size_t n, const std::vector<Counted>& own) {
  const std::size_t bytes = own.size() * sizeof(Counted);
  const Hands& hands = card::card_hands();
  const AlignedMemory in = aligned(bytes, hands), out = aligned(n * bytes, hands);
  const ncclComm_t comm = communicator_beside();
  std::vector<Counted> flat(n * own.size());
  listen(false);
  entering("comparing what was called");
  hands.memory.put(in.get(), reinterpret_cast<const std::byte*>(own.data()), bytes);
  check(nccl().AllGather(in.get(), out.get(), bytes, ncclInt8, comm, stream()), comm, "ncclAllGather");
  finish(comm, stream(), "ncclAllGather");
  hands.memory.get(reinterpret_cast<std::byte*>(flat.data()), out.get(), n * bytes);
  leaving();
  listen(telling);
  std::vector<std::vector<Counted>> all;
  for (std::size_t r = 0; r < n; ++r)
    all.emplace_back(flat.begin() + std::ssize(own) * static_cast<std::ptrdiff_t>(r),
                     flat.begin() + std::ssize(own) * static_cast<std::ptrdiff_t>(r + 1));
  return all;
}

Calls calls() {
  return {.reduce_scatter = told_of(reduce_scatter),
          .all_reduce = told_of(all_reduce),
          .all_gather = told_of(all_gather),
          .all_to_all = told_of(all_to_all),
          .permute = told_of(permute),
          .largest = told_of(largest),
          .join = join,
          .known = known,
          .entering = [](int known) { entering(known); },
          .leaving = leaving};
}

ncclDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::s8:
      return ncclInt8;
    case DType::s32:
      return ncclInt32;
    case DType::f8e4m3:
      return ncclFloat8e4m3;
    case DType::f8e5m2:
      return ncclFloat8e5m2;
    case DType::f16:
      return ncclFloat16;
    case DType::bf16:
      return ncclBfloat16;
    case DType::f32:
      return ncclFloat32;
    case DType::f64:
      return ncclFloat64;
    case DType::e8m0:
      break;
  }
  return ncclUint8;
}

std::string why_not_added(DType dtype, int sm) {
  constexpr int first = NCCL_VERSION(2, 24, 0);
  if (dtype != DType::f8e4m3 && dtype != DType::f8e5m2) return "";
  const std::string_view name = format(dtype).name;
  if (nccl().version < first)
    return fmt::format("sums of {}: {} is NCCL {}, and 2.24 is the first that has them", name, nccl().file,
                       version_in_words(nccl().version));
  return sm < 90 ? fmt::format("sums of {} on sm_{}: NCCL has them from sm_90 on", name, sm) : "";
}

}  // namespace plumb::nccl
