#include "adapters/nccl/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "adapters/card/memory.h"
#include "adapters/nccl/forms.h"
#include "adapters/protocol/ranks.h"
#include "adapters/rank/blocks.h"

namespace plumb::nccl {
namespace {

// The sizes and places of a mesh, by which all its ranks know it, and the ids of a team.
using Way = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;

// The communicators of meshes of one size, of which all their ranks know alike.
struct Communicators {
  ncclComm_t everyone = nullptr;
  std::map<Way, int> numbers;                // of teams
  std::vector<ncclComm_t> comms;             // by these numbers
  std::map<ncclComm_t, ncclComm_t> seconds;  // with Form::two
};

struct Library {
  const Functions* f = nullptr;
  World world;
  CUstream streams[2] = {};
  ncclComm_t all = nullptr;                     // of all ranks
  std::map<std::int64_t, Communicators> sizes;  // of meshes
  Communicators* now = nullptr;                 // of the case's mesh
  std::vector<std::int64_t> shape;              // of it
  std::map<std::tuple<ncclComm_t, DType, std::int64_t>, ncclRedOp_t> scaled;
  bool grouping = false;         // calls are given to a group
  std::mutex lock;               // of these:
  std::vector<ncclComm_t> live;  // what can be aborted
};
Library kept;

// Teams that are kept of meshes of one size; each takes memory of the card.
constexpr std::size_t kMostTeams = 24;

std::string in_words(ncclResult_t result, ncclComm_t comm) {
  const char *words = kept.f->GetErrorString(result), *last = kept.f->GetLastError(comm);
  const std::string text = words ? words : "an error";
  return last && *last ? text + ": " + last : text;
}

void may_be_aborted(ncclComm_t comm) {
  const std::lock_guard guard(kept.lock);
  if (comm && std::ranges::count(kept.live, comm) == 0) kept.live.push_back(comm);
}

[[noreturn]] void fail(ncclResult_t result, ncclComm_t comm, const char* call) {
  const std::string words = fmt::format("{}: {}", call, in_words(result, comm));
  abort_all();
  throw std::runtime_error(words);
}

// No call of the communicator is on its way into the library any more.
void settle(ncclComm_t comm, const char* call) {
  for (ncclResult_t state = ncclInProgress; state == ncclInProgress; std::this_thread::yield()) {
    if (const ncclResult_t asked = kept.f->CommGetAsyncError(comm, &state); asked != ncclSuccess)
      fail(asked, comm, call);
    if (state != ncclSuccess && state != ncclInProgress) fail(state, comm, call);
  }
}

ncclConfig_t unblocked() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (kept.world.channels > 0) config.minCTAs = config.maxCTAs = kept.world.channels;
  return config;
}

std::string in_hex(const ncclUniqueId& id) {
  std::string text;
  for (char c : id.internal) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

ncclUniqueId from_hex(const std::string& text) {
  ncclUniqueId id{};
  for (std::size_t i = 0; i < sizeof id.internal && 2 * i + 1 < text.size(); ++i)
    id.internal[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return id;
}

// The identifier goes through the launcher.
ncclComm_t communicator_of_all() {
  ncclUniqueId id{};
  if (kept.world.rank == 0) {
    check(kept.f->GetUniqueId(&id), nullptr, "ncclGetUniqueId");
    put_shared("nccl", in_hex(id));
  }
  id = from_hex(get_shared("nccl"));
  entering(fmt::format("making the communicator of {} ranks", kept.world.size));
  ncclConfig_t config = unblocked();
  ncclComm_t comm = nullptr;
  const ncclResult_t result =
      kept.f->CommInitRankConfig(&comm, kept.world.size, id, kept.world.rank, &config);
  may_be_aborted(comm);
  check(result, comm, "ncclCommInitRankConfig");
  leaving();
  return comm;
}

// All of `parent` split it together: those of one colour are together, in the order of their keys.
ncclComm_t split(ncclComm_t parent, int colour, int key) {
  ncclConfig_t config = unblocked();
  ncclComm_t comm = nullptr;
  const ncclResult_t result = kept.f->CommSplit(parent, colour, key, &comm, &config);
  may_be_aborted(comm);
  check(result, parent, "ncclCommSplit");
  may_be_aborted(comm);
  if (comm) settle(comm, "ncclCommSplit");
  return comm;
}

void destroy(ncclComm_t comm) {
  {
    const std::lock_guard guard(kept.lock);
    std::erase(kept.live, comm);
  }
  if (comm) static_cast<void>(kept.f->CommDestroy(comm));
}

// Alike for all meshes that differ in names alone.
std::vector<std::int64_t> shape_of(const Mesh& mesh) {
  std::vector<std::int64_t> shape;
  for (const Axis& axis : mesh.axes)
    if (axis.size > 1) shape.push_back(axis.size);
  shape.push_back(0);
  shape.insert(shape.end(), mesh.place.begin(), mesh.place.end());
  return shape;
}

// Every rank of the mesh asks for the teams of its fibres along the same axes, in the same order: all split
// the communicator of the mesh together, or all find that they have.
void join(Team& team) {
  auto& [everyone, numbers, comms, seconds] = *kept.now;
  const auto [at, made] = numbers.try_emplace(Way{kept.shape, team.ids}, static_cast<int>(comms.size()));
  team.number = at->second;
  if (!made) return;
  entering(fmt::format("making a communicator of {} ranks", team.ids.size()));
  const int first = static_cast<int>(*std::ranges::min_element(team.ids)), key = static_cast<int>(team.mine);
  comms.push_back(split(everyone, first, key));
  if (kept.world.form == Form::two) seconds[comms.back()] = split(everyone, first, key);
  leaving();
}

void forget_teams(Communicators& all) {
  for (const auto& [comm, second] : all.seconds) destroy(second);
  for (ncclComm_t comm : all.comms) destroy(comm);
  all.seconds.clear(), all.comms.clear(), all.numbers.clear();
}

// That of a mean whose parts are multiplied first is made the first time that a case wants it.
ncclRedOp_t premultiplied(const Combine& combine, ncclComm_t comm) {
  const auto [at, made] = kept.scaled.try_emplace({comm, combine.wire, combine.parts}, ncclSum);
  if (!made) return at->second;
  std::array<std::byte, 8> part{};
  store(combine.wire, part.data(), encode(combine.wire, 1.0 / static_cast<double>(combine.parts)));
  check(kept.f->RedOpCreatePreMulSum(&at->second, part.data(), type_of(combine.wire), ncclScalarHostImmediate,
                                     comm),
        comm, "ncclRedOpCreatePreMulSum");
  return at->second;
}

void forget_scaled() {
  for (const auto& [of, op] : kept.scaled) static_cast<void>(kept.f->RedOpDestroy(op, std::get<0>(of)));
  kept.scaled.clear();
}

ncclRedOp_t operation(const Combine& combine, ncclComm_t comm) {
  if (combine.run == taking(Reduce::max, combine.acc, combine.wire).run) return ncclMax;
  if (combine.run == taking(Reduce::min, combine.acc, combine.wire).run) return ncclMin;
  if (combine.parts == 1) return ncclSum;
  return kept.world.average == Average::library ? ncclAvg : premultiplied(combine, comm);
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
  const auto make = [&](const std::byte* in, std::byte* out, std::size_t n, ncclComm_t comm,
                        cudaStream_t on) { return kept.f->AllReduce(in, out, n, type, op, comm, on); };
  const std::size_t width = format(r.combine.wire).bytes, n = unsign(r.counts[0]);
  carry_out(kept.world.form, communicator(g),
            {"ncclAllReduce", std::ref(make), r.in, r.out, n, n * width, n * width, width, 0, true});
}

// Of shares of several sizes it is a reduction to each member.
void reduce_scatter(const Team& g, const Combination& r) {
  const auto type = type_of(r.combine.wire);
  const ncclComm_t comm = communicator(g);
  const std::size_t width = format(r.combine.wire).bytes;
  if (alike(r.counts)) {
    const auto make = [&](const std::byte* in, std::byte* out, std::size_t n, ncclComm_t by,
                          cudaStream_t on) {
      return kept.f->ReduceScatter(in, out, n, type, operation(r.combine, by), by, on);
    };
    const std::size_t n = unsign(r.counts[0]), share = n * width;
    return carry_out(kept.world.form, comm,
                     {"ncclReduceScatter", std::ref(make), r.in, r.out, n, share * g.ids.size(), share, width,
                      share * g.mine});
  }
  const ncclRedOp_t op = operation(r.combine, comm);
  in_group(comm, [&] {
    const std::byte* from = r.in;
    for (std::size_t i = 0; i < r.counts.size(); from += unsign(r.counts[i++]) * width)
      if (r.counts[i] > 0)
        check(kept.f->Reduce(from, r.out, unsign(r.counts[i]), type, op, static_cast<int>(i), comm, stream()),
              comm, "ncclReduce");
  });
  finish(comm, stream(), "ncclReduce");
}

void send(const std::byte* at, std::int64_t bytes, std::int64_t to, ncclComm_t comm) {
  if (bytes > 0)
    check(kept.f->Send(at, unsign(bytes), ncclInt8, static_cast<int>(to), comm, stream()), comm, "ncclSend");
}

void receive(std::byte* at, std::int64_t bytes, std::int64_t from, ncclComm_t comm) {
  if (bytes > 0)
    check(kept.f->Recv(at, unsign(bytes), ncclInt8, static_cast<int>(from), comm, stream()), comm,
          "ncclRecv");
}

void all_gather(const Team& g, const Gathering& x) {
  const ncclComm_t comm = communicator(g);
  const Lots& out = x.out;
  if (even(out)) {
    const auto make = [&](const std::byte* in, std::byte* to, std::size_t n, ncclComm_t by, cudaStream_t on) {
      return kept.f->AllGather(in, to, n, ncclInt8, by, on);
    };
    const std::size_t share = unsign(out.counts[0]);
    return carry_out(kept.world.form, comm,
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
}

void permute(const Passing& p) {
  const ncclComm_t comm = kept.now->everyone;
  in_group(comm, [&] {
    if (p.to >= 0) send(p.out.data(), std::ssize(p.out), p.to, comm);
    if (p.from >= 0) receive(p.in.data(), std::ssize(p.in), p.from, comm);
  });
  finish(comm, stream(), "ncclSend and ncclRecv");
}

// As integers: magnitudes are not negative, and a NaN is larger than all of them.
void largest(const Team& g, std::span<float> numbers) {
  const Hands& hands = card::card_hands();
  const AlignedMemory there = aligned(numbers.size_bytes(), hands);
  auto* here = reinterpret_cast<std::byte*>(numbers.data());
  hands.memory.put(there.get(), here, numbers.size_bytes());
  const ncclComm_t comm = communicator(g);
  check(kept.f->AllReduce(there.get(), there.get(), numbers.size(), ncclInt32, ncclMax, comm, stream()), comm,
        "ncclAllReduce");
  finish(comm, stream(), "ncclAllReduce");
  hands.memory.get(here, there.get(), numbers.size_bytes());
}

}  // namespace

void start(const World& world) {
  std::string why;
  kept.f = functions(why), kept.world = world;
  for (CUstream& one : kept.streams)
    card::check(card::the_driver().StreamCreate(&one, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

void begin_case(const Mesh& mesh) {
  forget_known();
  forget_forms(), forget_scaled();
  const std::int64_t n = devices(mesh);
  if (!kept.all) kept.all = communicator_of_all();
  const auto [at, made] = kept.sizes.try_emplace(n);
  kept.now = &at->second, kept.shape = shape_of(mesh);
  if (kept.world.anew || kept.now->comms.size() > kMostTeams) forget_teams(*kept.now);
  if (!made) return;
  entering(fmt::format("making the communicator of {} of {} ranks", n, kept.world.size));
  kept.now->everyone = split(kept.all, kept.world.rank < n ? 0 : NCCL_SPLIT_NOCOLOR, kept.world.rank);
  leaving();
}

Calls calls() {
  return {.reduce_scatter = reduce_scatter,
          .all_reduce = all_reduce,
          .all_gather = all_gather,
          .all_to_all = all_to_all,
          .permute = permute,
          .largest = largest,
          .join = join,
          .known = known,
          .entering = [](int known) { entering(known); },
          .leaving = leaving};
}

ncclComm_t communicator(const Team& team) {
  const Communicators& all = *kept.now;
  return all.comms[team.number < 0 ? all.numbers.at(Way{kept.shape, team.ids}) : team.number];
}
ncclComm_t second_of(ncclComm_t comm) { return kept.now->seconds.at(comm); }
CUstream stream() { return kept.streams[0]; }
CUstream second_stream() { return kept.streams[1]; }

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

bool adds(DType dtype, int sm) { return (dtype != DType::f8e4m3 && dtype != DType::f8e5m2) || sm >= 90; }

void check(ncclResult_t result, ncclComm_t comm, const char* call) {
  if (result != ncclSuccess && result != ncclInProgress) fail(result, comm, call);
  if (result == ncclInProgress && !kept.grouping) settle(comm, call);
}

void in_group(ncclComm_t comm, const std::function<void()>& all) {
  check(kept.f->GroupStart(), comm, "ncclGroupStart");
  kept.grouping = true;
  all();
  kept.grouping = false;
  check(kept.f->GroupEnd(), comm, "ncclGroupEnd");
}

// An error of the library is looked for once in a while: to ask for it takes longer than to ask the stream.
void finish(ncclComm_t comm, CUstream on, const char* call) {
  constexpr int each = 256;
  const card::Driver& driver = card::the_driver();
  for (int asked = 1;; ++asked) {
    const CUresult done = driver.StreamQuery(on);
    if (done == CUDA_SUCCESS) return;
    if (done != CUDA_ERROR_NOT_READY) {
      abort_all();
      card::check(done, call);
    }
    if (asked % each == 0) settle(comm, call);
    std::this_thread::yield();
  }
}

void abort_all() {
  std::vector<ncclComm_t> all;
  {
    const std::lock_guard guard(kept.lock);
    all.swap(kept.live);
  }
  for (ncclComm_t comm : all) static_cast<void>(kept.f->CommAbort(comm));
}

}  // namespace plumb::nccl
