// A stub of the CUDA driver, for tests: memory of this processor, at addresses that no instruction reaches,
// and streams that are threads. What is given to the null stream is done as late as it may be: when somebody
// waits for it, or something is given to a stream that is ordered after it, which one with
// CU_STREAM_NON_BLOCKING is not. It is no GPU, and says so as the name of every card. The environment plants
// what may be wrong:
//
//   STUB_CARDS=2        so many are seen (8)
//   STUB_BUS=7          all lie there, as by accident
//   STUB_SM=80          of this kind (90)
//   STUB_MEMORY=65536   bytes that a process has of it
//   STUB_CUINIT=3       cuInit gives this error
//   STUB_CONTEXT=2      a card gives no context but this error
//   STUB_KERNELS=209    modules are loaded with this error
//   STUB_ENDLESS=2      no kernel on the card of that number ends
#include <cuda.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "adapters/cuda/move_element.h"
#include "adapters/cuda/recast_element.h"
#include "adapters/cuda/testing/ptx_kernels.h"

namespace {

using plumb::ptx::kFar;  // where kernels translated from PTX look for memory
char* here(CUdeviceptr at) { return reinterpret_cast<char*>(at ^ kFar); }

long number(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atol(text) : otherwise;
}

using Act = std::function<void()>;

// What was captured, as long as a graph of it is there; meanwhile it holds who was captured with it.
struct Captured {
  std::vector<Act> acts;
  std::vector<std::atomic<int>*> holds;
  Captured() = default;
  Captured(const Captured&) = delete;
  ~Captured() {
    for (std::atomic<int>* held : holds) --*held;
  }
};
using Graph = std::shared_ptr<Captured>;

struct Stream {
  bool apart = false;  // from the null stream
  std::mutex lock;
  std::condition_variable more;
  std::deque<Act> acts;
  bool busy = false;
  Graph capturing;

  void run() {
    for (std::unique_lock guard(lock);;) {
      more.wait(guard, [&] { return !acts.empty(); });
      const Act act = std::move(acts.front());
      acts.pop_front(), busy = true;
      guard.unlock(), act(), guard.lock();
      busy = false;
    }
  }
  void add(Act act) {
    const std::lock_guard guard(lock);
    acts.push_back(std::move(act)), more.notify_one();
  }
  bool done() {
    const std::lock_guard guard(lock);
    return acts.empty() && !busy;
  }
};

std::vector<Stream*> streams;  // as long as the process
Stream& stream_of(CUstream s) { return *reinterpret_cast<Stream*>(s); }

// The null stream: what was given to the others before, but for those apart, is done before.
std::recursive_mutex null_lock;
std::deque<Act> due;
void drain() {
  const std::lock_guard guard(null_lock);
  for (; !due.empty(); due.pop_front()) {
    for (Stream* s : streams)
      while (!s->apart && !s->done()) std::this_thread::yield();
    due.front()();
  }
}

CUresult give(CUstream s, Act act) {
  if (!s) {
    for (const Stream* one : streams)
      if (!one->apart && one->capturing) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    const std::lock_guard guard(null_lock);
    return due.push_back(std::move(act)), CUDA_SUCCESS;
  }
  Stream& to = stream_of(s);
  if (to.capturing) return to.capturing->acts.push_back(std::move(act)), CUDA_SUCCESS;
  if (!to.apart) drain();
  return to.add(std::move(act)), CUDA_SUCCESS;
}

// Kernels by their names: what they are given lies there, and is worked on here.
template <class T>
T* near(T* there) {
  return reinterpret_cast<T*>(reinterpret_cast<CUdeviceptr>(there) ^ kFar);
}

plumb::cuda::Moves here(plumb::cuda::Moves m) {
  m.pieces = near(m.pieces), m.numbers = near(m.numbers), m.from = near(m.from), m.to = near(m.to);
  return m;
}
void run_here(const plumb::cuda::Moves& moves, std::int64_t n) {
  plumb::cuda::with_moves(moves, [&](const auto& work) {
    for (std::int64_t i = 0; i < n; ++i) work(i);
  });
}
plumb::cuda::RecastElement here(plumb::cuda::RecastElement work) {
  work.from = near(work.from), work.to = near(work.to);
  return work;
}
void run_here(const plumb::cuda::RecastElement& work, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) work(i);
}

// As nvcc made it where there is nvcc, else the formula as it was compiled for this processor.
struct Function {
  const char* name;
  Act (*launched)(const char* name, unsigned blocks, unsigned threads, void** given);
};
template <class Work>
Act launched(const char* name, unsigned blocks, unsigned threads, void** given) {
  Work work = *static_cast<Work*>(given[0]);
  std::int64_t n = *static_cast<std::int64_t*>(given[1]);
  if (const plumb::ptx::Kernel* kernel = plumb::ptx::kernel_named(name))
    return [=]() mutable {
      void* all[] = {&work, &n};
      run_grid(*kernel, blocks, threads, all);
    };
  return [n, near_work = here(work)] { run_here(near_work, n); };
}
Function functions[] = {
    {"plumb_move",   launched<plumb::cuda::Moves>        },
    {"plumb_recast", launched<plumb::cuda::RecastElement>}
};

int card_taken = -1;

