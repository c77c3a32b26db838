// Data written, and blocks proved, in the memory of a device. What its kernels do not know is made, or
// proved, by this processor, and brought there, or here.
#pragma once

#include "reference/check/check.h"
#include "reference/check/device/device_check.h"
#include "reference/check/freivalds.h"

namespace plumb {

// A portion of the data, dense, to a place in the device's memory; and bytes that are here.
void write_there(const DeviceCheck&, const Recipe&, const Portion&, std::byte* out);

// As prove() and awaited() of the room, of a block whose bytes lie there.
Proof prove_there(const DeviceCheck&, const Prover&, const InPlace&, std::uint64_t seed);
Proof prove_there(const DeviceCheck&, const Prover&, const InPlace&, const Awaited&);
Awaited awaited_there(const DeviceCheck&, const Prover&, const Slice&, std::uint64_t seed);

// As digest_of() of digest.h; and as digest_of_signs().
std::uint64_t digest_there(const DeviceCheck&, const Prover&, const InPlace&, std::uint64_t seed);
std::uint64_t digest_signs_there(const DeviceCheck&, const Prover&, const InPlace&, std::uint64_t seed);

// The bits of an element of a dense block.
std::uint64_t bits_there(const DeviceCheck&, DType, const std::byte* block, std::int64_t element);

}  // namespace plumb
