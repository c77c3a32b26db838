#include "adapters/card/driver.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "adapters/card/library.h"

namespace plumb::card {
namespace {

struct Opened {
  Driver driver;
  std::string why;
};

// Functions of several versions have their version in their name, which the header puts in the place of the
// name.
Library open_driver(Driver& d) {
  Library library = open_library({{"libcuda.so.1"}, "", "", ""});
  take(library, "cuInit", d.Init);
  take(library, "cuDriverGetVersion", d.DriverGetVersion);
  take(library, "cuGetErrorString", d.GetErrorString);
  take(library, "cuDeviceGetCount", d.DeviceGetCount);
  take(library, "cuDeviceGet", d.DeviceGet);
  take(library, "cuDeviceGetName", d.DeviceGetName);
  take(library, "cuDeviceGetAttribute", d.DeviceGetAttribute);
  take(library, "cuDeviceGetPCIBusId", d.DeviceGetPCIBusId);
  take(library, "cuDevicePrimaryCtxRetain", d.DevicePrimaryCtxRetain);
  take(library, "cuCtxSetCurrent", d.CtxSetCurrent);
  take(library, "cuMemAlloc_v2", d.MemAlloc);
  take(library, "cuMemFree_v2", d.MemFree);
  take(library, "cuMemsetD8_v2", d.MemsetD8);
  take(library, "cuMemcpyHtoD_v2", d.MemcpyHtoD);
  take(library, "cuMemcpyDtoH_v2", d.MemcpyDtoH);
  take(library, "cuMemcpyDtoDAsync_v2", d.MemcpyDtoDAsync);
  take(library, "cuMemcpy2DAsync_v2", d.Memcpy2DAsync);
  take(library, "cuStreamCreate", d.StreamCreate);
  take(library, "cuStreamQuery", d.StreamQuery);
  take(library, "cuStreamSynchronize", d.StreamSynchronize);
  take(library, "cuLaunchHostFunc", d.LaunchHostFunc);
  take(library, "cuStreamBeginCapture_v2", d.StreamBeginCapture);
  take(library, "cuStreamEndCapture", d.StreamEndCapture);
  take(library, "cuGraphInstantiateWithFlags", d.GraphInstantiateWithFlags);
  take(library, "cuGraphLaunch", d.GraphLaunch);
  take(library, "cuGraphDestroy", d.GraphDestroy);
  take(library, "cuGraphExecDestroy", d.GraphExecDestroy);
  take(library, "cuModuleLoadData", d.ModuleLoadData);
  take(library, "cuModuleGetFunction", d.ModuleGetFunction);
  take(library, "cuLaunchKernel", d.LaunchKernel);
  return library;
}

std::string in_words(const Driver& d, CUresult error) {
  const char* words = nullptr;
  d.GetErrorString(error, &words);
  return words ? words : fmt::format("error {}", static_cast<int>(error));
}

std::string why_not(const Driver& d) {
  if (const CUresult error = d.Init(0); error != CUDA_SUCCESS)
    return error == CUDA_ERROR_NO_DEVICE ? "no GPU" : "cuInit: " + in_words(d, error);
  int count = 0;
  if (const CUresult error = d.DeviceGetCount(&count); error != CUDA_SUCCESS)
    return "cuDeviceGetCount: " + in_words(d, error);
  return count == 0 ? "no GPU" : "";
}

Opened opened() {
  Opened one;
  const Library library = open_driver(one.driver);
  one.why = library.why.starts_with("no libcuda") ? "no CUDA driver"
            : library.why.empty()                 ? why_not(one.driver)
                                                  : library.why;
  return one;
}

const Opened& opened_once() {
  static const Opened one = opened();
  return one;
}

int attribute(const Driver& d, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(d.DeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

}  // namespace

const Driver* driver(std::string& why) {
  why = opened_once().why;
  return why.empty() ? &opened_once().driver : nullptr;
}

const Driver& the_driver() { return opened_once().driver; }

void check(CUresult error, const char* call) {
  if (error != CUDA_SUCCESS)
    throw std::runtime_error(fmt::format("{}: {}", call, in_words(the_driver(), error)));
}

int cards() {
  int count = 0;
  check(the_driver().DeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

Card find_card(int n) {
  const Driver& d = the_driver();
  Card card;
  std::array<char, 100> text{};
  check(d.DeviceGet(&card.device, n), "cuDeviceGet");
  check(d.DeviceGetName(text.data(), static_cast<int>(text.size()), card.device), "cuDeviceGetName");
  card.name = text.data();
  check(d.DeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), card.device), "cuDeviceGetPCIBusId");
  card.bus = text.data();
  card.sm = 10 * attribute(d, card.device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
            attribute(d, card.device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return card;
}

void take(Card& card) {
  const Driver& d = the_driver();
  check(d.DevicePrimaryCtxRetain(&card.context, card.device), "cuDevicePrimaryCtxRetain");
  check(d.CtxSetCurrent(card.context), "cuCtxSetCurrent");
}

}  // namespace plumb::card
