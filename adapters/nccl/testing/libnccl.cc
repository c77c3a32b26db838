// A stub of NCCL, for tests: processes of one machine exchange bytes through a file that all map, and add up
// in the order of a ring, each sum rounded to the element's type. It runs on the stub of CUDA, and takes no
// other memory. STUB_FAULT=WHAT:RANK:CALL plants a fault in one rank (of all, counted from 0), in its call of
// that number (counted from 1; making the communicator of all is call 0):
//
//   fails   the call returns an error             late    the error comes while the call is under way
//   stuck   the call is not made, nor ever over   skips   it is not made, and over at once
//   killed  the process is killed in it           other   a profiler is told of half of it
// STUB_MEMALLOC=1 is what ncclMemAlloc fails with; with STUB_MISALIGNED a sum may not begin at 16 bytes.
// STUB_VERSION=21705 is its version, STUB_COMMUNICATORS=40 how many a process may have at a time. It uses
// what it is asked to, a ring and two channels where it is not; a profiler is told of STUB_USES, an
// algorithm, STUB_PROTOCOL and STUB_CHANNELS instead, on STUB_MACHINES machines. STUB_ADDS is how it adds up:
// `pairs`, or `kept`, in f32, rounded once. A line is added to the file that STUB_ABORTED names by each
// communicator that is aborted, STUB_STUCK by a stuck call, STUB_ENDED by a process that ends by itself.
#include <cuda.h>
#include <nccl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapters/nccl/testing/adding.h"
#include "adapters/nccl/testing/exchange.h"
#include "adapters/nccl/testing/telling.h"
#include "reference/words/dtype.h"

extern "C" bool stub_held_by_graphs(CUstream, std::atomic<int>* held);

