// A stub of the CUDA driver, for tests: memory of this processor, at addresses that no instruction reaches,
// and streams that are threads. It is no GPU, and says so as the name of every card. The environment plants
// what may be wrong:
//
//   STUB_CARDS=2        so many are seen (8)
//   STUB_BUS=7          all lie there, as by accident
//   STUB_SM=80          of this kind (90)
//   STUB_MEMORY=65536   bytes that a process has of it
//   STUB_CUINIT=3       cuInit gives this error
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
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "adapters/cuda/move_element.h"
#include "adapters/cuda/recast_element.h"

namespace {

constexpr CUdeviceptr kFar = CUdeviceptr{1} << 62;
char* here(CUdeviceptr at) { return reinterpret_cast<char*>(at ^ kFar); }

long number(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atol(text) : otherwise;
}

using Act = std::function<void()>;

struct Stream {
  std::mutex lock;
  std::condition_variable more;
  std::deque<Act> acts;
  bool busy = false, capturing = false;
  std::vector<Act> captured;

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
    if (capturing) return captured.push_back(std::move(act));
    acts.push_back(std::move(act)), more.notify_one();
  }
  bool done() {
    const std::lock_guard guard(lock);
    return acts.empty() && !busy;
  }
};

Stream& stream_of(CUstream s) { return *reinterpret_cast<Stream*>(s); }

// On no stream: at once.
void give(CUstream s, Act act) { s ? stream_of(s).add(std::move(act)) : act(); }

// Kernels by their names: what they are given lies there, and is worked on here.
template <class T>
T* near(T* there) {
  return reinterpret_cast<T*>(reinterpret_cast<CUdeviceptr>(there) ^ kFar);
}

void move(void** given) {
  auto work = *static_cast<plumb::cuda::MoveElement*>(given[0]);
  plumb::cuda::Moves& m = work.moves;
  m.pieces = near(m.pieces), m.numbers = near(m.numbers), m.from = near(m.from), m.to = near(m.to);
  for (std::int64_t i = 0; i < *static_cast<std::int64_t*>(given[1]); ++i) work(i);
}

void recast(void** given) {
  auto work = *static_cast<plumb::cuda::RecastElement*>(given[0]);
  work.from = near(work.from), work.to = near(work.to);
  for (std::int64_t i = 0; i < *static_cast<std::int64_t*>(given[1]); ++i) work(i);
}

int card_taken = -1;
std::atomic<bool> spins{false};  // a kernel, on no stream

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

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) { return *context = nullptr, CUDA_SUCCESS; }

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
  const std::lock_guard guard(memory_lock);
  all_taken -= taken[at], taken.erase(at);
  return std::free(here(at)), CUDA_SUCCESS;
}

CUresult cuMemsetD8_v2(CUdeviceptr at, unsigned char byte, std::size_t bytes) {
  return std::memset(here(at), byte, bytes), CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return std::memcpy(here(to), from, bytes), CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return std::memcpy(to, here(from), bytes), CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream s) {
  return give(s, [=] { std::memmove(here(to), here(from), bytes); }), CUDA_SUCCESS;
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* c, CUstream s) {
  const CUDA_MEMCPY2D all = *c;
  stream_of(s).add([all] {
    for (std::size_t row = 0; row < all.Height; ++row)
      std::memcpy(here(all.dstDevice) + (all.dstY + row) * all.dstPitch + all.dstXInBytes,
                  here(all.srcDevice) + (all.srcY + row) * all.srcPitch + all.srcXInBytes, all.WidthInBytes);
  });
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* s, unsigned) {
  auto* made = new Stream;  // as long as the process
  std::thread([made] { made->run(); }).detach();
  return *s = reinterpret_cast<CUstream>(made), CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream s) { return stream_of(s).done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }

CUresult cuStreamSynchronize(CUstream s) {
  while (s ? !stream_of(s).done() : spins.load()) std::this_thread::yield();
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream s, CUhostFn act, void* with) {
  return stream_of(s).add([=] { act(with); }), CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode) {
  return stream_of(s).capturing = true, CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream s, CUgraph* graph) {
  stream_of(s).capturing = false;
  *graph = reinterpret_cast<CUgraph>(new std::vector<Act>(std::exchange(stream_of(s).captured, {})));
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long) {
  return *made = reinterpret_cast<CUgraphExec>(graph), CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream s) {
  for (const Act& act : *reinterpret_cast<std::vector<Act>*>(graph)) stream_of(s).add(act);
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void*) {
  return *module = nullptr, static_cast<CUresult>(number("STUB_KERNELS", 0));
}

CUresult cuModuleGetFunction(CUfunction* found, CUmodule, const char* name) {
  *found = reinterpret_cast<CUfunction>(std::strcmp(name, "plumb_move") == 0 ? move : recast);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void** given, void**) {
  if (number("STUB_ENDLESS", -2) == card_taken) return spins = true, CUDA_SUCCESS;
  return reinterpret_cast<void (*)(void**)>(kernel)(given), CUDA_SUCCESS;
}
}
