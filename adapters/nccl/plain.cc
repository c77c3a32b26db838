#include "adapters/nccl/plain.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "adapters/card/memory.h"
#include "adapters/rank/at_best.h"
#include "adapters/rank/blocks.h"
#include "reference/words/dtype.h"

namespace plumb::nccl {
namespace {

SharedMemory drawn_on_card(std::size_t bytes) { return drawn_like_blocks(bytes, card::card_hands()); }

// This rank's fibre along the axes of a collective, as a team that was made ready.
Team team_of(const Mesh& mesh, const Collective& c, std::int64_t rank) {
  for (const auto& ids : fibres(mesh, axes_named(mesh, c.axes)))
    if (const auto at = std::ranges::find(ids, rank); at != ids.end())
      return {ids, static_cast<std::size_t>(at - ids.begin())};
  return {};
}

// What a call takes and gives.
struct Ends {
  SharedMemory in, out;
  std::size_t takes = 0, gives = 0;  // elements
  ncclDataType_t type = ncclFloat32;
};

std::function<ncclResult_t()> call_of(const Collective& c, ncclComm_t comm, std::size_t n, const Ends& e) {
  if (c.kind == "all-reduce")
    return
        [=] { return nccl().AllReduce(e.in.get(), e.out.get(), e.takes, e.type, ncclSum, comm, stream()); };
  if (c.kind == "reduce-scatter" && e.takes == e.gives * n)
    return [=] {
      return nccl().ReduceScatter(e.in.get(), e.out.get(), e.gives, e.type, ncclSum, comm, stream());
    };
  if (c.kind == "all-gather" && e.gives == e.takes * n)
    return [=] { return nccl().AllGather(e.in.get(), e.out.get(), e.takes, e.type, comm, stream()); };
  return nullptr;
}

}  // namespace

std::function<std::int64_t()> plain_call(const Mesh& mesh, const Ready& ready, const Team& all) {
  const Trace& trace = ready.trace;
  if (trace.size() != 1 || trace[0].axes.empty()) return {};
  const Collective& c = trace[0];
  const auto dtype = dtype_named(c.dtype);
  if (dtype != DType::f32 && dtype != DType::f64 && dtype != DType::bf16) return {};
  const Team team = team_of(mesh, c, all.ids[all.mine]);
  const std::size_t width = format(*dtype).bytes, in = static_cast<std::size_t>(c.in),
                    out = static_cast<std::size_t>(c.out);
  const ncclComm_t comm = communicator(team);
  const auto call =
      call_of(c, comm, team.ids.size(),
              {drawn_on_card(in), drawn_on_card(out), in / width, out / width, type_of(*dtype)});
  if (!call) return {};
  return [call, comm, all]() -> std::int64_t {
    using Clock = std::chrono::steady_clock;
    meet(all);
    const auto enter = Clock::now();
    check(call(), comm, "the plain call");
    finish(comm, stream(), "the plain call");
    return std::chrono::nanoseconds(Clock::now() - enter).count();
  };
}

namespace {

std::function<void()> sum_of(std::size_t bytes, const Team& all) {
  return [in = drawn_on_card(bytes), out = drawn_on_card(bytes), n = bytes / sizeof(float), comm = communicator(all)] {
    check(nccl().AllReduce(in.get(), out.get(), n, ncclFloat32, ncclSum, comm, stream()), comm, "ncclAllReduce");
    finish(comm, stream(), "ncclAllReduce");
  };
}

}  // namespace

// Who is on no link has no part in it.
std::function<void()> at_best(const std::string& what, std::size_t bytes, const Team& all) {
  if (what == "sum") return all.ids.size() < 2 ? nullptr : sum_of(bytes, all);
  const auto meets = neighbours(what, all);
  if (!meets || all.ids.size() < 2) return nullptr;
  if (meets->to == static_cast<int>(all.mine)) return [] {};
  return [out = drawn_on_card(bytes), in = drawn_on_card(bytes), to = meets->to, from = meets->from,
          comm = communicator(all), bytes] {
    in_group(comm, [&] {
      check(nccl().Send(out.get(), bytes, ncclInt8, to, comm, stream()), comm, "ncclSend");
      check(nccl().Recv(in.get(), bytes, ncclInt8, from, comm, stream()), comm, "ncclRecv");
    });
    finish(comm, stream(), "ncclSend and ncclRecv");
  };
}

void meet(const Team& all) {
  static const SharedMemory one = drawn_on_card(sizeof(std::int32_t));
  const ncclComm_t comm = communicator(all);
  check(nccl().AllReduce(one.get(), one.get(), 1, ncclInt32, ncclSum, comm, stream()), comm, "ncclAllReduce");
  finish(comm, stream(), "ncclAllReduce");
}

Mail mail_among(const Team& all) {
  const ncclComm_t comm = communicator(all);
  const SharedMemory number = drawn_on_card(sizeof(std::int64_t));
  const Hands& hands = card::card_hands();
  const auto bytes = [](std::int64_t& n) { return reinterpret_cast<std::byte*>(&n); };
  return {[=, &hands](std::size_t to, std::int64_t n) {
            hands.memory.put(number.get(), bytes(n), sizeof n);
            check(nccl().Send(number.get(), sizeof n, ncclInt8, static_cast<int>(to), comm, stream()), comm,
                  "ncclSend");
            finish(comm, stream(), "ncclSend");
          },
          [=, &hands](std::size_t from) {
            std::int64_t n = 0;
            check(nccl().Recv(number.get(), sizeof n, ncclInt8, static_cast<int>(from), comm, stream()), comm,
                  "ncclRecv");
            finish(comm, stream(), "ncclRecv");
            hands.memory.get(bytes(n), number.get(), sizeof n);
            return n;
          }};
}

}  // namespace plumb::nccl