namespace {

using namespace stub;

// Of what the library would wait for without end, or would not do though it says nothing.
void must(bool held, const char* law) {
  if (held) return;
  std::fprintf(stderr, "stub of NCCL: %s\n", law);
  std::abort();
}

struct Planted {
  std::string what;
  int rank = -1, call = -1;
};
Planted planted() {
  Planted p;
  std::array<char, 20> what{};
  if (std::sscanf(variable("STUB_FAULT").c_str(), "%19[^:]:%d:%d", what.data(), &p.rank, &p.call) >= 1)
    p.what = what.data();
  return p;
}
int rank_of_all = -1, calls_made = 0;
bool strikes(const char* what) {
  const Planted p = planted();
  return p.what == what && p.rank == rank_of_all && p.call == calls_made;
}

// Every rank's bytes for rank `of`, there.
std::vector<std::vector<std::byte>> gathered(ncclComm& c, const std::vector<Part>& out, std::size_t bytes,
                                             bool mine) {
  std::vector<std::vector<std::byte>> parts(mine ? c.size : 0, std::vector<std::byte>(bytes));
  std::vector<Part> in;
  for (int r = 0; mine && r < c.size; ++r) in.push_back({r, parts[r].data(), bytes});
  exchange(c, out, in);
  return parts;
}

std::byte* readable(const void* at) { return const_cast<std::byte*>(here(at)); }

void run(ncclComm& c, const Op& o) {
  const std::size_t bytes = o.count * plumb::format(dtype_of(o.type)).bytes;
  std::vector<Part> out;
  if (o.kind == Kind::reduce) {
    out.push_back({o.peer, readable(o.in), bytes});
  } else {
    for (int r = 0; r < c.size; ++r)
      out.push_back({r, readable(o.in) + (o.kind == Kind::reduce_scatter ? r * bytes : 0), bytes});
  }
  const bool mine = o.kind != Kind::reduce || o.peer == c.rank;
  const auto parts = gathered(c, out, bytes, mine);
  if (c.aborted || !mine) return;
  if (o.kind != Kind::all_gather) return combine(o, parts, here(o.out));
  for (int r = 0; r < c.size; ++r) std::memcpy(here(o.out) + r * bytes, parts[r].data(), bytes);
}

void note_rank_in_file_of(const char* which) {
  if (std::FILE* out = std::fopen(variable(which).c_str(), "a"))
    std::fprintf(out, "%d\n", rank_of_all), std::fclose(out);
}
[[gnu::destructor]] void ended() { note_rank_in_file_of("STUB_ENDED"); }

struct Work {
  ncclComm* comm;
  std::vector<Op>* ops;
  bool stuck, skips, late, killed;
};

void run_all(void* given) {
  const Work& w = *static_cast<Work*>(given);
  ncclComm& c = *w.comm;
  if (w.skips) return;
  if (w.killed) ::raise(SIGKILL);
  if (w.late) c.state = ncclRemoteError;
  if (w.stuck) note_rank_in_file_of("STUB_STUCK");
  if (w.stuck || w.late) return static_cast<void>(wait_for(c.aborted, [] { return false; }));
  std::vector<Part> out, in;
  for (const Op& o : *w.ops) {
    if (o.kind == Kind::send)
      out.push_back({o.peer, readable(o.in), o.count});
    else if (o.kind == Kind::receive)
      in.push_back({o.peer, here(o.out), o.count});
    else
      run(c, o);
  }
  if (!out.empty() || !in.empty()) exchange(c, std::move(out), std::move(in));
}

struct Group {
  int depth = 0;
  struct Of {
    ncclComm* comm;
    cudaStream_t stream;
    std::vector<Op> ops;
  };
  std::vector<Of> all;
};
thread_local Group group;

void tell_of(const ncclComm& c, const Op& o) {
  constexpr const char* names[] = {"AllReduce", "Reduce", "ReduceScatter", "AllGather", "Send", "Recv"};
  const std::size_t count = strikes("other") ? o.count / 2 : o.count;
  tell(c, {names[static_cast<int>(o.kind)], o.kind >= Kind::send, o.in, o.out, count, o.type, o.peer});
}

ncclResult_t launch(ncclComm* comm, cudaStream_t stream, std::vector<Op> ops) {
  ++calls_made;
  if (comm->size > 1)
    for (const Op& op : ops)
      if (op.count > 0) tell_of(*comm, op);
  if (strikes("fails")) return ncclUnhandledCudaError;
  comm->issued.push_back(std::make_unique<std::vector<Op>>(std::move(ops)));
  auto* work = new Work{comm,
                        comm->issued.back().get(),
                        strikes("stuck"),
                        strikes("skips"),
                        strikes("late"),
                        strikes("killed")};  // as long as the process: a graph may repeat it
  const bool captured = stub_held_by_graphs(reinterpret_cast<CUstream>(stream), &comm->in_graphs);
  if (captured && !comm->called) return ncclUnhandledCudaError;  // it would set buffers on the legacy stream
  comm->called = true;
  cuLaunchHostFunc(reinterpret_cast<CUstream>(stream), run_all, work);
  return ncclSuccess;
}

ncclResult_t add(ncclComm* comm, cudaStream_t stream, const Op& op) {
  if (!variable("STUB_MISALIGNED").empty() &&
      (op.kind == Kind::all_reduce || op.kind == Kind::reduce_scatter))
    for (const void* at : {op.in, static_cast<const void*>(op.out)})
      must(reinterpret_cast<std::uintptr_t>(at) % 16 != 0, "memory is aligned");
  if (comm->state != ncclSuccess)
    return comm->state == ncclInProgress ? ncclInvalidUsage : comm->state.load();
  if (group.depth == 0) return launch(comm, stream, {op});
  for (Group::Of& of : group.all)
    if (of.comm == comm && of.stream == stream) return of.ops.push_back(op), ncclSuccess;
  group.all.push_back({comm, stream, {op}});
  return ncclSuccess;
}

int communicators = 0;

// Of ncclMemAlloc, by where it begins.
struct Registrable {
  std::size_t bytes = 0;
  int registered = 0;
};
std::map<std::byte*, Registrable> registrable;

ncclComm* made(std::string file, int rank, int size, const ncclConfig_t* config) {
  const std::string most = variable("STUB_COMMUNICATORS");
  must(most.empty() || ++communicators <= std::stoi(most), "more communicators than STUB_COMMUNICATORS");
  auto* comm = new ncclComm;
  comm->file = std::move(file), comm->rank = rank, comm->size = size;
  if (config->maxCTAs > 0) comm->channels = config->maxCTAs;
  return comm;
}

// In the background: whoever called asks for the state.
void split_now(ncclComm* parent, int colour, int key, ncclComm* child, ncclComm** asked) {
  const int n = parent->splits++;
  Said* said = parent->shared->said;
  Said& own = said[parent->rank];
  own.colour[n % 2] = colour, own.key[n % 2] = key;
  own.times = n + 1;
  for (int r = 0; r < parent->size; ++r)
    if (!wait_for(parent->aborted, [&] { return said[r].times > n; })) return;
  std::vector<std::pair<int, int>> members;
  for (int r = 0; r < parent->size; ++r)
    if (said[r].colour[n % 2] == colour) members.emplace_back(said[r].key[n % 2], r);
  std::ranges::sort(members);
  if (child) {
    child->file = parent->file + "." + std::to_string(n) + "." + std::to_string(colour);
    child->size = static_cast<int>(members.size());
    child->rank = static_cast<int>(std::ranges::find(members, parent->rank, &std::pair<int, int>::second) -
                                   members.begin());
    begin_to_tell(*child);
    child->state = child->map() ? ncclSuccess : ncclSystemError;
  }
  *asked = child;
  parent->state = ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  const std::string told = variable("STUB_VERSION");
  return *version = told.empty() ? NCCL_VERSION_CODE : std::stoi(told), ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::string folder = variable("TMPDIR").empty() ? "/tmp" : variable("TMPDIR");
  std::snprintf(id->internal, sizeof id->internal, "%s/stub-nccl-%d", folder.c_str(), ::getpid());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  rank_of_all = rank;
  if (size > kMost || config->blocking != 0) return ncclInvalidArgument;
  if (strikes("fails")) return ncclUnhandledCudaError;
  *comm = made(id.internal, rank, size, config);
  std::thread([c = *comm] {
    if (!c->map()) return static_cast<void>(c->state = ncclSystemError);
    if (strikes("stuck")) return;
    ++c->shared->said[c->rank].times;  // here, before any split
    for (int r = 0; r < c->size; ++r)
      if (!wait_for(c->aborted, [&] { return c->shared->said[r].times > 0; })) return;
    c->splits = 1;
    begin_to_tell(*c);
    c->state = ncclSuccess;
  }).detach();
  return ncclInProgress;
}

// As NCCL 2.28 does: success is said while it is under way, which the parent knows; what is asked for is
// written when it is over, of ranks of no colour too.
ncclResult_t ncclCommSplit(ncclComm_t parent, int colour, int key, ncclComm_t* child, ncclConfig_t* config) {
  if (parent->state != ncclSuccess) return ncclInvalidArgument;
  parent->state = ncclInProgress;
  ncclComm* made_here = colour == NCCL_SPLIT_NOCOLOR ? nullptr : made("", 0, 0, config);
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    split_now(parent, colour, key, made_here, child);
  }).detach();
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  must(comm->in_graphs == 0, "a communicator is destroyed before the graphs of its calls");
  --communicators;
  if (comm->rank == 0) ::unlink(comm->file.c_str());
  return ncclSuccess;  // it stays, for what is still under way
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->aborted = true;
  std::this_thread::sleep_for(
      std::chrono::milliseconds(100));  // it takes its time: who leaves before is seen
  note_rank_in_file_of("STUB_ABORTED");
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  return *state = comm->state, ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclUnhandledCudaError ? "unhandled cuda error"
         : result == ncclRemoteError      ? "remote process exited or there was a network error"
                                          : "an error of the stub";
}
const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclAllReduce(const void* in, void* out, std::size_t n, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return add(comm, stream, {Kind::all_reduce, in, out, n, type, op, 0});
}
#ifndef STUB_LACKS_REDUCE
ncclResult_t ncclReduce(const void* in, void* out, std::size_t n, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return add(comm, stream, {Kind::reduce, in, out, n, type, op, root});
}
#endif
ncclResult_t ncclReduceScatter(const void* in, void* out, std::size_t n, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return add(comm, stream, {Kind::reduce_scatter, in, out, n, type, op, 0});
}
ncclResult_t ncclAllGather(const void* in, void* out, std::size_t n, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return add(comm, stream, {Kind::all_gather, in, out, n, type, ncclSum, 0});
}
ncclResult_t ncclSend(const void* in, std::size_t n, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add(comm, stream, {Kind::send, in, nullptr, n, type, ncclSum, peer});
}
ncclResult_t ncclRecv(void* out, std::size_t n, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add(comm, stream, {Kind::receive, nullptr, out, n, type, ncclSum, peer});
}

