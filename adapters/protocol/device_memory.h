// Blocks in the memory of a device: operands are written there, proofs made there and bytes brought from
// there by kernels that the protocol's library has. A backend says which memory is its own, and hands over
// pointers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace plumb {

struct DeviceCheck;  // opaque to a backend; where it is none, this processor's memory is meant

// This processor in the place of a device: the same code, compiled for it.
const DeviceCheck* memory_of_processor();

// For serve(): what lies somewhere, brought here; and a copy of it beside it. Throws std::bad_alloc.
void bring(const DeviceCheck*, std::span<const std::byte> lying, std::byte* here);
std::shared_ptr<std::byte> copied(const DeviceCheck*, std::span<const std::byte> lying);

}  // namespace plumb
