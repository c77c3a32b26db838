#include "adapters/protocol/device_memory.h"

#include <cstring>
#include <new>

#include "reference/check/device/device_check.h"

namespace plumb {
namespace {

const DeviceMemory& functions_of(const DeviceCheck* there) { return (there ? *there : check_here()).memory; }

}  // namespace

const DeviceCheck* memory_of_processor() { return &check_here(); }

void bring(const DeviceCheck* there, std::span<const std::byte> lying, std::byte* here) {
  functions_of(there).get(here, lying.data(), lying.size());
}

std::shared_ptr<std::byte> copied(const DeviceCheck* there, std::span<const std::byte> lying) {
  const DeviceMemory& memory = functions_of(there);
  const std::shared_ptr<std::byte> copy(memory.allocate(lying.size()), [&](std::byte* p) { memory.free(p); });
  if (!copy) throw std::bad_alloc();
  memory.copy(copy.get(), lying.data(), lying.size());
  return copy;
}

}  // namespace plumb