ncclResult_t ncclGroupStart() { return ++group.depth, ncclSuccess; }
ncclResult_t ncclGroupEnd() {
  if (--group.depth > 0) return ncclSuccess;
  ncclResult_t result = ncclSuccess;
  for (Group::Of& of : std::exchange(group.all, {}))
    if (result == ncclSuccess) result = launch(of.comm, of.stream, std::move(of.ops));
  return result;
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t, ncclComm_t) {
  const DType dtype = dtype_of(type);
  scalars.push_back(plumb::decode(dtype, plumb::load(dtype, static_cast<std::byte*>(scalar))));
  return *op = static_cast<ncclRedOp_t>(kOwnOps + scalars.size() - 1), ncclSuccess;
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) { return ncclSuccess; }

#ifndef STUB_LACKS_REGISTER
ncclResult_t ncclMemAlloc(void** at, std::size_t bytes) {
  if (const int error = number_of("STUB_MEMALLOC", 0)) return static_cast<ncclResult_t>(error);
  CUdeviceptr memory = 0;
  if (cuMemAlloc(&memory, bytes) != CUDA_SUCCESS) return ncclUnhandledCudaError;
  *at = reinterpret_cast<void*>(memory);
  registrable[static_cast<std::byte*>(*at)] = {bytes, 0};
  return ncclSuccess;
}
ncclResult_t ncclMemFree(void* at) {
  must(registrable[static_cast<std::byte*>(at)].registered == 0, "memory is freed before it is deregistered");
  registrable.erase(static_cast<std::byte*>(at));
  cuMemFree(reinterpret_cast<CUdeviceptr>(at));
  return ncclSuccess;
}
ncclResult_t ncclCommRegister(const ncclComm_t, void* at, std::size_t bytes, void** handle) {
  auto* begin = static_cast<std::byte*>(at);
  const auto after = registrable.upper_bound(begin);
  must(after != registrable.begin() &&
           begin + bytes <= std::prev(after)->first + std::prev(after)->second.bytes,
       "memory is registered that is not of ncclMemAlloc");
  ++std::prev(after)->second.registered;
  return *handle = std::prev(after)->first, ncclSuccess;
}
ncclResult_t ncclCommDeregister(const ncclComm_t, void* handle) {
  --registrable.at(static_cast<std::byte*>(handle)).registered;
  return ncclSuccess;
}
#endif
}