std::mutex memory_lock;
std::map<CUdeviceptr, std::size_t> taken;
std::size_t all_taken = 0;

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return static_cast<CUresult>(number("STUB_CUINIT", 0)); }

CUresult cuDriverGetVersion(int* version) { return *version = CUDA_VERSION, CUDA_SUCCESS; }

CUresult cuGetErrorString(CUresult error, const char** words) {
  *words = error == CUDA_ERROR_OUT_OF_MEMORY     ? "out of memory"
           : error == CUDA_ERROR_NOT_INITIALIZED ? "initialization error"
                                                 : "an error of the stub";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  return *count = static_cast<int>(number("STUB_CARDS", 8)), CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int n) { return *device = card_taken = n, CUDA_SUCCESS; }

CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  return std::snprintf(name, static_cast<std::size_t>(size), "stub of NCCL and CUDA, no GPU"), CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  const int sm = static_cast<int>(number("STUB_SM", 90));
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? sm / 10
           : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? sm % 10
                                                                   : 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:%02lx:00.0",
                static_cast<unsigned long>(number("STUB_BUS", device)));
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  return *context = nullptr, static_cast<CUresult>(number("STUB_CONTEXT", CUDA_SUCCESS));
}

CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }

CUresult cuMemAlloc_v2(CUdeviceptr* at, std::size_t bytes) {
  const std::lock_guard guard(memory_lock);
  if (all_taken + bytes > static_cast<std::size_t>(number("STUB_MEMORY", 1L << 40)))
    return CUDA_ERROR_OUT_OF_MEMORY;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  *at = reinterpret_cast<CUdeviceptr>(memory) ^ kFar;
  taken[*at] = bytes, all_taken += bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr at) {
  drain();
  const std::lock_guard guard(memory_lock);
  all_taken -= taken[at], taken.erase(at);
  return std::free(here(at)), CUDA_SUCCESS;
}

CUresult cuMemsetD8_v2(CUdeviceptr at, unsigned char byte, std::size_t bytes) {
  return give(nullptr, [=] { std::memset(here(at), byte, bytes); });
}

// It has left this processor's memory when the call returns, and is there later.
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const char*>(from);
  return give(nullptr, [=, left = std::vector<char>(begin, begin + bytes)] {
    std::memcpy(here(to), left.data(), bytes);
  });
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  const CUresult given = give(nullptr, [=] { std::memcpy(to, here(from), bytes); });
  return drain(), given;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream s) {
  return give(s, [=] { std::memmove(here(to), here(from), bytes); });
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* c, CUstream s) {
  return give(s, [all = *c] {
    for (std::size_t row = 0; row < all.Height; ++row)
      std::memcpy(here(all.dstDevice) + (all.dstY + row) * all.dstPitch + all.dstXInBytes,
                  here(all.srcDevice) + (all.srcY + row) * all.srcPitch + all.srcXInBytes, all.WidthInBytes);
  });
}

CUresult cuStreamCreate(CUstream* s, unsigned flags) {
  auto* made = new Stream;
  made->apart = flags & CU_STREAM_NON_BLOCKING;
  streams.push_back(made);
  std::thread([made] { made->run(); }).detach();
  return *s = reinterpret_cast<CUstream>(made), CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream s) { return stream_of(s).done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }

CUresult cuStreamSynchronize(CUstream s) {
  if (!s) return drain(), CUDA_SUCCESS;
  while (!stream_of(s).done()) std::this_thread::yield();
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream s, CUhostFn act, void* with) {
  return give(s, [=] { act(with); });
}

// Of the stub of NCCL: where the stream is being captured, graphs of it hold this one from now on.
bool stub_held_by_graphs(CUstream s, std::atomic<int>* held) {
  if (!stream_of(s).capturing) return false;
  return ++*held, stream_of(s).capturing->holds.push_back(held), true;
}

CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode) {
  return stream_of(s).capturing = std::make_shared<Captured>(), CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream s, CUgraph* graph) {
  *graph = reinterpret_cast<CUgraph>(new Graph(std::move(stream_of(s).capturing)));
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long) {
  *made = reinterpret_cast<CUgraphExec>(new Graph(*reinterpret_cast<Graph*>(graph)));
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) { return delete reinterpret_cast<Graph*>(graph), CUDA_SUCCESS; }
CUresult cuGraphExecDestroy(CUgraphExec made) { return delete reinterpret_cast<Graph*>(made), CUDA_SUCCESS; }

CUresult cuGraphLaunch(CUgraphExec made, CUstream s) {
  for (const Act& act : (*reinterpret_cast<Graph*>(made))->acts) give(s, act);
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void*) {
  return *module = nullptr, static_cast<CUresult>(number("STUB_KERNELS", 0));
}

CUresult cuModuleGetFunction(CUfunction* found, CUmodule, const char* name) {
  for (Function& one : functions)
    if (std::strcmp(one.name, name) == 0) return *found = reinterpret_cast<CUfunction>(&one), CUDA_SUCCESS;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction kernel, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                        unsigned, unsigned, CUstream s, void** given, void**) {
  if (number("STUB_ENDLESS", -2) == card_taken)
    return give(s, [] {
      for (;;) std::this_thread::yield();
    });
  const auto& function = *reinterpret_cast<Function*>(kernel);
  return give(s, function.launched(function.name, blocks, threads, given));
}
}
